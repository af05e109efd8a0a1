#include "tests/tuner/loop_fixture.h"

#include <set>

#include "support/error.h"

namespace redtune {
namespace {

using testing::HasSubstr;

TEST_F(TuningLoop, MeasuresTheDefaultFirst) {
  const TuneResult result = run();
  ASSERT_FALSE(evaluated_.empty());
  EXPECT_EQ(evaluated_.front(), default_.text());
  EXPECT_EQ(result.default_trial(), 0u);
}

TEST_F(TuningLoop, TriesAsManyDifferentSchedulesAsAsked) {
  const TuneResult result = run();
  EXPECT_EQ(result.trials.size(), 20u);
  EXPECT_EQ(std::set<std::string>(evaluated_.begin(), evaluated_.end()).size(), 20u);
  EXPECT_EQ(result.end_reason, "trials");
}

TEST_F(TuningLoop, PatienceEndsASearchThatFindsNothingBetter) {
  options_.patience = 6;
  answer_ = [this](const Schedule& schedule, int) { return timed_outcome(schedule == default_ ? 1e-3 : 2e-3); };
  const TuneResult result = run();
  EXPECT_EQ(result.end_reason, "no_improvement");
  EXPECT_EQ(result.trials.size(), 7u);
  EXPECT_THAT(log_lines().back(), HasSubstr("\"reason\":\"no_improvement\""));
  // Each new best starts the count again.
  options_.log_path.clear();
  double seconds = 1e-3;
  answer_ = [&](const Schedule&, int) { return timed_outcome(seconds *= 0.9); };
  EXPECT_EQ(run().end_reason, "trials");
}

TEST_F(TuningLoop, ANarrowedSpaceIsTriedAndNothingElse) {
  options_.filter.sizes = parse_size_choices("vec=1|4 walk=chunked rows=2");
  options_.max_trials = 12;
  for (const Trial& trial : run().trials) {
    if (trial.schedule == default_) continue;
    EXPECT_TRUE(trial.schedule.vec == 1 || trial.schedule.vec == 4) << trial.schedule.text();
    EXPECT_EQ(trial.schedule.rows, 2);
    EXPECT_EQ(trial.schedule.walk, Walk::kChunked);
  }
}

TEST_F(TuningLoop, BestIsTheFastestThatWasTimed) {
  const TuneResult result = run();
  ASSERT_TRUE(result.best);
  for (const Trial& trial : result.trials) {
    EXPECT_GE(trial.outcome.median_seconds, result.trials[*result.best].outcome.median_seconds * 0.97);
  }
}

TEST_F(TuningLoop, WritesStartedBeforeEachTrial) {
  run();
  std::string last;
  for (const std::string& line : log_lines()) {
    const bool trial = line.find("\"kind\":\"trial\"") != std::string::npos;
    if (trial) {
      EXPECT_THAT(last, HasSubstr("\"kind\":\"started\""));
    }
    last = line;
  }
  EXPECT_THAT(log_lines().front(), HasSubstr("\"kind\":\"run\""));
  EXPECT_THAT(last, HasSubstr("\"kind\":\"end\""));
}

TEST_F(TuningLoop, KeepsBadCandidatesAsTrials) {
  answer_ = [this](const Schedule& schedule, int) {
    if (schedule == default_) return timed_outcome(1e-3);
    return hash64(schedule.text()) % 2 ? failed_outcome(OutcomeKind::kCrashed, "signal 11")
                                       : failed_outcome(OutcomeKind::kWrongResult, "out[3] = 1");
  };
  const TuneResult result = run();
  EXPECT_EQ(result.trials.size(), 20u);
  EXPECT_EQ(result.best, 0u);
  const auto failures = failures_by_reason(result.trials);
  ASSERT_EQ(failures.size(), 2u);
  EXPECT_EQ(failures[0].count + failures[1].count, 19u);
}

TEST_F(TuningLoop, NothingValidTellsCountsAndExamplesAndWritesNoConfig) {
  answer_ = [](const Schedule&, int) { return failed_outcome(OutcomeKind::kLaunchFailed, "out of memory"); };
  try {
    run();
    FAIL() << "no exception";
  } catch (const NoValidSchedule& error) {
    EXPECT_THAT(error.what(), HasSubstr("no valid schedule out of 20"));
    EXPECT_THAT(error.what(), HasSubstr("20 launch_failed, as " + default_.text() + ": out of memory"));
  }
  EXPECT_TRUE(ConfigStore(options_.config_directory).list().empty());
}

TEST_F(TuningLoop, ATimeThatIsNoNumberIsNoTime) {
  answer_ = [this](const Schedule& schedule, int) {
    return timed_outcome(schedule == default_ ? 1e-3 : schedule.vec > 1 ? 0.0 : HUGE_VAL);
  };
  const TuneResult result = run();
  EXPECT_EQ(result.best, 0u);
  EXPECT_EQ(read_log(options_.log_path).warnings, std::vector<std::string>{});
}

TEST_F(TuningLoop, GenerationFailureIsARejectedTrial) {
  const auto good = generate_;
  generate_ = [&](const Task& task, const Schedule& schedule) {
    if (!(schedule == default_)) throw UserError("cannot lower this");
    return good(task, schedule);
  };
  const TuneResult result = run();
  EXPECT_EQ(result.trials.size(), 20u);
  EXPECT_EQ(result.trials[1].outcome.kind, OutcomeKind::kRejected);
  EXPECT_EQ(result.trials[1].outcome.detail, "cannot lower this");
}

TEST_F(TuningLoop, ABugInTheGeneratorIsNotHidden) {
  generate_ = [](const Task&, const Schedule&) -> GeneratedProgram { throw InternalError("bug"); };
  EXPECT_THROW(run(), InternalError);
}

TEST_F(TuningLoop, AFullDiskNamesThePath) {
  options_.log_path = "/dev/full";
  EXPECT_THAT(message_of([&] { run(); }), HasSubstr("cannot write /dev/full: No space left on device"));
}

TEST_F(TuningLoop, ALostDeviceLeavesWhatWasMeasuredInTheLog) {
  answer_ = [n = 0](const Schedule& schedule, int) mutable {
    if (++n > 6) throw DeviceLost("gone");
    return timed_outcome(time_of(schedule));
  };
  EXPECT_THROW(run(), DeviceLost);
  EXPECT_EQ(read_log(options_.log_path).records.size(), 6u);
  EXPECT_THAT(log_lines().back(), HasSubstr("device_lost"));
}

TEST_F(TuningLoop, StopsAtTheTimeLimitAfterTheDefault) {
  options_.max_seconds = 1e-9;
  const TuneResult result = run();
  EXPECT_EQ(result.trials.size(), 1u);
  EXPECT_EQ(result.end_reason, "time");
  EXPECT_EQ(result.best, 0u);
}

TEST_F(TuningLoop, SameSeedSameProposals) {
  run();
  const std::vector<std::string> first = evaluated_;
  options_.log_path = directory_.file("other.jsonl");
  run();
  EXPECT_EQ(evaluated_, first);
  options_.log_path = directory_.file("third.jsonl");
  options_.seed = 2;
  run();
  EXPECT_NE(evaluated_, first);
}

TEST_F(TuningLoop, NarrowedSpaceKeepsTheDefaultForComparisonOnly) {
  options_.filter = parse_mapping_filter("atomic");
  const TuneResult result = run();
  EXPECT_EQ(result.trials[0].schedule, default_);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.trials[*result.best].schedule.mapping_class(), MappingClass::kAtomic);
}

TEST_F(TuningLoop, ExhaustiveSearchObeysTheLimitAndTheSpace) {
  options_.strategy = "exhaustive";
  options_.max_trials = 5;
  EXPECT_EQ(run().trials.size(), 5u);
  op_ = operator_from_short_form({.op = "sum", .shape = "2x3", .axes = "1"});
  options_.max_trials = 1000000;
  const TuneResult result = run();
  EXPECT_EQ(result.trials.size(), result.space_size);
  EXPECT_EQ(result.end_reason, "exhausted");
}

TEST_F(TuningLoop, ConfigHoldsTheBestWithItsEvidence) {
  const TuneResult result = run();
  const auto config = ConfigStore(options_.config_directory).find(op_, device_.name);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->schedule, result.trials[*result.best].schedule);
  EXPECT_EQ(config->default_seconds, result.trials[0].outcome.median_seconds);
  EXPECT_EQ(config->launches.size(), 1u);
  EXPECT_EQ(config->buffers[1].bytes(), 1024);
  EXPECT_EQ(config->log_hash.size(), 16u);
}

TEST_F(TuningLoop, AnOutdatedConfigIsReplacedEvenWhenItLooksFaster) {
  run();
  Config old = *ConfigStore(options_.config_directory).find(op_, device_.name);
  old.seconds = old.low_seconds = old.high_seconds = 1e-9;
  old.program_hash = "0000000000000000";
  old.schedule = default_;
  ConfigStore(options_.config_directory).put(old, true);
  const TuneResult result = run();
  EXPECT_FALSE(result.config_kept);
  EXPECT_EQ(ConfigStore(options_.config_directory).find(op_, device_.name)->schedule,
            result.trials[*result.best].schedule);
}

}  // namespace
}  // namespace redtune
