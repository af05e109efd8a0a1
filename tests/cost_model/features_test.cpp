#include "cost_model/features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "space/search_space.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

std::vector<Schedule> all_of(const SearchSpace& space, std::size_t stride = 1) {
  std::vector<Schedule> schedules;
  for (std::size_t i = 0; i < space.size(); i += stride) schedules.push_back(space.at(i));
  return schedules;
}

std::vector<Task> tasks() {
  std::vector<Task> result;
  for (const char* target : {"cpu", "sm_75", "sm_80", "sm_90", "sm_100"}) {
    result.push_back(task_of("1024x1024", "1", target));
    result.push_back(task_of("4096x67", "0", target, "max", "f16"));
    result.push_back(task_of("1048576", "", target, "sum", "i32"));
    result.push_back(task_of("8x33x16x7", "0,2", target, "prod", "f64"));
    result.push_back(task_of("64x1027", "1", target, "max", "i32"));
    result.push_back(task_of("1", "", target));
  }
  return result;
}

double feature(const Task& task, const Schedule& schedule, std::string_view name) {
  const std::vector<float> row = feature_matrix(task, {&schedule, 1});
  for (std::size_t i = 0; i < features().size(); ++i) {
    if (features()[i].name == name) return row[i];
  }
  ADD_FAILURE() << "no feature " << name;
  return 0;
}

TEST(Features, TheTableIsComplete) {
  std::set<std::string_view> names;
  for (const Feature& feature : features()) {
    EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
    EXPECT_FALSE(feature.unit.empty()) << feature.name;
    EXPECT_TRUE(feature.summary.ends_with(".")) << feature.name;
  }
}

TEST(Features, AreFiniteForEveryScheduleAndTask) {
  for (const Task& task : tasks()) {
    const std::vector<Schedule> schedules = all_of(SearchSpace(task), 7);
    const std::vector<float> matrix = feature_matrix(task, schedules);
    ASSERT_EQ(matrix.size(), schedules.size() * features().size());
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      ASSERT_TRUE(std::isfinite(matrix[i]))
          << features()[i % features().size()].name << " of " << schedules[i / features().size()].text();
    }
  }
}

TEST(Features, EachVariesSomewhere) {
  std::vector<std::set<float>> values(features().size());
  for (const Task& task : tasks()) {
    const std::vector<float> matrix = feature_matrix(task, all_of(SearchSpace(task), 3));
    for (std::size_t i = 0; i < matrix.size(); ++i) values[i % values.size()].insert(matrix[i]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_GT(values[i].size(), 1u) << features()[i].name;
}

TEST(Features, SayWhatTheyMean) {
  const Task task = task_of("1024x1024", "1", "sm_80");
  const Schedule s = parse_schedule("block=tree grid=atomic rx=64 px=2 vec=4 items=2 split=8 walk=strided");
  EXPECT_NEAR(feature(task, s, "input_bytes"), 22, 1e-3);  // 4 MiB
  EXPECT_NEAR(feature(task, s, "threads"), std::log2(129), 1e-5);
  EXPECT_NEAR(feature(task, s, "atomics_per_output"), std::log2(9), 1e-5);
  EXPECT_NEAR(feature(task, s, "atomics"), std::log2(1 + 8 * 1024), 1e-5);
  EXPECT_EQ(feature(task, s, "launches"), 2);
  EXPECT_EQ(feature(task, s, "coalescing"), 1);
  EXPECT_EQ(feature(task, s, "block_tree"), 1);
  EXPECT_EQ(feature(task, s, "grid_last_block"), 0);
}

TEST(Features, AnotherOrderWouldBeAnotherSchema) {
  EXPECT_EQ(feature_schema(), feature_schema());
  EXPECT_EQ(feature_schema().size(), 16u);
}

}  // namespace
}  // namespace redtune
