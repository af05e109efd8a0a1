// When to believe a clock and when to stop asking it. Knows no device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace redtune {

/// Begin and end of one launch by the device's clock.
struct LaunchTime {
  std::uint64_t start_nanoseconds = 0, end_nanoseconds = 0;
};

struct RepetitionTime {
  double seconds = 0;         // start of the first launch to end of the last
  double kernel_seconds = 0;  // sum of the launches
  std::string refused;        // why these times cannot be; "" when they can
};

/// Refuses missing, zero and reversed times, launches that overlap, and what is faster than `least_seconds`.
RepetitionTime repetition_time(std::span<const LaunchTime> launches, std::size_t expected,
                               double least_seconds);

struct SamplingRules {
  int min_samples = 5, max_samples = 40;
  double target_spread = 0.02;  // half the 95 % interval of the median over the median
  double max_seconds = 2;       // of sampling; at least one sample is taken
  double best_seconds = 0;      // 0: none yet
  double least_seconds = 0;     // what no machine can undercut; 0: not known
};

struct Samples {
  std::vector<double> seconds, kernel_seconds;
  std::string refused;  // not empty: the clock gave no believable time in three tries
};

/// Warms up once, then samples until the median is known well enough, the count or the time is used up, or -
/// after one to three samples - the best of them is more than three times slower than `best_seconds` (ten
/// times in the warm-up, which is then the only sample). `repeat` does one repetition; `beat` is called from
/// time to time between repetitions.
Samples take_samples(const SamplingRules& rules, std::size_t launches,
                     const std::function<std::vector<LaunchTime>()>& repeat,
                     const std::function<void()>& beat);

}  // namespace redtune
