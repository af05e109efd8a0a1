#include <fstream>

#include "support/error.h"
#include "tests/tuner/loop_fixture.h"

namespace redtune {
namespace {

TEST_F(TuningLoop, ResumingRepeatsNothing) {
  const TuneResult first = run();
  const std::string log = read_file(options_.log_path);
  const TuneResult second = run();
  EXPECT_TRUE(evaluated_.empty());
  EXPECT_EQ(evaluators_, 1);
  EXPECT_EQ(second.resumed, 20u);
  EXPECT_EQ(second.trials[*second.best].schedule, first.trials[*first.best].schedule);
  EXPECT_EQ(read_file(options_.log_path), log);
}

TEST_F(TuningLoop, ResumingGoesOnWhereItStopped) {
  options_.max_trials = 7;
  run();
  const std::vector<std::string> before = evaluated_;
  options_.max_trials = 20;
  const TuneResult result = run();
  EXPECT_EQ(result.resumed, 7u);
  EXPECT_EQ(result.trials.size(), 20u);
  for (std::size_t i = 7; i < 20; ++i) {
    EXPECT_EQ(std::count(before.begin(), before.end(), result.trials[i].schedule.text()), 0);
  }
}

TEST_F(TuningLoop, ResumingNeverForgetsTheBest) {
  const TuneResult first = run();
  options_.max_trials = 25;
  const TuneResult second = run();
  EXPECT_LE(second.trials[*second.best].outcome.median_seconds,
            first.trials[*first.best].outcome.median_seconds);
}

TEST_F(TuningLoop, ResultsOfAnotherKernelTextAreStale) {
  run();
  const auto old = generate_;
  generate_ = [old](const Task& task, const Schedule& schedule) {
    GeneratedProgram program = old(task, schedule);
    program.hash = hex64(hash64("new " + program.program.text));
    return program;
  };
  const TuneResult result = run();
  EXPECT_EQ(result.resumed, 0u);
  EXPECT_GE(result.stale, 20u);
  EXPECT_EQ(result.trials.size(), 20u);
}

TEST_F(TuningLoop, ResultsOfAnotherDeviceOrClockAreNotMixedIn) {
  run();
  device_.name = "another device";
  EXPECT_EQ(run().resumed, 0u);
  options_.measure.cold = false;
  EXPECT_EQ(run().resumed, 0u);
  device_.name = "fake device";
  options_.measure.cold = true;
  EXPECT_EQ(run().resumed, 20u);
}

TEST_F(TuningLoop, AnInterruptKeepsEverything) {
  answer_ = [this](const Schedule& schedule, int) {
    if (evaluated_.size() == 7) stop_ = true;
    return timed_outcome(time_of(schedule));
  };
  const TuneResult result = run();
  EXPECT_EQ(result.end_reason, "interrupted");
  EXPECT_EQ(result.trials.size(), 7u);
  EXPECT_TRUE(result.best);
  EXPECT_EQ(read_log(options_.log_path).records.size(), 7u);
  EXPECT_TRUE(ConfigStore(options_.config_directory).find(op_, device_.name));
  stop_ = false;
  answer_ = [](const Schedule& schedule, int) { return timed_outcome(time_of(schedule)); };
  const TuneResult resumed = run();
  EXPECT_EQ(resumed.resumed, 7u);
  EXPECT_EQ(resumed.trials.size(), 20u);
}

TEST_F(TuningLoop, AnInterruptBeforeAnythingValidReturnsWithoutABest) {
  answer_ = [this](const Schedule&, int) {
    stop_ = true;
    return failed_outcome(OutcomeKind::kTimedOut, "2 s");
  };
  const TuneResult result = run();
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.end_reason, "interrupted");
}

TEST_F(TuningLoop, WhatTookAnEarlierRunDownIsSkippedUnlessAsked) {
  options_.strategy = "random";  // whose order does not depend on what came before
  run();
  const Schedule bad = read_log(options_.log_path).records[5].schedule;
  // As if the run had died while the sixth schedule ran.
  std::ofstream cut(options_.log_path + ".cut");
  for (const std::string& line : log_lines()) {
    if (line.find("\"trial\"") != std::string::npos && line.find(bad.text() + "\"") != std::string::npos)
      break;
    cut << line << "\n";
  }
  cut.close();
  const std::string whole = options_.log_path;
  options_.log_path += ".cut";
  const std::string text = read_file(options_.log_path);
  const TuneResult result = run();
  EXPECT_EQ(count_of(bad.text()), 0u);
  EXPECT_EQ(result.trials[5].outcome.kind, OutcomeKind::kCrashed);
  std::ofstream(options_.log_path) << text;
  options_.retry_crashed = true;
  run();
  EXPECT_GE(count_of(bad.text()), 1u);
}

TEST_F(TuningLoop, WhatCrashedForReasonsOfTheMachineIsTriedAgainWhenAsked) {
  answer_ = [](const Schedule&, int) { return failed_outcome(OutcomeKind::kCrashed, "no linker"); };
  EXPECT_THROW(run(), NoValidSchedule);
  answer_ = [](const Schedule&, int) { return timed_outcome(1e-3); };
  EXPECT_THROW(run(), NoValidSchedule);
  options_.retry_crashed = true;
  const TuneResult result = run();
  ASSERT_TRUE(result.default_trial());
  EXPECT_TRUE(result.trials[*result.default_trial()].outcome.timed());
  EXPECT_TRUE(result.best);
}

TEST_F(TuningLoop, AnInterruptedDefaultGetsASecondChance) {
  Log log(options_.log_path);
  const TrialKey key = trial_key(make_task(op_, device_.target), device_, options_.measure);
  log.started(key, default_, "");
  EXPECT_EQ(run().trials[0].outcome.kind, OutcomeKind::kTimed);
}

TEST_F(TuningLoop, ALogThatCannotBeReadIsRefusedAndLeftAlone) {
  std::ofstream(options_.log_path) << "my notes\n";
  EXPECT_THAT(message_of([&] { run(); }), testing::HasSubstr("is not a redtune log"));
  EXPECT_EQ(read_file(options_.log_path), "my notes\n");
}

}  // namespace
}  // namespace redtune
