#include "codegen/kernel_cache.h"

#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "support/error.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/json.h"

namespace redtune {
namespace {

// A file is one line of JSON (what is not binary, with size and hash of the rest) and the image.
constexpr int kFormat = 1;
constexpr std::uint64_t kSecondSeed = 0x9ae16a3b2f90404full;

Json header_of(const NvrtcResult& result) {
  Json kernels = Json::array();
  for (const KernelResources& k : result.kernels) {
    kernels.push_back({{"entry", k.entry},
                       {"registers", k.registers},
                       {"shared_bytes", k.shared_bytes},
                       {"stack_bytes", k.stack_bytes},
                       {"spill_store_bytes", k.spill_store_bytes},
                       {"spill_load_bytes", k.spill_load_bytes}});
  }
  return {{"redtune_kernel", kFormat},
          {"image_bytes", result.image.size()},
          {"image_hash", hex64(hash64({result.image.data(), result.image.size()}))},
          {"kernels", kernels},
          {"log", result.log}};
}

/// Throws UserError when a member is missing or has another type.
std::optional<NvrtcResult> result_of(const std::string& content, const std::string& path) {
  const std::size_t line = content.find('\n');
  if (line == std::string::npos) return std::nullopt;
  const Json json = parse_json(std::string_view(content).substr(0, line), path);
  JsonObject header(json, path);
  if (header.get_int("redtune_kernel") != kFormat) return std::nullopt;
  NvrtcResult result;
  result.image.assign(content.begin() + static_cast<std::ptrdiff_t>(line) + 1, content.end());
  if (header.get_int("image_bytes") != static_cast<std::int64_t>(result.image.size()) ||
      header.get_string("image_hash") != hex64(hash64({result.image.data(), result.image.size()}))) {
    return std::nullopt;
  }
  result.log = header.get_string("log");
  for (const Json& row : header.get("kernels")) {
    JsonObject fields(row, path, "kernels");
    KernelResources kernel;
    kernel.entry = fields.get_string("entry");
    kernel.registers = static_cast<int>(fields.get_int("registers"));
    kernel.shared_bytes = fields.get_int("shared_bytes");
    kernel.stack_bytes = fields.get_int("stack_bytes");
    kernel.spill_store_bytes = fields.get_int("spill_store_bytes");
    kernel.spill_load_bytes = fields.get_int("spill_load_bytes");
    result.kernels.push_back(kernel);
  }
  result.ok = result.from_cache = true;
  return result;
}

/// "" when the directory exists, or could be made, and is ours to write.
std::string why_unusable(const std::string& directory) {
  try {
    make_directories(directory);
  } catch (const UserError& error) {
    return error.what();
  }
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) return std::strerror(errno);
  // What another user may have put there would run under our name.
  if (status.st_uid != ::geteuid()) return "it belongs to another user";
  if (::access(directory.c_str(), R_OK | W_OK | X_OK) != 0) return std::strerror(errno);
  return "";
}

}  // namespace

KernelCache::KernelCache(std::string directory) : directory_(std::move(directory)) {
  if (directory_.empty()) return;
  const std::string reason = why_unusable(directory_);
  if (reason.empty()) {
    enabled_ = true;
  } else {
    disable(reason);
  }
}

void KernelCache::disable(const std::string& reason) {
  static std::atomic<bool> warned{false};
  if (!warned.exchange(true)) {
    spdlog::warn("kernel cache {} is not used: {}; kernels are compiled every time", directory_, reason);
  }
  enabled_ = false;
}

std::string KernelCache::key(const std::string& text, const std::vector<std::string>& options,
                             const std::string& version) {
  std::string head = "nvrtc " + version;
  for (const std::string& option : options) head += '\0' + option;
  head += '\0';
  // Two independent hashes: 64 bits would make a wrong kernel merely unlikely.
  return hex64(hash64(text, hash64(head))) + hex64(hash64(text, hash64(head, kSecondSeed)));
}

std::optional<NvrtcResult> KernelCache::find(const std::string& key) {
  if (!enabled_) return std::nullopt;
  std::optional<NvrtcResult> result;
  std::ifstream file(path(key), std::ios::binary);
  if (file) {
    const std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    try {
      result = result_of(content, path(key));
    } catch (const UserError&) {
      // Damaged: as good as absent.
    }
  }
  ++(result ? hits_ : misses_);
  return result;
}

void KernelCache::store(const std::string& key, const NvrtcResult& result) {
  if (!enabled_ || !result.ok) return;
  // Renamed into place: readers see all or nothing. Not flushed to disk, as a file that a crash cuts short
  // fails its hash and costs one compilation, while flushing would cost milliseconds for each kernel.
  static std::atomic<std::size_t> serial{0};  // of the process: threads may use caches of their own
  const std::string temporary =
      path(key) + "." + std::to_string(::getpid()) + "." + std::to_string(serial++);
  std::ofstream file(temporary, std::ios::binary);
  file << header_of(result).dump(-1, ' ', true, Json::error_handler_t::replace) << '\n';
  file.write(result.image.data(), static_cast<std::streamsize>(result.image.size()));
  file.close();
  if (!file || std::rename(temporary.c_str(), path(key).c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    ::unlink(temporary.c_str());
    disable("cannot write: " + reason);
  }
}

NvrtcResult KernelCache::compile(Nvrtc& nvrtc, const std::string& text, const NvrtcOptions& options) {
  if (!enabled_) return nvrtc.compile(text, options);
  const std::string id = key(text, nvrtc.command_line(options), nvrtc.version());
  if (std::optional<NvrtcResult> found = find(id)) return *std::move(found);
  NvrtcResult result = nvrtc.compile(text, options);
  store(id, result);
  return result;
}

}  // namespace redtune
