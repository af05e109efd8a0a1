// A guess of how long a schedule takes, from those measured so far: a ridge regression on the logarithms of
// the sizes and their squares, and near measured schedules their own times. Enough to order a few hundred
// moves after a few dozen trials; the learned model (cost_model/) is for whole spaces and many tasks.
#pragma once

#include <array>
#include <vector>

#include "space/schedule.h"

namespace redtune {

/// A schedule as a point: base-2 logarithms of the sizes, and its mapping.
struct SchedulePoint {
  static constexpr std::size_t kSizes = 10;
  std::array<float, kSizes> logs{};
  BlockCombine block = BlockCombine::kNone;
  GridCombine grid = GridCombine::kNone;
};

SchedulePoint schedule_point(const Schedule& schedule);

/// Squared distance in doublings; another block or grid combine counts as two doublings each.
double squared_distance(const SchedulePoint& a, const SchedulePoint& b);

class Surrogate {
 public:
  /// `values` are logarithms of times, one per point; failures come as bad values.
  void fit(std::vector<SchedulePoint> points, std::vector<double> values);
  /// Also what a fantasy of it is: add() makes later predictions near `point` aware that it is already
  /// chosen.
  double predict(const SchedulePoint& point) const;
  /// Distance in doublings to the nearest known point.
  double novelty(const SchedulePoint& point) const;
  void add(const SchedulePoint& point);

 private:
  double trend(const SchedulePoint& point) const;
  std::vector<SchedulePoint> points_;
  std::vector<double> residuals_, coefficients_;
  double mean_ = 0;
};

}  // namespace redtune
