// Replay: a recorded space answers in place of a device, so strategies are compared on real numbers in
// seconds. A configuration costs one evaluation the first time; strategies never ask twice.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "logs/recorded_space.h"
#include "tuner/performance_score.h"
#include "tuner/search_strategy.h"

namespace redtune {

struct ReplayOptions {
  std::size_t repeats = 50;
  std::uint64_t first_seed = 1;  // repeat i runs with first_seed + i, from a fresh state
  std::size_t batch = 1;         // configurations asked for at once
  std::size_t threads = 0;       // 0: all cores
};

/// Evaluations after which the ratio to the optimum is told.
inline constexpr std::array<std::size_t, 5> kRatioPoints{16, 32, 64, 128, 256};
/// Shares of the optimum's speed of which the first evaluation is told.
inline constexpr std::array<double, 3> kSpeedShares{0.90, 0.95, 0.99};

/// What a strategy did on a space. Failures count as evaluations in `ratios`, `reached` and `median_reached`.
struct ReplayResult {
  std::string strategy, space;
  std::size_t budget = 0;  // M_c
  double score = 0, score_published = 0;
  std::array<double, kRatioPoints.size()> ratios{};  // mean over the repeats of best so far / optimum
  /// Per share: evaluations in the median over the repeats (0: not reached by half), and the share of repeats
  /// that reach it within kRatioPoints.back().
  std::array<std::size_t, kSpeedShares.size()> median_reached{};
  std::array<double, kSpeedShares.size()> reached{};
  std::vector<double> curve, curve_published;  // per evaluation up to the budget
  double seconds = 0;                          // that the strategy took, mean per repeat
};

/// A recorded space with what every repeat shares and none changes.
class ReplaySpace {
 public:
  explicit ReplaySpace(RecordedSpace recorded);
  const RecordedSpace& recorded() const { return recorded_; }
  const DiscreteSpace& space() const { return space_; }
  const Baseline& baseline() const { return baseline_; }
  const Outcome& outcome(std::size_t point) const { return outcomes_[point]; }

 private:
  RecordedSpace recorded_;
  DiscreteSpace space_;
  Baseline baseline_;
  std::vector<Outcome> outcomes_;
};

/// The points that a strategy asks for, in order, until it has spent the budget and kRatioPoints.back()
/// evaluations, has found the optimum, or has finished.
std::vector<std::size_t> replay_once(const ReplaySpace& space, const StrategyEntry& strategy,
                                     std::uint64_t seed, std::size_t batch);

ReplayResult replay(const ReplaySpace& space, const StrategyEntry& strategy, const ReplayOptions& options);

/// Scores averaged, ratios by geometric mean, over the results of one strategy on several spaces.
ReplayResult together(const std::vector<ReplayResult>& results);

}  // namespace redtune
