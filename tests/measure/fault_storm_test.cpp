// Many faults of every kind in one run: no record is lost, the winner is right, nothing is left behind.
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "codegen/codegen.h"
#include "space/heuristic.h"
#include "tests/measure/fake_cuda_fixture.h"
#include "tests/measure/fake_faults.h"
#include "tests/support/worker_list.h"
#include "tuner/tuning.h"

namespace redtune {
namespace {

double resident_megabytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

OutcomeKind end_of(FakeFault fault) {
  for (const FaultEnd& end : kFaultEnds) {
    if (end.fault == fault) return end.kind;
  }
  return OutcomeKind::kTimed;
}

class FaultStorm : public FakeCuda {
 protected:
  TuneOptions tune_options(std::size_t trials) {
    TuneOptions options;
    options.strategy = "random";
    options.max_trials = trials;
    options.log_path = files_.file("log.jsonl");
    options.config_directory = files_.file("configs");
    options.batch = 32;
    options.measure = options_;
    options.measure.deadline_floor_seconds = 0.5;
    options.measure.max_samples = 5;
    options.measure.compile_jobs = 2;
    return options;
  }

  // A fault by default would leave nothing to compare with: the salt in the operator's name is not in the
  // text, so the rows are chosen until the default is good.
  static Operator operator_with_good_default(const Target& target) {
    for (int rows = 32; rows < 64; ++rows) {
      Operator op =
          operator_from_short_form({"sum", std::to_string(rows) + "x1024", "1", "f32", "", "", false});
      const Task task = make_task(op, target);
      const std::string text = full_text(generate(task, default_schedule(task)), TargetKind::kCuda);
      if (planned_fault(text) == FakeFault::kNone) return op;
    }
    ADD_FAILURE() << "no shape with a good default";
    return {};
  }

  TemporaryDirectory files_;
};

TEST_F(FaultStorm, NothingIsLostAndTheWinnerIsRight) {
  const char* const nightly = std::getenv("REDTUNE_MANY_FAULTS");
  const std::size_t trials = nightly != nullptr ? 1700 : 300;
  settings("share=60");
  const DeviceInfo fake = device();
  const Operator op = operator_with_good_default(fake.target);
  settings("share=60;rows=" + std::to_string(op.input().shape[0]));
  const double before = resident_megabytes();
  double early = 0;
  const std::atomic<bool> stop{false};
  const TuneResult result = tune(
      op, fake, tune_options(trials),
      [&](const Progress& progress) {
        if (progress.done == trials / 10) early = resident_megabytes();
      },
      stop);
  const double after = resident_megabytes();

  std::map<FakeFault, int> faults;
  double fastest = 1;
  ASSERT_EQ(result.trials.size(), trials);
  for (const Trial& trial : result.trials) {
    const std::string text = full_text(generate(result.task, trial.schedule), TargetKind::kCuda);
    const FakeFault fault = planned_fault(text);
    ++faults[fault];
    EXPECT_EQ(name(trial.outcome.kind), name(end_of(fault)))
        << kFakeFaultNames[static_cast<std::size_t>(fault)] << ": " << trial.outcome.detail;
    if (trial.outcome.timed()) fastest = std::min(fastest, trial.outcome.median_seconds);
  }
  ASSERT_TRUE(result.best);
  const Trial& best = result.trials[*result.best];
  EXPECT_EQ(best.outcome.kind, OutcomeKind::kTimed);
  EXPECT_LE(best.outcome.median_seconds, 1.03 * fastest);
  EXPECT_EQ(faults.size(), kFakeFaultNames.size()) << "every kind has come";

  const LogContents log = read_log(files_.file("log.jsonl"));
  EXPECT_TRUE(log.warnings.empty());
  EXPECT_TRUE(log.unfinished.empty());
  EXPECT_GE(log.records.size(), trials);
  EXPECT_TRUE(workers().empty());
  const int injected = static_cast<int>(trials) - faults[FakeFault::kNone];
  std::cout << injected << " faults of " << faults.size() - 1 << " kinds in " << result.wall_seconds
            << " s; resident memory " << before << " MB before, " << early << " MB after a tenth, " << after
            << " MB at the end\n";
  EXPECT_LT(after - early, 32);
}

}  // namespace
}  // namespace redtune
