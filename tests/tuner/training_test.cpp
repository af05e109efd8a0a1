#include "tuner/training.h"

#include <cmath>
#include <fstream>

#include "tests/tuner/loop_fixture.h"

namespace redtune {
namespace {

using testing::HasSubstr;

class Training : public TuningLoop {
 protected:
  /// A log of a run in which `answer` was measured, and the model trained on it.
  std::string model_of(const FakeEvaluator::Answer& answer, const std::string& name) {
    const TuneOptions before = options_;
    options_.log_path = directory_.file(name + ".jsonl");
    options_.config_directory.clear();
    options_.strategy = "random";
    options_.max_trials = 80;
    answer_ = answer;
    run();
    std::vector<std::string> warnings;
    const auto samples = samples_of_logs({options_.log_path}, warnings);
    EXPECT_THAT(warnings, testing::IsEmpty());
    const std::string path = directory_.file(name + ".model");
    LearnedModel::train(samples, {}).save(path);
    options_ = before;
    return path;
  }

  std::vector<std::string> measured_with(const std::string& model) {
    options_.log_path.clear();
    options_.model_path = model;
    options_.max_trials = 12;
    run();
    return evaluated_;
  }
};

TEST_F(Training, TakesOneRowPerTimedSchedule) {
  answer_ = [](const Schedule& schedule, int) {
    return schedule.items > 1 ? failed_outcome(OutcomeKind::kWrongResult, "")
                              : timed_outcome(time_of(schedule));
  };
  const TuneResult result = run();
  std::size_t timed = 0;
  for (const Trial& trial : result.trials) timed += trial.outcome.timed() ? 1 : 0;
  std::vector<std::string> warnings;
  const auto samples = samples_of_logs({options_.log_path}, warnings);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].task, result.task.key());
  EXPECT_EQ(samples[0].seconds.size(), timed);
  EXPECT_LT(timed, result.trials.size());
}

TEST_F(Training, SaysWhatItCannotUse) {
  std::vector<std::string> warnings;
  EXPECT_THAT(message_of([&] { samples_of_logs({directory_.file("none.jsonl")}, warnings); }),
              HasSubstr("none.jsonl: no such file"));
  std::ofstream(directory_.file("empty.jsonl")).close();
  EXPECT_TRUE(samples_of_logs({directory_.file("empty.jsonl")}, warnings).empty());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("empty.jsonl: holds no trial"));
}

TEST_F(Training, TheModelChangesWhatIsMeasured) {
  if (!BoostedTrees::available()) GTEST_SKIP() << "built without XGBoost";
  // Two devices of opposite taste: one likes wide vectors, the other hates them.
  const auto likes = [](double sign) {
    return [sign](const Schedule& s, int) { return timed_outcome(1e-3 * std::exp(sign * std::log2(s.vec))); };
  };
  const std::string wide = model_of(likes(-1), "wide"), narrow = model_of(likes(+1), "narrow");
  answer_ = [](const Schedule&, int) { return timed_outcome(1e-3); };
  const auto with_wide = measured_with(wide), with_narrow = measured_with(narrow),
             without = measured_with("");
  EXPECT_NE(with_wide, with_narrow);
  EXPECT_NE(with_wide, without);
  EXPECT_EQ(with_wide, measured_with(wide));
  // The first proposal behind the default is what the model takes for the fastest.
  EXPECT_GT(parse_schedule(with_wide.at(1)).vec, parse_schedule(with_narrow.at(1)).vec);
}

TEST_F(Training, AnUnusableModelStopsTheRunBeforeItStarts) {
  options_.model_path = directory_.file("none.model");
  EXPECT_THAT(message_of([&] { run(); }), HasSubstr("none.model"));
  EXPECT_TRUE(evaluated_.empty());
}

}  // namespace
}  // namespace redtune
