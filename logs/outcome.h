// What became of a schedule. A bad candidate is data: it is told here, never thrown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"

namespace redtune {

enum class OutcomeKind : std::uint8_t {
  kTimed,          // correct and timed
  kRejected,       // illegal or infeasible before compiling (limits); `detail` says which
  kCompileFailed,  // `detail`: the fatal line of the compiler's log
  kLaunchFailed,
  kWrongResult,    // output differs from the reference, or a guard byte changed
  kTimedOut,
  kCrashed,        // the worker died
  kUnmeasured,     // ran and was correct, but no clock answered
};
/// "timed", "rejected", "compile_failed", "launch_failed", "wrong_result", "timed_out", "crashed", "unmeasured".
std::string_view name(OutcomeKind kind);
OutcomeKind parse_outcome_kind(std::string_view word);

struct Outcome {
  OutcomeKind kind = OutcomeKind::kUnmeasured;
  std::string detail;           // evidence when not timed

  // Timed only. One sample is one repetition of the whole program: output initialisation and every kernel, from the
  // start of the first to the end of the last, gaps included.
  std::vector<double> seconds;  // all samples, in order
  double median_seconds = 0;
  double low_seconds = 0, high_seconds = 0;  // 95 % bootstrap interval of the median
  double spread = 0;                         // relative: half interquartile range over median
  double kernel_seconds = 0;                 // median of the sum of kernel durations, without gaps

  double max_error = 0;      // worst |output - reference| over its tolerance bound: <= 1 passes
  double compile_seconds = 0;
  double measure_seconds = 0;  // wall time that the worker spent on it
  bool timed() const { return kind == OutcomeKind::kTimed; }
};

Json to_json(const Outcome& outcome);
Outcome parse_outcome(const Json& json, const std::string& origin);

}  // namespace redtune
