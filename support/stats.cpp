#include "support/stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/error.h"
#include "support/rng.h"

namespace redtune {
namespace {

double sorted_quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = position - static_cast<double>(below);
  // Equal neighbours first: interpolating between infinities would give NaN.
  if (part == 0 || sorted[below] == sorted[above]) return sorted[below];
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

std::vector<double> sorted_copy(std::span<const double> samples) {
  RT_CHECK(!samples.empty(), "statistics of no samples");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

double quantile(std::span<const double> samples, double q) {
  RT_CHECK(q >= 0 && q <= 1, "quantile outside [0, 1]");
  return sorted_quantile(sorted_copy(samples), q);
}

double relative_spread(std::span<const double> samples) {
  const std::vector<double> sorted = sorted_copy(samples);
  if (sorted.size() < 2) return 0;
  const double middle = sorted_quantile(sorted, 0.5);
  if (middle == 0) return 0;
  return (sorted_quantile(sorted, 0.75) - sorted_quantile(sorted, 0.25)) / 2 / std::abs(middle);
}

Interval bootstrap_median(std::span<const double> samples, double level, int resamples, std::uint64_t seed) {
  RT_CHECK(!samples.empty(), "bootstrap of no samples");
  RT_CHECK(level > 0 && level < 1 && resamples > 0, "bootstrap level or resample count out of range");
  Rng rng(seed);
  std::vector<double> draw(samples.size()), medians;
  medians.reserve(static_cast<std::size_t>(resamples));
  for (int i = 0; i < resamples; ++i) {
    for (double& value : draw) value = samples[rng.below(samples.size())];
    std::sort(draw.begin(), draw.end());
    medians.push_back(sorted_quantile(draw, 0.5));
  }
  std::sort(medians.begin(), medians.end());
  const double tail = (1 - level) / 2;
  return {sorted_quantile(medians, tail), sorted_quantile(medians, 1 - tail)};
}

double geometric_mean(std::span<const double> values) {
  RT_CHECK(!values.empty(), "geometric mean of no values");
  double sum = 0;
  for (double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace redtune
