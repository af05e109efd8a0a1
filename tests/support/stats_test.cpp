#include "support/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/error.h"
#include "support/rng.h"

namespace redtune {
namespace {

using Samples = std::vector<double>;

TEST(Median, OfOddEvenAndUnsorted) {
  EXPECT_EQ(median(Samples{3, 1, 2}), 2);
  EXPECT_EQ(median(Samples{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Samples{7}), 7);
  EXPECT_EQ(median(Samples{1, HUGE_VAL, HUGE_VAL}), HUGE_VAL);
}

TEST(Quantile, InterpolatesBetweenNeighbours) {
  const Samples samples{40, 10, 30, 20};
  EXPECT_EQ(quantile(samples, 0), 10);
  EXPECT_EQ(quantile(samples, 1), 40);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 17.5);
  EXPECT_THROW(quantile(samples, 1.5), InternalError);
}

TEST(Stats, OfNothingAreABug) {
  EXPECT_THROW(median({}), InternalError);
  EXPECT_THROW(relative_spread({}), InternalError);
  EXPECT_THROW(geometric_mean({}), InternalError);
  EXPECT_THROW(bootstrap_median({}, 0.95, 10, 1), InternalError);
}

TEST(RelativeSpread, IsHalfTheQuartileRangeOverTheMedian) {
  EXPECT_EQ(relative_spread(Samples{5}), 0);
  EXPECT_EQ(relative_spread(Samples{5, 5, 5}), 0);
  EXPECT_DOUBLE_EQ(relative_spread(Samples{98, 99, 100, 101, 102}), 0.01);
  EXPECT_EQ(relative_spread(Samples{-1, 0, 1}), 0);
}

TEST(BootstrapMedian, IsTheSameForTheSameSeed) {
  const Samples samples{1, 5, 2, 8, 3, 9, 4};
  const Interval a = bootstrap_median(samples, 0.95, 500, 7), b = bootstrap_median(samples, 0.95, 500, 7);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

TEST(BootstrapMedian, OfEqualSamplesHasNoWidth) {
  const Interval interval = bootstrap_median(Samples{3, 3, 3, 3}, 0.95, 200, 1);
  EXPECT_EQ(interval.low, 3);
  EXPECT_EQ(interval.high, 3);
}

// The interval is to hold the true median about as often as its level says.
TEST(BootstrapMedian, CoversTheTrueMedian) {
  Rng rng(42);
  int covered = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    Samples samples(31);
    for (double& value : samples) value = rng.uniform();
    const Interval interval = bootstrap_median(samples, 0.95, 300, static_cast<std::uint64_t>(trial));
    covered += interval.low <= 0.5 && 0.5 <= interval.high;
  }
  EXPECT_GT(covered, kTrials * 0.88);
}

TEST(GeometricMean, OfRatios) {
  EXPECT_DOUBLE_EQ(geometric_mean(Samples{2, 0.5}), 1);
  EXPECT_NEAR(geometric_mean(Samples{1e300, 1e300, 1e300}), 1e300, 1e288) << "no overflow on the way";
}

// Logs store the seed and promise the same proposals from it: the sequence is fixed for good.
TEST(Rng, HasAFixedSequence) {
  Rng rng(1);
  EXPECT_EQ(rng.next(), 6791897765849424158u);
  EXPECT_EQ(rng.next(), 9716232063330790915u);
}

TEST(Rng, BelowIsUniformAndInRange) {
  Rng rng(3);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts.at(rng.below(7));
  for (int count : counts) EXPECT_NEAR(count, 10000, 400);
  for (int i = 0; i < 1000; ++i) {
    const double value = rng.uniform();
    ASSERT_TRUE(value >= 0 && value < 1);
  }
}

}  // namespace
}  // namespace redtune
