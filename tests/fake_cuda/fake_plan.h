// What the fake CUDA device of the tests does with a kernel: decided by the kernel's text and by the
// environment variable REDTUNE_FAKE_CUDA, so that a test can tell beforehand.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/hash.h"

namespace redtune {

enum class FakeFault : std::uint8_t {
  kNone,
  kEarlyReturn,
  kSkipLast,
  kOutOfBounds,
  kEndless,
  kEndlessLater,  // in a timed launch
  kNullWrite,
  kNan,
  kOutOfMemory,
  kOutOfResources,
  kSmallBlock,  // the compiled kernel allows few threads
  kBadImage,
  kDroppedRecord,
  kZeroRecord,
  kReversedRecord,
  kCompileError,
  kCompileCrash,
  kDriverCrash,
};

inline constexpr std::array<std::string_view, 18> kFakeFaultNames{
    "none",           "early_return", "skip_last",       "out_of_bounds",    "endless",       "endless_later",
    "null_write",     "nan",          "out_of_memory",   "out_of_resources", "small_block",   "bad_image",
    "dropped_record", "zero_record",  "reversed_record", "compile_error",    "compile_crash", "driver_crash"};

/// "key=value;key=value": rows, columns (the only operator that the fake knows is the sum over the rows of a
/// f32 matrix), devices, memory, share (of kernels, in percent, that have a fault), taken (CUPTI has a
/// subscriber), forbidden (no permission), silent (CUPTI records nothing), serial (launches wait for the
/// stream), resident (blocks per multiprocessor).
inline std::int64_t fake_setting(std::string_view key, std::int64_t fallback) {
  const char* const text = std::getenv("REDTUNE_FAKE_CUDA");
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(';'));
    if (word.starts_with(key) && word.substr(key.size()).starts_with('='))
      return std::strtoll(std::string(word.substr(key.size() + 1)).c_str(), nullptr, 10);
    rest.remove_prefix(word.size() == rest.size() ? word.size() : word.size() + 1);
  }
  return fallback;
}

/// A text may ask for a fault by the words "fake_fault:NAME "; else its hash decides.
inline FakeFault planned_fault(std::string_view text) {
  constexpr std::string_view kMark = "fake_fault:";
  if (const std::size_t at = text.find(kMark); at != std::string_view::npos) {
    const std::string_view rest = text.substr(at + kMark.size());
    const std::string_view wanted = rest.substr(0, rest.find_first_of(" \n"));
    for (std::size_t i = 0; i < kFakeFaultNames.size(); ++i) {
      if (kFakeFaultNames[i] == wanted) return static_cast<FakeFault>(i);
    }
    std::abort();
  }
  const std::uint64_t hash = hash64(text, 77);
  if (static_cast<std::int64_t>(hash % 100) >= fake_setting("share", 0)) return FakeFault::kNone;
  return static_cast<FakeFault>(1 + hash / 100 % (kFakeFaultNames.size() - 1));
}

/// Nanoseconds of each launch of the text's kernels: 20 to 100 microseconds.
inline std::uint64_t planned_nanoseconds(std::string_view text) { return 20'000 + hash64(text, 78) % 80'000; }

}  // namespace redtune
