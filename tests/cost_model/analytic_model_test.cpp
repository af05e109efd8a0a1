#include "cost_model/analytic_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "space/heuristic.h"
#include "space/search_space.h"
#include "tests/space/task_builder.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

AnalyticTime time_of(const Task& task, const std::string& schedule) {
  const TaskFacts facts(task);
  return analytic_time(facts, ScheduleFacts(facts, parse_schedule(schedule)));
}

TEST(AnalyticModel, TimesArePositiveAndTheTermsAddUp) {
  for (const char* target : {"cpu", "sm_80", "sm_90"}) {
    const Task task = task_of("4096x512", "0", target);
    const SearchSpace space(task);
    const TaskFacts facts(task);
    for (std::size_t i = 0; i < space.size(); i += 11) {
      const AnalyticTime t = analytic_time(facts, ScheduleFacts(facts, space.at(i)));
      EXPECT_GT(t.total, 0) << space.at(i).text();
      EXPECT_GE(t.total * (1 + 1e-12),
                t.launches + t.fill + std::max({t.memory, t.compute, t.atomics}) + t.combine);
    }
  }
}

TEST(AnalyticModel, NeverBeatsTheMemory) {
  const Task task = task_of("16777216", "", "sm_80");  // 64 MiB: more than the cache
  const SearchSpace space(task);
  const double least = task.compulsory_bytes() / task.target.memory_bytes_per_second;
  for (float log_time :
       analytic_log_times(task, {space.at(0), space.at(space.size() / 2), space.at(space.size() - 1)})) {
    EXPECT_GE(std::exp(log_time), least * 0.999);
  }
}

TEST(AnalyticModel, KnowsWhatIsExpensive) {
  const Task all = task_of("16777216", "", "sm_80");
  // Few blocks cannot fill the memory.
  EXPECT_GT(time_of(all, "block=tree grid=second_kernel rx=256 vec=4 split=4").total,
            2 * time_of(all, "block=tree grid=second_kernel rx=256 vec=4 split=512").total);
  // An atomic per thread on one address waits in line; an atomic per block hardly does.
  EXPECT_GT(time_of(all, "block=none grid=atomic rx=256 vec=4 split=512").contention,
            100 * time_of(all, "block=tree grid=atomic rx=256 vec=4 split=512").contention);
  // Columns read across memory waste its sectors; threads and blocks are the same in number.
  const Task columns = task_of("65536x256", "0", "sm_80");
  EXPECT_GT(time_of(columns, "block=tree rx=128 px=1").memory,
            4 * time_of(columns, "block=tree grid=second_kernel rx=4 px=32 split=32").memory);
  // A CPU adds vectors, and several at a time.
  const Task row = task_of("1024x4096", "1", "cpu");
  EXPECT_GT(time_of(row, "vec=1").compute, 10 * time_of(row, "vec=16").compute);
  EXPECT_GT(time_of(row, "vec=16").compute, 2 * time_of(row, "vec=16 items=4 acc=4").compute);
}

// What it takes for the fastest of a large input must keep the device busy: idle units read nothing.
TEST(AnalyticModel, FillsTheUnitsOfAGpu) {
  for (const char* target : {"sm_80", "sm_90"}) {
    for (const auto& [shape, axes] : {std::pair("768x21128", "1"), std::pair("1024x32768", "1"), std::pair("4096x4096", "1"),
                                      std::pair("21128x768", "0"), std::pair("67108864", "")}) {
      const Task task = task_of(shape, axes, target);
      const SearchSpace space(task);
      std::vector<Schedule> schedules;
      for (std::size_t i = 0; i < space.size(); ++i) schedules.push_back(space.at(i));
      const std::vector<float> times = analytic_log_times(task, schedules);
      const auto best = static_cast<std::size_t>(std::min_element(times.begin(), times.end()) - times.begin());
      const TaskFacts facts(task);
      EXPECT_GE(ScheduleFacts(facts, schedules[best]).blocks, task.target.units / 2)
          << shape << " on " << target << ": " << schedules[best].text();
    }
  }
}

TEST(AnalyticModel, TakesFewSchedulesForClearlyFasterThanTheDefault) {
  for (const char* target : {"cpu", "sm_80", "sm_90"}) {
    for (const auto& [shape, axes] :
         {std::pair("4096x1024", "1"), std::pair("32768x1024", "0"), std::pair("16777216", "")}) {
      const Task task = task_of(shape, axes, target);
      const SearchSpace space(task);
      std::vector<Schedule> schedules;
      for (std::size_t i = 0; i < space.size(); i += 5) schedules.push_back(space.at(i));
      const float ours = analytic_log_times(task, {default_schedule(task)}).front();
      std::size_t faster = 0;
      for (float other : analytic_log_times(task, schedules)) faster += other < ours - 0.1f ? 1 : 0;
      EXPECT_LT(static_cast<double>(faster) / static_cast<double>(schedules.size()), 0.35)
          << shape << " on " << target;
    }
  }
}

TEST(TargetCosts, OfEveryShippedTarget) {
  for (const std::string& name : known_targets())
    EXPECT_GT(costs_of(load_target(name)).launch_seconds, 0) << name;
}

TEST(TargetCosts, OfTheNearestForOthers) {
  Target other = load_target("sm_80");
  other.name = "sm_86";
  other.compute_capability = 86;
  EXPECT_GT(costs_of(other).launch_seconds, 0);
  other.compute_capability = 60;
  EXPECT_GT(costs_of(other).launch_seconds, 0);
}

TEST(TargetCosts, NameFileAndField) {
  const Json json = {{"costs", {{"launch_seconds", -1}}}};
  EXPECT_EQ(message_of([&] { parse_target_costs(json, "x.json"); }),
            "x.json: field 'costs.launch_seconds' must be above 0");
  EXPECT_THAT(message_of([&] { parse_target_costs(Json::object(), "x.json"); }),
              testing::HasSubstr("field 'costs' is missing"));
}

}  // namespace
}  // namespace redtune
