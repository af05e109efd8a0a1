// CUDA text to machine code: the only place that knows NVRTC.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/cubin_info.h"

namespace redtune {

struct NvrtcLibrary;

struct NvrtcOptions {
  int compute_capability = 0;  // 90: sm_90
  bool ptx = false;            // PTX for compute_XX instead of a cubin for sm_XX
  /// Seconds after which a compilation is cancelled; 0: never. NVRTC looks at the clock between its passes
  /// only, and one pass over a very long kernel can take most of the time: a hard limit needs a process of
  /// its own.
  double deadline_seconds = 0;
  std::vector<std::string> extra{};  // appended as they are
  friend bool operator==(const NvrtcOptions&, const NvrtcOptions&) = default;
};

struct NvrtcResult {
  bool ok = false;
  bool timed_out = false;
  bool from_cache = false;               // set by KernelCache
  std::string error;                     // not ok: the fatal line of the log
  std::string log;                       // everything the compiler printed
  std::vector<char> image;               // cubin, or PTX without a terminating zero
  std::vector<KernelResources> kernels;  // cubin only: one per entry
  double seconds = 0;
  /// Numbers of the kernel called `entry`, or nullptr.
  const KernelResources* find(std::string_view entry) const;
};

/// A compiler. Thread-safe: any number of threads may compile at once.
class Nvrtc {
 public:
  /// The one of this process, opened on first use: $REDTUNE_NVRTC, else the places of nvrtc_candidates().
  /// Throws NoDevice naming the searched places and the remedy.
  static Nvrtc& instance();

  explicit Nvrtc(std::unique_ptr<NvrtcLibrary> library);
  ~Nvrtc();
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  /// "13.0"
  std::string version() const;
  const std::string& path() const;
  /// As numbers, ascending: 75, 80, ..., 121.
  const std::vector<int>& supported_architectures() const { return architectures_; }
  /// The highest architecture not above `compute_capability` whose PTX a device of that one can run; 0 when
  /// the device is older than all.
  int newest_usable(int compute_capability) const;
  /// Throws UserError naming the list, and says so when the architecture is newer than this NVRTC.
  void require_architecture(int compute_capability) const;

  /// The options that `compile` hands over, in order. Part of every cache key.
  std::vector<std::string> command_line(const NvrtcOptions& options) const;

  /// Compiles one text (prelude included). A text that does not compile is a result that says why. A kernel that
  /// spills is compiled once more without the assembler's own aim at several blocks per multiprocessor (the prelude's
  /// RT_RESIDENT); the result that spills less counts. Throws UserError for an architecture that is not supported and
  /// NoDevice when libnvrtc-builtins is missing. Costs 40 to 150 ms, twice that for a kernel that spills.
  NvrtcResult compile(const std::string& text, const NvrtcOptions& options);

 private:
  NvrtcResult compile_once(const std::string& text, const NvrtcOptions& options);
  bool drop_unknown_option(std::string_view log);

  std::unique_ptr<NvrtcLibrary> library_;
  std::vector<int> architectures_;
  std::vector<std::atomic<bool>> dropped_;  // by row of the optional options: this NVRTC does not know it
};

/// The line that tells why a compilation failed: the first that says "error", else the first that is not
/// empty.
std::string fatal_line(std::string_view log);

}  // namespace redtune
