#include "tuner/explaining.h"

#include <cmath>
#include "logs/task_records.h"

#include "tests/tuner/loop_fixture.h"
#include "tuner/cli/explain_report.h"

namespace redtune {
namespace {

using testing::HasSubstr;

class Explaining : public TuningLoop {
 protected:
  /// Time as a product over sizes: vec is worth most, then items, px nothing.
  static double product(const Schedule& s) {
    return 1e-3 * std::pow(0.5, std::log2(s.vec)) * std::pow(0.9, std::log2(s.items));
  }
  TuneResult result_of(const FakeEvaluator::Answer& answer, std::size_t trials = 200) {
    options_.log_path.clear();
    options_.strategy = "random";
    options_.max_trials = trials;
    answer_ = answer;
    return run();
  }
};

TEST_F(Explaining, FindsWhatEachKnobIsWorth) {
  options_.filter.sizes = parse_size_choices("prefetch=0 rows=1 serial=1");
  const TuneResult result = result_of([](const Schedule& s, int) { return timed_outcome(product(s)); });
  const RunExplanation e = explain_run(result);
  EXPECT_GT(e.explained, 0.95);
  EXPECT_EQ(e.timed, result.trials.size());
  ASSERT_TRUE(e.default_schedule);
  double all = e.together;
  for (const KnobEffect& knob : e.knobs) {
    all *= knob.factor;
    if (knob.knob == "px" || knob.knob == "rx" || knob.knob == "block") {
      EXPECT_NEAR(knob.factor, 1, 0.15) << knob.knob;
    }
    if (knob.knob == "vec") {
      EXPECT_NEAR(std::log(knob.factor), std::log(0.5) * std::log2(std::stod(knob.to) / std::stod(knob.from)), 0.3);
    }
  }
  // Every factor is told: together they are the gain.
  EXPECT_NEAR(all, e.best_seconds / e.default_seconds, 1e-9);
  EXPECT_THAT(explain_text(e), HasSubstr("from the default to the winner"));
  EXPECT_EQ(explain_json(e)["knobs"].size(), e.knobs.size());
}

TEST_F(Explaining, NamesTheRunnerUpAndHowFarItIs) {
  const TuneResult result = result_of([](const Schedule& s, int) { return timed_outcome(time_of(s)); }, 30);
  const RunExplanation e = explain_run(result);
  ASSERT_TRUE(e.runner_up);
  std::vector<double> times;
  for (const Trial& trial : result.trials) times.push_back(trial.outcome.median_seconds);
  std::sort(times.begin(), times.end());
  EXPECT_DOUBLE_EQ(e.best_seconds, times[0]);
  EXPECT_DOUBLE_EQ(e.runner_up_seconds, times[1]);
  EXPECT_FALSE(e.apart.empty());
  EXPECT_THAT(explain_text(e), HasSubstr("runner-up " + e.runner_up->text()));
}

TEST_F(Explaining, ATieIsCalledOne) {
  const TuneResult result = result_of([this](const Schedule& s, int) { return timed_outcome(s == default_ ? 2e-3 : 1e-3, 0.1); }, 10);
  EXPECT_TRUE(explain_run(result).tied);
  EXPECT_THAT(explain_text(explain_run(result)), HasSubstr("a tie"));
}

TEST_F(Explaining, OneStepRivalsAreMeasurements) {
  options_.filter.sizes = parse_size_choices("prefetch=0 rows=1 serial=1");
  const TuneResult result = result_of([](const Schedule& s, int) { return timed_outcome(product(s)); });
  const RunExplanation e = explain_run(result);
  for (const OneStepRival& rival : e.one_step) {
    // Exactly one trial has this time and differs in this field alone.
    EXPECT_NE(rival.winner, rival.rival);
    const auto has = [&](const Trial& trial) {
      const Json a = configuration_of(trial.schedule), b = configuration_of(e.best);
      std::size_t differ = 0;
      for (const auto& [name, value] : a.items()) differ += value != b[name] ? 1 : 0;
      return differ == 1 && a[rival.knob] != b[rival.knob] &&
             std::fabs(trial.outcome.median_seconds / e.best_seconds - rival.factor) < 1e-9;
    };
    EXPECT_TRUE(std::any_of(result.trials.begin(), result.trials.end(), has)) << rival.knob;
  }
  EXPECT_FALSE(e.one_step.empty());
}

TEST_F(Explaining, AWinningDefaultAndAFailedOneAreSaid) {
  const TuneResult best = result_of([this](const Schedule& s, int) { return timed_outcome(s == default_ ? 1e-3 : 2e-3); }, 10);
  EXPECT_TRUE(explain_run(best).default_won);
  EXPECT_THAT(explain_text(explain_run(best)), HasSubstr("the default won"));
  const TuneResult none = result_of(
      [this](const Schedule& s, int) {
        return s == default_ ? failed_outcome(OutcomeKind::kCrashed, "signal 11") : timed_outcome(time_of(s));
      },
      10);
  EXPECT_FALSE(explain_run(none).default_schedule);
  EXPECT_THAT(explain_text(explain_run(none)), HasSubstr("the default gave no time"));
}

}  // namespace
}  // namespace redtune
