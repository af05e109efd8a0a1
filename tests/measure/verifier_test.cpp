// The verifier on the best device that is present: right schedules pass on every input, and each way of being
// wrong is found and blamed on the schedule that did it.
#include "measure/verifier.h"

#include "space/search_space.h"
#include "tests/measure/device_fixture.h"

namespace redtune {
namespace {

using testing::HasSubstr;

class VerifierTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    task_ = make_task(operator_from_short_form({"max", "9x33", "1", "f32", "", "", false}), device_.target);
    const SearchSpace space(task_);
    for (std::size_t i = 0; i < 5; ++i) schedules_.push_back(space.at(i * space.size() / 5));
    options_.optimize = false;
    options_.jobs = 1;
  }

  std::map<std::size_t, ScheduleVerdict> verify() {
    std::map<std::size_t, ScheduleVerdict> verdicts;
    Verifier verifier(device_, options_);
    verifier.verify(task_, schedules_, [&](const ScheduleVerdict& verdict) {
      EXPECT_FALSE(verdicts.contains(verdict.index)) << "two verdicts for " << verdict.index;
      verdicts[verdict.index] = verdict;
    });
    EXPECT_EQ(verdicts.size(), schedules_.size());
    return verdicts;
  }

  VerifyOptions options_;
  std::vector<Schedule> schedules_;
};

TEST_F(VerifierTest, RightSchedulesPassOnEveryPattern) {
  for (const auto& [index, verdict] : verify()) {
    EXPECT_FALSE(verdict.failure) << verdict.detail;
    EXPECT_EQ(verdict.runs, static_cast<std::int64_t>(pattern_inputs(task_.op, 1).size()));
    EXPECT_LE(verdict.max_error, 1);
  }
}

TEST_F(VerifierTest, OneVerifierServesManyTasks) {
  Verifier verifier(device_, options_);
  for (const char* shape : {"9x33", "5x17", "1x3"}) {
    const Task task =
        make_task(operator_from_short_form({"sum", shape, "1", "f32", "", "", false}), device_.target);
    const SearchSpace space(task);
    const std::vector<Schedule> schedules{space.at(0), space.at(space.size() - 1)};
    std::size_t answered = 0;
    verifier.verify(task, schedules, [&](const ScheduleVerdict& verdict) {
      ++answered;
      EXPECT_FALSE(verdict.failure) << shape << ": " << verdict.detail;
    });
    EXPECT_EQ(answered, schedules.size());
  }
}

// The third program misbehaves; alone in its build, so that the number names it.
TEST_F(VerifierTest, EveryKindOfFaultIsFoundAndBlamedOnItsSchedule) {
  struct Row {
    const char *fault, *detail;
    OutcomeKind kind;
  };
  constexpr Row kRows[] = {
      {"skip_last@3", "reference", OutcomeKind::kWrongResult},
      {"nan@3", "reference", OutcomeKind::kWrongResult},
      {"early_return@3", "reference", OutcomeKind::kWrongResult},
      {"out_of_bounds@3", "wrote behind buffer", OutcomeKind::kWrongResult},
      {"crash@3", "signal 11", OutcomeKind::kCrashed},
      {"hang@3", "", OutcomeKind::kTimedOut},
  };
  options_.programs_per_build = 1;
  options_.run_deadline_seconds = 3;
  for (const Row& row : kRows) {
    options_.worker_fault = row.fault;
    for (const auto& [index, verdict] : verify()) {
      EXPECT_EQ(verdict.failure.has_value(), index == 2)
          << row.fault << " " << index << ": " << verdict.detail;
      if (index != 2) continue;
      EXPECT_EQ(verdict.failure, row.kind) << row.fault;
      EXPECT_THAT(verdict.detail, HasSubstr(row.detail));
      EXPECT_EQ(verdict.input, "random");
    }
  }
}

// Built together, a guard that breaks or a worker that dies says nothing of who it was: each is run alone.
TEST_F(VerifierTest, FaultsOfOneDoNotCondemnItsBuild) {
  for (const char* fault : {"out_of_bounds@1", "crash@1"}) {
    options_.worker_fault = fault;
    options_.programs_per_build = 5;
    for (const auto& [index, verdict] : verify()) {
      EXPECT_EQ(verdict.failure.has_value(), index == 0) << fault << " " << index << ": " << verdict.detail;
    }
  }
}

TEST_F(VerifierTest, RejectsWhatTheDeviceCannotRun) {
  task_ = make_task(operator_from_short_form({"sum", "64x64", "1", "f32", "", "", false}), device_.target);
  schedules_ = {parse_schedule("block=tree rx=65536")};
  const ScheduleVerdict verdict = verify().at(0);
  ASSERT_TRUE(verdict.failure);
  EXPECT_NE(*verdict.failure, OutcomeKind::kTimed);
  EXPECT_EQ(verdict.runs, 0);
}

TEST_F(VerifierTest, EmptyOutputsNeedNoLaunch) {
  task_ = make_task(operator_from_short_form({"sum", "0x4", "1", "f32", "", "", false}), device_.target);
  schedules_ = {Schedule{}};
  EXPECT_FALSE(verify().at(0).failure);
}

TEST_F(VerifierTest, OclgrindSeesWhatAnswersDoNotShow) {
  options_.watch = Watch::kRaces;
  try {
    Verifier(device_, options_);
  } catch (const UserError& absent) {
    GTEST_SKIP() << absent.what();
  }
  for (const auto& [index, verdict] : verify()) EXPECT_FALSE(verdict.failure) << verdict.detail;
}

}  // namespace
}  // namespace redtune
