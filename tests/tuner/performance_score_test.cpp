#include "tuner/performance_score.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "logs/recorded_space.h"
#include "support/rng.h"

namespace redtune {
namespace {

// 1..9: worst to best 9, 8, ... 1; median 5; f_c = 1 + 4 * 0.04 = 1.16 -> only rank 8; M_c = ceil(8 / 2) = 4.
Baseline nine() { return Baseline({1, 2, 3, 4, 5, 6, 7, 8, 9}); }

TEST(Baseline, FollowsTheFormulas) {
  const Baseline b = nine();
  EXPECT_EQ(b.optimum(), 1);
  EXPECT_EQ(b.median(), 5);
  EXPECT_DOUBLE_EQ(b.cutoff_value(), 1.16);
  EXPECT_EQ(b.cutoff_rank(), 8u);
  EXPECT_EQ(b.budget(), 4u);
  // Expected rank M * 10 / (M + 1) = 5, 6.67, 7.5 (half to even: 8), 8, counted from 1.
  EXPECT_EQ(b.expected(1, RankBase::kPublished), 4);
  EXPECT_EQ(b.expected(1, RankBase::kCorrected), 5);
  EXPECT_EQ(b.expected(2, RankBase::kPublished), 2);
  EXPECT_EQ(b.expected(2, RankBase::kCorrected), 3);
  EXPECT_EQ(b.expected(3, RankBase::kPublished), 1);
  EXPECT_EQ(b.expected(1000, RankBase::kPublished), 1);
}

TEST(Baseline, EqualValuesHaveTheirBestRank) {
  const Baseline b({3, 2, 2, 2, 1});
  EXPECT_EQ(b.rank(3), 0u);
  EXPECT_EQ(b.rank(2), 3u);
  EXPECT_EQ(b.rank(1), 4u);
}

TEST(Baseline, OneValueIsEnough) {
  const Baseline b({2});
  EXPECT_EQ(b.budget(), 1u);
  const std::vector<std::vector<double>> runs{{2}};
  EXPECT_EQ(performance_score(b, runs, RankBase::kCorrected), 1);
}

TEST(PerformanceScore, IsOneForTheOptimumAtOnceAndNegativeForTheWorst) {
  const std::vector<std::vector<double>> best{{1}}, worst{{9, 9}};
  EXPECT_DOUBLE_EQ(performance_score(nine(), best, RankBase::kCorrected), 1);
  EXPECT_LT(performance_score(nine(), worst, RankBase::kCorrected), -1);
}

TEST(PerformanceScore, ByHand) {
  // Best so far 5, 3, 3, 1 against 5, 3, 2, 2: P = 0, 0, (3-2)/(1-2) = -1, 1.
  const std::vector<std::vector<double>> runs{{5, 3, 7, 1}};
  const std::vector<double> curve = performance_curve(nine(), runs, RankBase::kCorrected);
  EXPECT_EQ(curve, (std::vector<double>{0, 0, -1, 1}));
}

TEST(PerformanceScore, RandomSearchIsAtZeroOnlyWhenRanksCountFromZero) {
  std::vector<double> values;
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) values.push_back(1 + 10 * std::pow(rng.uniform(), 2));
  const Baseline baseline(values);
  std::vector<std::vector<double>> runs(20000);
  for (auto& run : runs) {
    for (std::size_t i = 0; i < baseline.budget(); ++i) {
      std::swap(values[i], values[i + rng.below(values.size() - i)]);
      run.push_back(values[i]);
    }
  }
  EXPECT_NEAR(performance_score(baseline, runs, RankBase::kCorrected), 0, 0.02);
  EXPECT_LT(performance_score(baseline, runs, RankBase::kPublished),
            performance_score(baseline, runs, RankBase::kCorrected));
}

// The worked example of the field's formulas on a space recorded by others; there the steps of B are
// smoothed.
TEST(Baseline, OfAPublishedSpace) {
  const std::string path = REDTUNE_SOURCE_DIR "/../shared/data/hub/convolution_milo_A100.json.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
  std::vector<double> values;
  for (const RecordedPoint& point : read_recorded_spaces(path).at(0).points) {
    if (!point.failed()) values.push_back(point.value);
  }
  const Baseline baseline(values);
  EXPECT_EQ(values.size(), 4201u);
  EXPECT_NEAR(baseline.optimum(), 0.5536, 5e-5);
  EXPECT_NEAR(baseline.median(), 1.834, 5e-4);
  EXPECT_NEAR(baseline.cutoff_value(), 0.6048, 5e-5);
  EXPECT_EQ(baseline.cutoff_rank(), 4199u);
  EXPECT_EQ(baseline.budget(), 1400u);
  const Baseline half(values, 0.5);
  EXPECT_EQ(half.cutoff_rank(), 3369u);
  EXPECT_EQ(half.budget(), 5u);
  EXPECT_NEAR(baseline.expected(1, RankBase::kPublished), 1.8334, 5e-3);
  EXPECT_NEAR(baseline.expected(10, RankBase::kPublished), 1.0282, 5e-3);
  EXPECT_NEAR(baseline.expected(50, RankBase::kPublished), 0.8867, 5e-3);
  EXPECT_NEAR(baseline.expected(100, RankBase::kPublished), 0.8209, 5e-3);
}

}  // namespace
}  // namespace redtune
