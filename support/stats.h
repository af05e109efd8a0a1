// Order statistics over samples. All functions copy what they sort; empty input is a bug.
#pragma once

#include <cstdint>
#include <span>

namespace redtune {

double median(std::span<const double> samples);

/// Linear-interpolated quantile, q in [0, 1].
double quantile(std::span<const double> samples, double q);

/// Half the interquartile range over the median: the spread that tables print (0.01 = 1 %). 0 below 2 samples.
double relative_spread(std::span<const double> samples);

struct Interval {
  double low = 0, high = 0;
};

/// Percentile-bootstrap interval of the median at `level`, from `resamples` draws with the given seed.
Interval bootstrap_median(std::span<const double> samples, double level, int resamples, std::uint64_t seed);

double geometric_mean(std::span<const double> values);

}  // namespace redtune
