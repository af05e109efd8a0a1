#include "measure/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redtune {
namespace {

using testing::HasSubstr;

std::vector<LaunchTime> one(double seconds) {
  return {{1000, 1000 + static_cast<std::uint64_t>(seconds * 1e9 + 0.5)}};
}

struct Clock {
  std::vector<double> seconds;  // repeated for ever; [0] is the warm-up
  std::size_t asked = 0;
  std::vector<LaunchTime> operator()() { return one(seconds[std::min(asked++, seconds.size() - 1)]); }
};

Samples take(Clock& clock, const SamplingRules& rules) {
  return take_samples(
      rules, 1, [&] { return clock(); }, [] {});
}

TEST(RepetitionTime, SpansFirstStartToLastEnd) {
  const std::vector<LaunchTime> launches{{1000, 2000}, {5000, 7000}};
  const RepetitionTime time = repetition_time(launches, 2, 0);
  EXPECT_EQ(time.refused, "");
  EXPECT_DOUBLE_EQ(time.seconds, 6e-6);
  EXPECT_DOUBLE_EQ(time.kernel_seconds, 3e-6);
}

TEST(RepetitionTime, RefusesWhatCannotBe) {
  const auto refused = [](std::vector<LaunchTime> launches, std::size_t expected, double least = 0) {
    return repetition_time(launches, expected, least).refused;
  };
  EXPECT_THAT(refused({{1, 2}}, 2), HasSubstr("1 times for 2 launches"));
  EXPECT_THAT(refused({}, 0), HasSubstr("0 times"));
  EXPECT_THAT(refused({{0, 0}}, 1), HasSubstr("zero"));
  EXPECT_THAT(refused({{20, 10}}, 1), HasSubstr("end before start"));
  EXPECT_THAT(refused({{20, 20}}, 1), HasSubstr("end equal to start"));
  EXPECT_THAT(refused({{10, 30}, {20, 40}}, 2), HasSubstr("before the one ahead"));
  EXPECT_THAT(refused({{10, 20}}, 1, 1e-6), HasSubstr("faster than any memory"));
}

TEST(Sampling, StopsAtTheFewestWhenTheMedianIsKnown) {
  Clock clock{{9, 1e-3}};
  const Samples samples = take(clock, {.min_samples = 5, .max_samples = 40});
  EXPECT_EQ(samples.seconds, std::vector<double>(5, 1e-3));
}

TEST(Sampling, GoesOnWhileTheMedianIsNot) {
  Clock clock{{1, 1e-3, 2e-3, 1e-3, 2e-3, 1e-3, 2e-3, 1e-3, 2e-3, 1e-3, 2e-3, 1e-3}};
  const Samples samples = take(clock, {.min_samples = 5, .max_samples = 10});
  EXPECT_EQ(samples.seconds.size(), 10u);
}

TEST(Sampling, DropsWhatIsClearlySlowerAfterOneSample) {
  Clock clock{{4e-3, 4e-3}};
  const Samples samples = take(clock, {.best_seconds = 1e-3});
  EXPECT_EQ(samples.seconds.size(), 1u);
  EXPECT_EQ(clock.asked, 2u);
}

TEST(Sampling, TheWarmUpIsEnoughForTheHopeless) {
  Clock clock{{20e-3}};
  const Samples samples = take(clock, {.best_seconds = 1e-3});
  EXPECT_EQ(samples.seconds, std::vector<double>{20e-3});
  EXPECT_EQ(clock.asked, 1u);
}

TEST(Sampling, KeepsWhatIsOnlySomewhatSlower) {
  Clock clock{{2e-3}};
  EXPECT_EQ(take(clock, {.min_samples = 7, .best_seconds = 1e-3}).seconds.size(), 7u);
}

TEST(Sampling, OneBadTimeIsMeasuredAgain) {
  Clock clock{{1e-3, 0, 1e-3}};
  const Samples samples = take(clock, {.min_samples = 5});
  EXPECT_EQ(samples.refused, "");
  EXPECT_EQ(samples.seconds.size(), 5u);
}

TEST(Sampling, ThreeBadTimesInARowEndIt) {
  Clock clock{{1e-3, 1e-3, 0}};
  const Samples samples = take(clock, {.min_samples = 5});
  EXPECT_THAT(samples.refused, HasSubstr("end equal to start"));
  EXPECT_EQ(clock.asked, 5u);
}

TEST(Sampling, ImpossibleTimesAreRefused) {
  Clock clock{{1e-6}};
  EXPECT_THAT(take(clock, {.least_seconds = 1e-3}).refused, HasSubstr("faster than any memory"));
}

TEST(Sampling, TimeLimitStillGivesOneSample) {
  Clock clock{{1e-3}};
  EXPECT_EQ(take(clock, {.max_seconds = 0}).seconds.size(), 1u);
}

}  // namespace
}  // namespace redtune
