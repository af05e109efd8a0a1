#include "measure/sampling.h"

#include <algorithm>
#include <chrono>

#include "support/stats.h"
#include "support/stopwatch.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTries = 3;
constexpr int kRacingSamples = 3;
constexpr double kClearlySlower = 3, kHopelesslySlower = 10;
// A beat wakes the tool, which would disturb the next repetition if it came after each of many short ones.
constexpr double kBeatSeconds = 0.25;

bool known_well_enough(const std::vector<double>& seconds, double target_spread) {
  constexpr int kResamples = 200;
  const Interval interval = bootstrap_median(seconds, 0.95, kResamples, 1);
  return (interval.high - interval.low) / 2 <= target_spread * median(seconds);
}

bool enough(const SamplingRules& rules, const Samples& samples, double elapsed) {
  const auto count = static_cast<int>(samples.seconds.size());
  if (count >= rules.max_samples || elapsed >= rules.max_seconds) return true;
  if (count <= kRacingSamples && rules.best_seconds > 0) {
    const double fastest = *std::min_element(samples.seconds.begin(), samples.seconds.end());
    if (fastest > kClearlySlower * rules.best_seconds) return true;
  }
  return count >= rules.min_samples && known_well_enough(samples.seconds, rules.target_spread);
}

}  // namespace

RepetitionTime repetition_time(std::span<const LaunchTime> launches, std::size_t expected,
                               double least_seconds) {
  RepetitionTime time;
  const auto refuse = [&](std::string why) {
    time.refused = std::move(why);
    return time;
  };
  if (launches.size() != expected || launches.empty()) {
    return refuse(std::to_string(launches.size()) + " times for " + std::to_string(expected) + " launches");
  }
  std::uint64_t before = 0, total = 0;
  for (const LaunchTime& launch : launches) {
    if (launch.start_nanoseconds == 0 && launch.end_nanoseconds == 0) return refuse("zero times");
    if (launch.end_nanoseconds < launch.start_nanoseconds) return refuse("end before start");
    if (launch.end_nanoseconds == launch.start_nanoseconds) return refuse("end equal to start");
    if (launch.start_nanoseconds < before)
      return refuse("a launch that starts before the one ahead of it ends");
    before = launch.end_nanoseconds;
    total += launch.end_nanoseconds - launch.start_nanoseconds;
  }
  time.seconds = static_cast<double>(before - launches.front().start_nanoseconds) * 1e-9;
  time.kernel_seconds = static_cast<double>(total) * 1e-9;
  if (time.seconds < least_seconds) {
    return refuse("faster than any memory: " + std::to_string(time.seconds * 1e6) + " us, least possible " +
                  std::to_string(least_seconds * 1e6) + " us");
  }
  return time;
}

Samples take_samples(const SamplingRules& rules, std::size_t launches,
                     const std::function<std::vector<LaunchTime>()>& repeat,
                     const std::function<void()>& beat) {
  Samples samples;
  Clock::time_point last_beat = Clock::now();
  const auto repetition = [&] {
    const std::vector<LaunchTime> times = repeat();
    if (seconds_since(last_beat) >= kBeatSeconds) {
      beat();
      last_beat = Clock::now();
    }
    return times;
  };
  const auto take = [&](const RepetitionTime& time) {
    samples.seconds.push_back(time.seconds);
    samples.kernel_seconds.push_back(time.kernel_seconds);
  };
  const RepetitionTime warm_up = repetition_time(repetition(), launches, rules.least_seconds);
  if (warm_up.refused.empty() && rules.best_seconds > 0 &&
      warm_up.seconds > kHopelesslySlower * rules.best_seconds) {
    take(warm_up);
    return samples;
  }
  const Clock::time_point start = Clock::now();
  int tries = 0;
  do {
    const RepetitionTime time = repetition_time(repetition(), launches, rules.least_seconds);
    if (time.refused.empty()) {
      tries = 0;
      take(time);
    } else if (++tries == kTries) {
      samples.refused = time.refused;
      return samples;
    }
  } while (samples.seconds.empty() || !enough(rules, samples, seconds_since(start)));
  return samples;
}

}  // namespace redtune
