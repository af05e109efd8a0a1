#include "tests/tuner/loop_fixture.h"
#include "tuner/trials.h"

namespace redtune {
namespace {

TEST_F(TuningLoop, ALuckySampleDoesNotWin) {
  std::string lucky;
  answer_ = [&](const Schedule& schedule, int asked) {
    if (schedule == default_) return timed_outcome(1e-3);
    if (lucky.empty()) lucky = schedule.text();
    if (schedule.text() == lucky) return timed_outcome(asked == 0 ? 0.5e-3 : 1.5e-3);
    return timed_outcome(0.9e-3 + time_of(schedule) * 1e-3);
  };
  const TuneResult result = run();
  ASSERT_TRUE(result.best);
  EXPECT_NE(result.trials[*result.best].schedule.text(), lucky);
}

TEST_F(TuningLoop, ATieGoesToTheDefault) {
  answer_ = [this](const Schedule& schedule, int) {
    return timed_outcome(schedule == default_ ? 1.005e-3 : 1e-3, 0.04);
  };
  EXPECT_EQ(run().best, 0u);
}

TEST_F(TuningLoop, AClearWinnerBeatsTheDefault) {
  answer_ = [this](const Schedule& schedule, int) {
    return timed_outcome(schedule == default_ ? 1e-3 : 0.8e-3);
  };
  EXPECT_NE(run().best, 0u);
}

TEST_F(TuningLoop, WrongOnceIsWrong) {
  std::string wrong;
  answer_ = [&](const Schedule& schedule, int asked) {
    if (schedule == default_) return timed_outcome(1e-3);
    if (wrong.empty()) wrong = schedule.text();
    if (schedule.text() != wrong) return timed_outcome(2e-3);
    return asked == 0 ? timed_outcome(0.5e-3) : failed_outcome(OutcomeKind::kWrongResult, "out[0]");
  };
  EXPECT_EQ(run().best, 0u);
  // Nor does it win when the run is resumed.
  EXPECT_EQ(run().best, 0u);
}

TEST_F(TuningLoop, FinalistsAreMeasuredInTurns) {
  run();
  // The last turns hold at least two different schedules, one after the other.
  ASSERT_GE(evaluated_.size(), 24u);
  EXPECT_NE(evaluated_[evaluated_.size() - 1], evaluated_[evaluated_.size() - 2]);
}

TEST_F(TuningLoop, AMachineThatDriftsDoesNotMakeAWinner) {
  // The others are slower than the default in the same turn, but the default was unlucky for a few turns.
  answer_ = [this](const Schedule& schedule, int asked) {
    const double own = schedule == default_ ? 1e-3 : 1.05e-3;
    const bool disturbed = schedule == default_ && asked >= 1 && asked <= 3;
    return timed_outcome(disturbed ? 4e-3 : own);
  };
  EXPECT_EQ(run().best, 0u);
  EXPECT_EQ(run().best, 0u) << "resumed: the turns come from the log";
}

TEST_F(TuningLoop, WhatWinsOnAverageOnlyIsATie) {
  // Far ahead in half of the turns, behind in the other half.
  answer_ = [this](const Schedule& schedule, int asked) {
    if (schedule == default_) return timed_outcome(1e-3);
    return timed_outcome(asked % 2 == 0 ? 0.5e-3 : 1.01e-3);
  };
  EXPECT_EQ(run().best, 0u);
  EXPECT_EQ(run().best, 0u) << "resumed: the turns come from the log";
}

TEST(CombineRounds, TheFirstRoundChoseThemAndCountsNoMore) {
  const Outcome all = combine_rounds({timed_outcome(1e-3), timed_outcome(3e-3), timed_outcome(4e-3)});
  EXPECT_EQ(all.seconds.size(), 18u);
  EXPECT_GT(all.median_seconds, 2.9e-3);
  EXPECT_LT(all.median_seconds, 4e-3);
  EXPECT_LE(all.low_seconds, all.median_seconds);
  EXPECT_GE(all.high_seconds, all.median_seconds);
}

TEST(CombineRounds, OneFailureSpeaksForAll) {
  const Outcome bad = failed_outcome(OutcomeKind::kCrashed, "signal 11");
  EXPECT_EQ(combine_rounds({timed_outcome(1e-3), bad, timed_outcome(1e-3)}).kind, OutcomeKind::kCrashed);
}

}  // namespace
}  // namespace redtune
