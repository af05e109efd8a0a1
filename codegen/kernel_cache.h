// Compiled kernels on disk, so that nothing is compiled twice. One file per kernel, found by everything that
// the binary depends on; any number of processes may share a directory.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "codegen/nvrtc.h"

namespace redtune {

class KernelCache {
 public:
  /// Uses `directory`, creating it. "" or a directory that cannot be written, or that belongs to another
  /// user: warns once (not for "") and works without a cache from then on.
  explicit KernelCache(std::string directory);

  /// 32 hex digits from text, options (they name the architecture) and NVRTC's version.
  static std::string key(const std::string& text, const std::vector<std::string>& options,
                         const std::string& version);

  /// The stored result, `from_cache` set. Nothing when there is none or when the file is damaged or from
  /// another version of redtune: the caller compiles, and `store` replaces it.
  std::optional<NvrtcResult> find(const std::string& key);

  /// Keeps a successful result; others are not kept. A failed write warns once and turns the cache off.
  void store(const std::string& key, const NvrtcResult& result);

  /// The two above around Nvrtc::compile.
  NvrtcResult compile(Nvrtc& nvrtc, const std::string& text, const NvrtcOptions& options);

  bool enabled() const { return enabled_; }
  std::size_t hits() const { return hits_; }
  std::size_t misses() const { return misses_; }

 private:
  std::string path(const std::string& key) const { return directory_ + "/" + key + ".kernel"; }
  void disable(const std::string& reason);

  std::string directory_;
  std::atomic<bool> enabled_{false};
  std::atomic<std::size_t> hits_{0}, misses_{0};
};

}  // namespace redtune
