#include "cost_model/learned_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "cost_model/features.h"
#include "cost_model/ranking_metrics.h"
#include "space/search_space.h"
#include "support/files.h"
#include "tests/space/task_builder.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using testing::HasSubstr;

TEST(RankingMetrics, ByHand) {
  const std::vector<double> seconds{1, 2, 3, 3};
  EXPECT_EQ(pairwise_accuracy(std::vector<float>{1, 2, 3, 4}, seconds), 1);
  EXPECT_EQ(pairwise_accuracy(std::vector<float>{4, 3, 2, 1}, seconds), 0);
  EXPECT_EQ(pairwise_accuracy(std::vector<float>{0, 0, 0, 0}, seconds), 0.5);
  EXPECT_EQ(peak_at(1, std::vector<float>{4, 3, 2, 1}, seconds), 1.0 / 3);
  EXPECT_EQ(peak_at(3, std::vector<float>{4, 3, 2, 1}, seconds), 0.5);
  EXPECT_EQ(peak_at(9, std::vector<float>{4, 3, 2, 1}, seconds), 1);
}

// A made-up device whose taste is none of the analytic model's.
double made_up_seconds(const Schedule& s) {
  return 1e-5 * std::exp(0.4 * std::pow(std::log2(s.threads()) - 4, 2) + 0.3 * std::log2(s.vec) +
                         0.2 * std::log2(s.split));
}

class Learned : public testing::Test {
 protected:
  void SetUp() override {
    if (!BoostedTrees::available()) GTEST_SKIP() << "built without XGBoost";
  }

  static TaskSamples samples_of(const Task& task) {
    const SearchSpace space(task);
    std::vector<Schedule> schedules;
    TaskSamples samples{task.key(), {}, {}};
    for (std::size_t i = 0; i < space.size(); i += 1 + space.size() / 150) {
      schedules.push_back(space.at(i));
      samples.seconds.push_back(made_up_seconds(space.at(i)));
    }
    samples.features = feature_matrix(task, schedules);
    return samples;
  }

  static std::vector<TaskSamples> some_tasks() {
    std::vector<TaskSamples> samples;
    for (const char* shape : {"1024x1024", "64x4096", "4096x512", "128x128x64"}) {
      samples.push_back(samples_of(task_of(shape, "1", "sm_80")));
    }
    return samples;
  }

  TemporaryDirectory directory_;
};

TEST_F(Learned, RanksATaskThatItHasNotSeen) {
  const TaskSamples unseen = samples_of(task_of("512x2048", "1", "sm_80"));
  for (const Objective objective : {Objective::kRegression, Objective::kRanking}) {
    TreeOptions options;
    options.objective = objective;
    TrainingReport report;
    const LearnedModel model = LearnedModel::train(some_tasks(), options, &report);
    EXPECT_EQ(report.tasks, 4u);
    EXPECT_EQ(report.held_out, "1 of 4 tasks");
    EXPECT_GT(pairwise_accuracy(model.predict(unseen.features), unseen.seconds), 0.85) << name(objective);
  }
}

TEST_F(Learned, StopsOnRowsWhereThereAreFewTasks) {
  TrainingReport report;
  LearnedModel::train({samples_of(task_of("1024x1024", "1", "sm_80"))}, {}, &report);
  EXPECT_EQ(report.held_out, "a fifth of the rows");
  EXPECT_GT(report.held_out_accuracy, 0.8);
}

TEST_F(Learned, SameSeedSameModel) {
  const TaskSamples unseen = samples_of(task_of("512x2048", "1", "sm_80"));
  EXPECT_EQ(LearnedModel::train(some_tasks(), {}).predict(unseen.features),
            LearnedModel::train(some_tasks(), {}).predict(unseen.features));
}

TEST_F(Learned, NeedsTwoTimes) {
  TaskSamples one = samples_of(task_of("1024x1024", "1", "sm_80"));
  one.seconds.resize(1);
  one.features.resize(features().size());
  EXPECT_THAT(message_of([&] { LearnedModel::train({one}, {}); }), HasSubstr("nothing to learn from"));
}

TEST_F(Learned, ComesBackFromItsFile) {
  const LearnedModel model = LearnedModel::train(some_tasks(), {});
  const std::string path = directory_.file("x.model");
  model.save(path);
  const TaskSamples unseen = samples_of(task_of("512x2048", "1", "sm_80"));
  EXPECT_EQ(LearnedModel::load(path).predict(unseen.features), model.predict(unseen.features));
}

TEST_F(Learned, RefusesEveryOtherFile) {
  const std::string path = directory_.file("x.model");
  EXPECT_THAT(message_of([&] { LearnedModel::load(path); }), HasSubstr("cannot read " + path));
  LearnedModel::train(some_tasks(), {}).save(path);
  const std::string good = read_file(path);
  const auto complaint = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    return message_of([&] { LearnedModel::load(path); });
  };
  EXPECT_THAT(complaint(""), HasSubstr("is no model of redtune"));
  EXPECT_THAT(complaint("{\"op\": \"sum\"}\n"), HasSubstr("is no model of redtune"));
  std::string other = good;
  other.replace(other.find(feature_schema()), 4, "0000");
  EXPECT_THAT(complaint(other), HasSubstr("field 'features' is schema 0000"));
  other = good;
  other.replace(other.find(":1,"), 3, ":9,");
  EXPECT_THAT(complaint(other), HasSubstr("is version 9"));
  for (std::size_t size = good.find('\n') + 1; size < good.size(); size += 1 + good.size() / 13) {
    EXPECT_THAT(complaint(good.substr(0, size)), HasSubstr("is torn or was changed"));
  }
  other = good;
  other.back() = static_cast<char>(other.back() ^ 1);
  EXPECT_THAT(complaint(other), HasSubstr("is torn or was changed"));
}

TEST(Objective, NamesTheNearest) {
  EXPECT_THAT(message_of([] { parse_objective("rankin"); }), HasSubstr("did you mean 'ranking'?"));
}

}  // namespace
}  // namespace redtune
