#include "tuner/replay.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <thread>

#include "support/error.h"
#include "support/stats.h"
#include "support/stopwatch.h"

namespace redtune {
namespace {

std::vector<double> values_of(const RecordedSpace& space) {
  std::vector<double> values;
  for (const RecordedPoint& point : space.points) {
    if (!point.failed()) values.push_back(point.value);
  }
  return values;
}

Outcome outcome_of(const RecordedPoint& point, double unit_seconds) {
  Outcome outcome;
  outcome.kind = point.failed() ? OutcomeKind::kLaunchFailed : OutcomeKind::kTimed;
  outcome.detail = point.failure;
  outcome.median_seconds = point.value * unit_seconds;
  return outcome;
}

// Calls work(0) ... work(count - 1), spread over threads; the first exception comes out.
template <typename Work>
void in_parallel(std::size_t count, std::size_t threads, const Work& work) {
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto loop = [&] {
    for (std::size_t i; (i = next++) < count;) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard guard(mutex);
        failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> pool;
  for (std::size_t t = 1; t < std::min(threads, count); ++t) pool.emplace_back(loop);
  loop();
  for (std::thread& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

// Best value after each evaluation, failures included; before anything worked, the worst of the space.
std::vector<double> best_so_far(const ReplaySpace& space, const std::vector<std::size_t>& order) {
  std::vector<double> best;
  double value = space.baseline().values().front();
  for (std::size_t i : order) {
    const RecordedPoint& point = space.recorded().points[i];
    if (!point.failed()) value = std::min(value, point.value);
    best.push_back(value);
  }
  return best;
}

void add_ratios(const ReplaySpace& space, const std::vector<std::vector<double>>& bests,
                ReplayResult& result) {
  const double optimum = space.baseline().optimum(), runs = static_cast<double>(bests.size());
  for (std::size_t k = 0; k < kRatioPoints.size(); ++k) {
    for (const auto& best : bests) {
      result.ratios[k] += best[std::min(kRatioPoints[k], best.size()) - 1] / optimum / runs;
    }
  }
  for (std::size_t k = 0; k < kSpeedShares.size(); ++k) {
    std::vector<std::size_t> first;
    for (const auto& best : bests) {
      const auto place =
          std::find_if(best.begin(), best.end(), [&](double v) { return v <= optimum / kSpeedShares[k]; });
      first.push_back(place == best.end() ? SIZE_MAX : static_cast<std::size_t>(place - best.begin()) + 1);
      if (first.back() <= kRatioPoints.back()) result.reached[k] += 1 / runs;
    }
    std::sort(first.begin(), first.end());
    const std::size_t median = first[first.size() / 2];
    result.median_reached[k] = median == SIZE_MAX ? 0 : median;
  }
}

}  // namespace

ReplaySpace::ReplaySpace(RecordedSpace recorded)
    : recorded_(std::move(recorded)), space_(discrete_space(recorded_)), baseline_(values_of(recorded_)) {
  for (const RecordedPoint& point : recorded_.points)
    outcomes_.push_back(outcome_of(point, recorded_.unit_seconds));
}

std::vector<std::size_t> replay_once(const ReplaySpace& space, const StrategyEntry& entry, std::uint64_t seed,
                                     std::size_t batch) {
  const auto strategy = entry.make(space.space(), seed);
  std::vector<std::size_t> order;
  std::vector<bool> asked(space.space().size(), false);
  std::size_t worked = 0;
  bool found = false;
  while (!found && (worked < space.baseline().budget() || order.size() < kRatioPoints.back())) {
    const std::vector<std::size_t> points = strategy->propose(batch);
    if (points.empty()) break;
    std::vector<Observation> observations;
    for (std::size_t i : points) {
      RT_CHECK(!asked[i], "strategy " + std::string(entry.name) + " asked twice for one point");
      asked[i] = true;
      order.push_back(i);
      observations.push_back({i, &space.outcome(i)});
      const RecordedPoint& point = space.recorded().points[i];
      worked += point.failed() ? 0 : 1;
      found = found || (!point.failed() && point.value <= space.baseline().optimum());
    }
    strategy->observe(observations);
  }
  return order;
}

ReplayResult replay(const ReplaySpace& space, const StrategyEntry& strategy, const ReplayOptions& options) {
  ReplayResult result;
  result.strategy = strategy.name;
  result.space = space.recorded().name;
  result.budget = space.baseline().budget();
  std::vector<std::vector<double>> bests(options.repeats), worked(options.repeats);
  std::vector<double> seconds(options.repeats);
  in_parallel(options.repeats, options.threads, [&](std::size_t i) {
    const double start = steady_seconds();
    const std::vector<std::size_t> order =
        replay_once(space, strategy, options.first_seed + i, options.batch);
    seconds[i] = steady_seconds() - start;
    bests[i] = best_so_far(space, order);
    for (std::size_t point : order) {
      const RecordedPoint& recorded = space.recorded().points[point];
      if (!recorded.failed()) worked[i].push_back(recorded.value);
    }
    if (worked[i].empty()) worked[i].push_back(space.baseline().values().front());
  });
  result.curve = performance_curve(space.baseline(), worked, RankBase::kCorrected);
  result.curve_published = performance_curve(space.baseline(), worked, RankBase::kPublished);
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  };
  result.score = mean(result.curve);
  result.score_published = mean(result.curve_published);
  result.seconds = mean(seconds);
  add_ratios(space, bests, result);
  return result;
}

ReplayResult together(const std::vector<ReplayResult>& results) {
  RT_CHECK(!results.empty(), "results of no space");
  ReplayResult all;
  all.strategy = results.front().strategy;
  all.space = "together";
  const double count = static_cast<double>(results.size());
  for (const ReplayResult& result : results) {
    all.score += result.score / count;
    all.score_published += result.score_published / count;
    all.seconds += result.seconds / count;
    for (std::size_t k = 0; k < kSpeedShares.size(); ++k) all.reached[k] += result.reached[k] / count;
  }
  for (std::size_t k = 0; k < kRatioPoints.size(); ++k) {
    std::vector<double> ratios;
    for (const ReplayResult& result : results) ratios.push_back(result.ratios[k]);
    all.ratios[k] = geometric_mean(ratios);
  }
  return all;
}

}  // namespace redtune
