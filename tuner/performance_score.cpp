#include "tuner/performance_score.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "support/error.h"

namespace redtune {

Baseline::Baseline(std::vector<double> values, double cutoff) : values_(std::move(values)) {
  RT_CHECK(!values_.empty(), "a baseline of no value");
  std::sort(values_.begin(), values_.end(), std::greater<>());
  const std::size_t n = values_.size();
  cutoff_value_ = optimum() + (median() - optimum()) * (1 - cutoff);
  while (cutoff_rank_ + 1 < n && values_[cutoff_rank_] > cutoff_value_) ++cutoff_rank_;
  const double draws =
      std::ceil(static_cast<double>(cutoff_rank_) / static_cast<double>(n + 1 - cutoff_rank_));
  budget_ = std::max<std::size_t>(1, static_cast<std::size_t>(draws));
}

double Baseline::median() const {
  const std::size_t n = values_.size();
  return (values_[(n - 1) / 2] + values_[n / 2]) / 2;
}

double Baseline::expected(std::size_t evaluations, RankBase base) const {
  const double n = static_cast<double>(values_.size()), m = static_cast<double>(evaluations);
  // nearbyint rounds halves to even, as the published code does.
  const double rank = std::nearbyint(m * (n + 1) / (m + 1)) - (base == RankBase::kCorrected ? 1 : 0);
  return values_[static_cast<std::size_t>(std::clamp(rank, 0.0, n - 1))];
}

std::size_t Baseline::rank(double value) const {
  const auto behind = std::upper_bound(values_.begin(), values_.end(), value, std::greater<>());
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, behind - values_.begin()) - 1);
}

std::vector<double> performance_curve(const Baseline& baseline, std::span<const std::vector<double>> runs,
                                      RankBase base) {
  std::vector<double> mean_rank(baseline.budget(), 0);
  for (const std::vector<double>& run : runs) {
    RT_CHECK(!run.empty(), "a run in which nothing worked has no curve");
    double best = run.front();
    std::size_t rank = baseline.rank(best);
    for (std::size_t m = 0; m < mean_rank.size(); ++m) {
      if (m < run.size() && run[m] < best) {
        best = run[m];
        rank = baseline.rank(best);
      }
      mean_rank[m] += static_cast<double>(rank) / static_cast<double>(runs.size());
    }
  }
  std::vector<double> curve;
  for (std::size_t m = 0; m < mean_rank.size(); ++m) {
    const double value = baseline.values()[static_cast<std::size_t>(std::nearbyint(mean_rank[m]))];
    const double random = baseline.expected(m + 1, base), gap = baseline.optimum() - random;
    // Where random search is expected to have the optimum, having it too is all that can be asked.
    curve.push_back(gap == 0 ? (value <= baseline.optimum() ? 1 : 0) : (value - random) / gap);
  }
  return curve;
}

double performance_score(const Baseline& baseline, std::span<const std::vector<double>> runs, RankBase base) {
  const std::vector<double> curve = performance_curve(baseline, runs, base);
  double sum = 0;
  for (double value : curve) sum += value;
  return sum / static_cast<double>(curve.size());
}

}  // namespace redtune
