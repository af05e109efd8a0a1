#include "tuner/reverification.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace redtune {
namespace {

using testing::HasSubstr;

Config stored() {
  Config config;
  config.seconds = 1e-3;
  config.low_seconds = 0.9e-3;
  config.high_seconds = 1.1e-3;
  return config;
}

Outcome round_of(double seconds) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kTimed;
  outcome.median_seconds = seconds;
  outcome.low_seconds = 0.99 * seconds;
  outcome.high_seconds = 1.01 * seconds;
  return outcome;
}

TEST(Reverification, JudgesByWholeIntervals) {
  EXPECT_EQ(judge(stored(), {round_of(1e-3)}, 0).standing, Standing::kHolds);
  EXPECT_EQ(judge(stored(), {round_of(1.11e-3)}, 0).standing, Standing::kHolds) << "the intervals meet";
  EXPECT_EQ(judge(stored(), {round_of(1.2e-3)}, 0).standing, Standing::kSlower);
  EXPECT_EQ(judge(stored(), {round_of(1.2e-3)}, 0.1).standing, Standing::kHolds) << "within the tolerance";
  EXPECT_EQ(judge(stored(), {round_of(1.3e-3)}, 0.1).standing, Standing::kSlower);
  EXPECT_EQ(judge(stored(), {round_of(0.5e-3)}, 0.1).standing, Standing::kFaster);
  EXPECT_EQ(judge(stored(), {round_of(0.85e-3)}, 0.1).standing, Standing::kHolds);
}

TEST(Reverification, OneGoodRoundIsEnoughAndOneWrongOneDecides) {
  const ConfigCheck check = judge(stored(), {round_of(2e-3), round_of(1e-3), round_of(3e-3)}, 0);
  EXPECT_EQ(check.standing, Standing::kHolds);
  EXPECT_EQ(check.seconds, 1e-3);
  Outcome wrong;
  wrong.kind = OutcomeKind::kWrongResult;
  wrong.detail = "out[3]";
  const ConfigCheck bad = judge(stored(), {round_of(1e-3), wrong}, 0);
  EXPECT_EQ(bad.standing, Standing::kWrong);
  EXPECT_THAT(bad.detail, HasSubstr("out[3]"));
  wrong.kind = OutcomeKind::kTimedOut;
  EXPECT_EQ(judge(stored(), {wrong}, 0).standing, Standing::kFailed);
  EXPECT_FALSE(is_good(Standing::kStale));
  EXPECT_TRUE(is_good(Standing::kFaster));
}

TEST(Reverification, MeasuresAgainOnlyWhatLooksSlower) {
  int measured = 0;
  const auto give = [&](std::vector<double> times) {
    measured = 0;
    return recheck(stored(), 0, 3,
                   [&measured, times] { return round_of(times[static_cast<std::size_t>(measured++)]); });
  };
  EXPECT_EQ(give({1e-3}).standing, Standing::kHolds);
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(give({2e-3, 1e-3}).standing, Standing::kHolds);
  EXPECT_EQ(measured, 2);
  EXPECT_EQ(give({2e-3, 3e-3, 1.5e-3}).standing, Standing::kSlower);
  EXPECT_EQ(measured, 3);
}

}  // namespace
}  // namespace redtune
