// Faults that tests ask a worker for, to see that every one ends as the right outcome. Read from the
// environment variable REDTUNE_WORKER_FAULT, "KIND@NUMBER": the NUMBERth candidate of the run misbehaves
// ("*": every one). A worker built without REDTUNE_FAULTS knows none.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "measure/sampling.h"

namespace redtune {

enum class FaultKind : std::uint8_t {
  kNone,
  kStart,  // the worker ends before it has said anything
  kCompileHang,
  kCompileCrash,
  kHang,         // in the first launch
  kTimingHang,   // in a timed launch
  kCrash,        // SIGSEGV in the first launch
  kEarlyReturn,  // no launch at all
  kSkipLast,     // the last output is not written
  kNan,          // NaN in place of the output
  kOutOfBounds,  // one byte behind the output is written
  kZeroTime,
  kReversedTime,
  kZeroTimeOnce,  // the first time only
};

struct Fault {
  FaultKind kind = FaultKind::kNone;
  std::int64_t number = 0;  // of the candidate; 0: every one
  bool hits(FaultKind asked, std::int64_t candidate) const {
    return kind == asked && (number == 0 || number == candidate);
  }
};

/// Throws UserError for a text that names no fault. "" is no fault.
Fault parse_fault(std::string_view text);

/// What the environment asks for, in a build that allows it.
Fault fault_from_environment();

/// Never returns.
[[noreturn]] void hang();

/// Falsifies the times of one repetition as `fault` says; `repetition` counts from 0.
void falsify(const Fault& fault, std::int64_t candidate, std::int64_t repetition,
             std::vector<LaunchTime>& times);

}  // namespace redtune
