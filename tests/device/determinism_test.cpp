// What run_to_run promises: the config that was saved gives the same bits in every run.
#include <gtest/gtest.h>

#include <set>

#include "codegen/codegen.h"
#include "configs/config_store.h"
#include "measure/measuring_session.h"
#include "space/mappings.h"
#include "support/error.h"
#include "tests/support/temporary_directory.h"
#include "tuner/verification.h"

namespace redtune {
namespace {

constexpr int kRuns = 100;

Operator repeatable_sum() {
  Operator op = operator_from_short_form({"sum", "100003", "", "f32", "", "", false});
  op.determinism = Determinism::kRunToRun;
  return op;
}

/// Numbers whose sum depends on the order of adding them, unlike those that tuning measures on.
std::vector<unsigned char> order_matters(const Operator& op) {
  Operator max = op;
  max.statements[0].op = ReduceOp::kMax;  // its data is uniform in [-1, 1)
  return make_input(max, 1);
}

std::set<std::vector<unsigned char>> outputs_of_runs(const DeviceInfo& device, const Task& task,
                                                     const Schedule& schedule) {
  MeasureOptions options;
  options.cold = false;
  MeasuringSession session(device, task, options, [&] { return order_matters(task.op); });
  const Candidate candidate{schedule, generate(task, schedule)};
  std::set<std::vector<unsigned char>> outputs;
  for (int run = 0; run < kRuns; ++run) {
    const Outcome outcome = session.check(candidate, run + 1, nullptr);
    EXPECT_TRUE(outcome.timed()) << outcome.detail;
    outputs.insert(session.output());
    if (testing::Test::HasFailure()) break;
  }
  return outputs;
}

/// The schedule as a program finds it that comes later: out of a store on disk.
Schedule saved_and_found(const DeviceInfo& device, const Task& task, const Schedule& schedule) {
  const TemporaryDirectory directory;
  const Program program = generate(task, schedule);
  Config config;
  config.op = task.op;
  config.determinism = determinism_of(task, schedule);
  config.device = device.name;
  config.driver = device.driver;
  config.target = task.target.name;
  config.schedule = config.default_schedule = schedule;
  config.seconds = config.low_seconds = config.high_seconds = config.default_seconds = 1;
  config.launches = program.launches;
  config.buffers = program.buffers;
  config.program_hash = config.log_hash = std::string(16, '0');
  config.time = "2000-01-01T00:00:00Z";
  config.version = "0";
  ConfigStore(directory.path()).put(config);
  const std::optional<Config> found = ConfigStore(directory.path()).find(task.op, device.name);
  EXPECT_TRUE(found && found->determinism == Determinism::kRunToRun);
  return found ? found->schedule : Schedule{};
}

TEST(RunToRun, SpaceHasNoScheduleThatIsNot) {
  const Task task = make_task(repeatable_sum(), load_target("cpu"));
  const SearchSpace space(task);
  ASSERT_GT(space.size(), 0u);
  for (std::size_t i = 0; i < space.size(); ++i) {
    ASSERT_EQ(determinism_of(task, space.at(i)), Determinism::kRunToRun) << space.at(i).text();
  }
}

// One mapping of each grid combine that is left, saved and read back.
TEST(RunToRun, SavedConfigGivesTheSameBitsInEveryRun) {
  const std::vector<DeviceInfo> devices = list_devices();
  if (devices.empty()) GTEST_SKIP() << "no device to run it on";
  const DeviceInfo& device = devices.front();
  const Task task = make_task(repeatable_sum(), device.target);
  const SearchSpace space(task);
  Rng rng(5);
  std::set<GridCombine> done;
  for (const Schedule& schedule : schedules_by_mapping(space, 1, rng)) {
    if (schedule.split == 1 && schedule.grid != GridCombine::kNone) continue;
    if (!done.insert(schedule.grid).second) continue;
    SCOPED_TRACE(schedule.text());
    const Schedule saved = saved_and_found(device, task, schedule);
    ASSERT_TRUE(space.find(saved));
    EXPECT_EQ(outputs_of_runs(device, task, saved).size(), 1u);
  }
  EXPECT_GE(done.size(), 3u);
}

}  // namespace
}  // namespace redtune
