#include "tuner/strategies/surrogate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/error.h"

namespace redtune {
namespace {

constexpr std::size_t kBlocks = 5, kGrids = 4;
constexpr std::size_t kFeatures = 2 * SchedulePoint::kSizes + kBlocks + kGrids;
using Features = std::array<double, kFeatures>;

// Sizes span about eight doublings: scaled to [0, 2], so that one ridge suits linear and squared terms.
constexpr double kLogScale = 4;
constexpr double kRidge = 0.5;
// A time speaks for schedules about this many doublings around it.
constexpr double kReach = 1.5;
constexpr double kMappingDistance = 2;

Features features_of(const SchedulePoint& point) {
  Features features{};
  for (std::size_t i = 0; i < SchedulePoint::kSizes; ++i) {
    const double x = point.logs[i] / kLogScale;
    features[i] = x;
    features[SchedulePoint::kSizes + i] = x * x;
  }
  const auto block = std::min<std::size_t>(static_cast<std::size_t>(point.block), kBlocks - 1);
  const auto grid = std::min<std::size_t>(static_cast<std::size_t>(point.grid), kGrids - 1);
  features[2 * SchedulePoint::kSizes + block] = 1;
  features[2 * SchedulePoint::kSizes + kBlocks + grid] = 1;
  return features;
}

// Solves the symmetric positive definite system in place by Cholesky decomposition.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j * n + j] -= a[j * n + k] * a[j * n + k];
    a[j * n + j] = std::sqrt(a[j * n + j]);
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

}  // namespace

SchedulePoint schedule_point(const Schedule& s) {
  const auto log = [](std::int32_t size) { return static_cast<float>(std::log2(std::max(size, 1))); };
  return {{log(s.rx), log(s.px), log(s.vec), log(s.acc), log(s.items), log(s.rows), log(s.serial),
           log(s.split), s.walk == Walk::kStrided ? 1.0f : 0.0f, s.prefetch > 0 ? 1.0f : 0.0f},
          s.block,
          s.grid};
}

double squared_distance(const SchedulePoint& a, const SchedulePoint& b) {
  double sum = 0;
  for (std::size_t i = 0; i < SchedulePoint::kSizes; ++i) {
    const double step = a.logs[i] - b.logs[i];
    sum += step * step;
  }
  if (a.block != b.block) sum += kMappingDistance * kMappingDistance;
  if (a.grid != b.grid) sum += kMappingDistance * kMappingDistance;
  return sum;
}

void Surrogate::fit(std::vector<SchedulePoint> points, std::vector<double> values) {
  RT_CHECK(points.size() == values.size(), "a value for each point");
  points_ = std::move(points);
  mean_ = 0;
  for (double value : values) mean_ += value / static_cast<double>(std::max<std::size_t>(values.size(), 1));
  std::vector<double> matrix(kFeatures * kFeatures), right(kFeatures);
  for (std::size_t i = 0; i < kFeatures; ++i) matrix[i * kFeatures + i] = kRidge;
  for (std::size_t p = 0; p < points_.size(); ++p) {
    const Features f = features_of(points_[p]);
    for (std::size_t i = 0; i < kFeatures; ++i) {
      right[i] += f[i] * (values[p] - mean_);
      for (std::size_t j = 0; j < kFeatures; ++j) matrix[i * kFeatures + j] += f[i] * f[j];
    }
  }
  coefficients_ = solve(std::move(matrix), std::move(right));
  residuals_.clear();
  for (std::size_t p = 0; p < points_.size(); ++p) residuals_.push_back(values[p] - trend(points_[p]));
}

double Surrogate::trend(const SchedulePoint& point) const {
  double sum = mean_;
  const Features f = features_of(point);
  for (std::size_t i = 0; i < coefficients_.size(); ++i) sum += coefficients_[i] * f[i];
  return sum;
}

double Surrogate::predict(const SchedulePoint& point) const {
  // The weight of "no correction": far from everything the trend stands alone.
  double weight = 0.25, sum = 0;
  for (std::size_t p = 0; p < residuals_.size(); ++p) {
    const double w = std::exp(-squared_distance(point, points_[p]) / (2 * kReach * kReach));
    weight += w;
    sum += w * residuals_[p];
  }
  return trend(point) + sum / weight;
}

double Surrogate::novelty(const SchedulePoint& point) const {
  double nearest = std::numeric_limits<double>::infinity();
  for (const SchedulePoint& known : points_) nearest = std::min(nearest, squared_distance(point, known));
  return std::isfinite(nearest) ? std::sqrt(nearest) : 0;
}

void Surrogate::add(const SchedulePoint& point) { points_.push_back(point); }

}  // namespace redtune
