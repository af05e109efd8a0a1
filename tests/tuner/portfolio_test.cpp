// Portfolios on a fake device: row sums of a few small matrices, times by a formula.
#include "tuner/portfolio/portfolio.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "configs/config_index.h"
#include "logs/log.h"
#include "space/heuristic.h"
#include "support/files.h"
#include "support/hash.h"
#include "tests/support/fake_evaluator.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"
#include "tuner/portfolio/cross_measure.h"
#include "tuner/portfolio/leave_out.h"
#include "tuner/portfolio/time_table.h"
#include "tuner/trials.h"

namespace redtune {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

Operator rows_of(const std::string& shape, const std::string& op = "sum") {
  return operator_from_short_form({op, shape, "1", "f32", "", "", false});
}

class PortfolioTest : public testing::Test {
 protected:
  PortfolioTest() {
    options_.name = "test";
    options_.kernels = 2;
    options_.directory = directory_.file("logs");
    options_.tuning.max_trials = 12;
    options_.tuning.batch = 4;
    options_.tuning.config_directory = directory_.file("configs");
    parts_.make_evaluator = [this](const Task& task) {
      ++evaluators_;
      const std::vector<std::int64_t> shape = task.op.input().shape;
      return std::make_unique<FakeEvaluator>(
          [this, shape](const Schedule& schedule, int) {
            return fails_ && fails_(schedule, shape) ? failed_outcome(OutcomeKind::kCrashed, "signal 11")
                                                     : timed_outcome(seconds_of(schedule, shape));
          },
          &evaluated_);
    };
    parts_.generate = [](const Task& task, const Schedule& schedule) {
      GeneratedProgram result;
      result.program.text = "kernel rt_main of " + schedule.text() + " for " + task.op.key();
      result.program.buffers = {{"x", BufferKind::kInput, DType::kF32, task.op.input().storage_elements()},
                                {"y", BufferKind::kOutput, DType::kF32, task.op.output().elements()}};
      result.program.launches = {{"rt_main", {1, 1, 1}, {1, 1, 1}, 0, {0, 1}}};
      result.hash = hex64(hash64(result.program.text));
      return result;
    };
  }

  // Wide vectors pay on long rows only; the rest is a little noise that tells schedules apart.
  static double seconds_of(const Schedule& schedule, const std::vector<std::int64_t>& shape) {
    const bool long_rows = shape[1] >= 1024;
    const double fit = std::abs(std::log2(schedule.vec) - (long_rows ? 4 : 0));
    const double noise = static_cast<double>(hash64(schedule.text()) % 1000) * 1e-5;
    return 1e-6 * static_cast<double>(shape[0] * shape[1]) * (1 + 0.3 * fit + noise);
  }

  ShapeGroup group(const std::vector<std::string>& shapes) const {
    std::vector<Operator> operators;
    for (const std::string& shape : shapes) operators.push_back(rows_of(shape));
    return group_by_kind(operators).at(0);
  }
  std::optional<Portfolio> measure(const ShapeGroup& shapes) {
    return measure_portfolio(
        shapes, device_, options_, parts_,
        {.starting = [](const std::string&, const Operator&, std::size_t, std::size_t) {}, .progress = {}},
        stop_);
  }
  // A record as a run would have written it.
  Record record(const Task& task, const Schedule& schedule, double seconds) const {
    return {trial_key(task, device_, {}), schedule, timed_outcome(seconds),
            parts_.generate(task, schedule).hash, utc_now()};
  }

  TemporaryDirectory directory_;
  DeviceInfo device_{"fake:0", "fake device", "1.0", load_target("cpu")};
  PortfolioOptions options_;
  TuningParts parts_;
  std::function<bool(const Schedule&, const std::vector<std::int64_t>&)> fails_;
  std::vector<std::string> evaluated_;
  std::atomic<bool> stop_{false};
  int evaluators_ = 0;
};

TEST_F(PortfolioTest, OperatorsAreGroupedByWhatSizesDoNotTell) {
  const std::vector<ShapeGroup> groups =
      group_by_kind({rows_of("64x256"), rows_of("64x256", "max"), rows_of("32x512"), rows_of("64x256")});
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_THAT(groups[0].shapes, SizeIs(2));
  EXPECT_THAT(groups[1].shapes, SizeIs(1));
  EXPECT_THAT(message_of([] {
                group_by_kind({operator_from_short_form({"sum", "8x8", "1", "f32", "", "9x1", false})});
              }),
              HasSubstr("gaps or an offset"));
}

TEST_F(PortfolioTest, MeasuresEveryCandidateOnEveryShapeAndServesBoth) {
  const std::optional<Portfolio> portfolio = measure(group({"64x64", "64x4096", "32x2048"}));
  ASSERT_TRUE(portfolio);
  const TimeTable& table = portfolio->table;
  ASSERT_THAT(table.shapes, SizeIs(3));
  for (const auto& row : table.cells) {
    for (const TimeCell& cell : row) EXPECT_NE(cell.state, CellState::kUnmeasured);
  }
  EXPECT_TRUE(portfolio->selection.exhaustive);
  EXPECT_EQ(portfolio->selection.uncovered, 0u);
  EXPECT_LT(portfolio->selection.worst, 0.3);
  EXPECT_TRUE(std::is_sorted(
      table.candidates.begin(), table.candidates.end(),
      [](const auto& a, const auto& b) { return simplicity(a.schedule) < simplicity(b.schedule); }));
  // The same call finds everything on disk.
  const int before = evaluators_;
  const std::optional<Portfolio> again = measure(group({"64x64", "64x4096", "32x2048"}));
  EXPECT_EQ(evaluators_, before);
  EXPECT_EQ(again->selection.members, portfolio->selection.members);
  EXPECT_EQ(again->selection.worst, portfolio->selection.worst);
}

TEST_F(PortfolioTest, WritesEntriesThatALookupServesFrom) {
  const std::optional<Portfolio> portfolio = measure(group({"64x64", "64x4096", "32x2048"}));
  ASSERT_TRUE(portfolio);
  const std::string store = directory_.file("configs");
  const std::vector<Config> configs = portfolio_configs(*portfolio, "test", store, parts_);
  ASSERT_EQ(configs.size(), portfolio->selection.members.size());
  std::size_t served = 0;
  for (const Config& config : configs) {
    EXPECT_EQ(config.range->text(), "32..64 x 64..4096");
    served += config.range->shapes.size();
    EXPECT_TRUE(config.kernel);
    EXPECT_GT(config.default_seconds, 0);
  }
  EXPECT_EQ(served, 3u);
  ConfigStore(store).put_portfolio(configs);
  const ConfigIndex index = ConfigIndex::load(store);
  const Answer inside = index.find(rows_of("48x3000"), device_.name);
  EXPECT_EQ(inside.grade, Grade::kInRange);
  EXPECT_TRUE(inside.regret);
  EXPECT_EQ(index.find(rows_of("48x5000"), device_.name).grade, Grade::kNearest);
  // Each shape has its own best too, which the search wrote.
  EXPECT_EQ(index.find(rows_of("64x64"), device_.name).grade, Grade::kExact);
}

TEST_F(PortfolioTest, WhatFailsOnAShapeDoesNotServeIt) {
  fails_ = [](const Schedule& schedule, const std::vector<std::int64_t>& shape) {
    return shape[1] == 64 && schedule.vec > 4;
  };
  options_.kernels = 1;
  const std::optional<Portfolio> portfolio = measure(group({"64x64", "64x4096"}));
  ASSERT_TRUE(portfolio);
  EXPECT_EQ(portfolio->selection.uncovered, 0u);
  EXPECT_LE(portfolio->table.candidates[portfolio->selection.members.at(0)].schedule.vec, 4);
}

TEST_F(PortfolioTest, AShapeThatCannotBeTunedIsLeftOut) {
  fails_ = [](const Schedule&, const std::vector<std::int64_t>& shape) { return shape[0] == 32; };
  const std::optional<Portfolio> portfolio = measure(group({"64x64", "32x64"}));
  ASSERT_TRUE(portfolio);
  EXPECT_THAT(portfolio->table.shapes, SizeIs(1));
  ASSERT_THAT(portfolio->left_out, SizeIs(1));
  EXPECT_THAT(portfolio->left_out[0], HasSubstr("[32,64]"));
  fails_ = [](const Schedule&, const std::vector<std::int64_t>&) { return true; };
  EXPECT_THROW(measure(group({"8x64"})), NoValidSchedule);
}

TEST_F(PortfolioTest, AStopKeepsWhatWasMeasured) {
  stop_ = true;
  EXPECT_FALSE(measure(group({"64x64"})));
  stop_ = false;
  EXPECT_TRUE(measure(group({"64x64"})));
}

TEST_F(PortfolioTest, RoundsAreTakenInTurnsAndWhatIsClearlySlowerGetsOne) {
  const Task task = make_task(rows_of("64x4096"), device_.target);
  const std::vector<Schedule> schedules{parse_schedule("vec=16"), parse_schedule("vec=16 acc=2 items=2"),
                                        parse_schedule("vec=1")};
  CrossOptions options{3, directory_.file("cross.jsonl"), {}};
  const std::vector<Record> records = cross_measure(task, device_, schedules, options, parts_, {}, stop_);
  const auto count = [&](const Schedule& s) {
    return std::count_if(records.begin(), records.end(), [&](const Record& r) { return r.schedule == s; });
  };
  EXPECT_EQ(count(schedules[0]), 3);
  EXPECT_EQ(count(schedules[1]), 3);
  EXPECT_EQ(count(schedules[2]), 1);
  EXPECT_EQ(count(default_schedule(task)), 3);
  EXPECT_NE(records[0].schedule, records[1].schedule);
  // A log that lost its tail is completed, nothing is repeated.
  evaluated_.clear();
  EXPECT_EQ(cross_measure(task, device_, schedules, options, parts_, {}, stop_).size(), records.size());
  EXPECT_TRUE(evaluated_.empty());
  options.rounds = 4;
  EXPECT_GT(cross_measure(task, device_, schedules, options, parts_, {}, stop_).size(), records.size());
  // Another kernel text: its times are no times of this one.
  const auto generate = parts_.generate;
  parts_.generate = [&](const Task& t, const Schedule& s) {
    GeneratedProgram program = generate(t, s);
    program.hash = hex64(hash64(program.hash));
    return program;
  };
  EXPECT_EQ(count(schedules[0]), 3);
  options.rounds = 1;
  const std::size_t fresh = cross_measure(task, device_, schedules, options, parts_, {}, stop_).size();
  EXPECT_EQ(fresh,
            default_schedule(task) == schedules[0] || default_schedule(task) == schedules[1] ? 3u : 4u);
}

TEST_F(PortfolioTest, RecordsAloneServeOnlyWhereTheyWereMeasured) {
  const Task wide = make_task(rows_of("64x4096"), device_.target),
             narrow = make_task(rows_of("64x64"), device_.target);
  const Schedule both = parse_schedule("vec=4"), one = parse_schedule("vec=16");
  std::vector<MeasuredShape> shapes;
  shapes.push_back(measured_shape(wide, device_, {record(wide, both, 2e-3), record(wide, one, 1e-3)}));
  shapes.push_back(measured_shape(narrow, device_, {record(narrow, both, 1e-4)}));
  const std::vector<std::vector<Schedule>> candidates{best_schedules(shapes[0].result, 2),
                                                      best_schedules(shapes[1].result, 2)};
  const Portfolio single = choose_portfolio("kind", shapes, candidates, 1);
  EXPECT_EQ(single.table.candidates[single.selection.members.at(0)].schedule, both);
  EXPECT_DOUBLE_EQ(single.selection.worst, 1);
  const Portfolio two = choose_portfolio("kind", shapes, candidates, 2);
  EXPECT_DOUBLE_EQ(two.selection.worst, 0);
  for (std::size_t member : two.selection.members) {
    const bool everywhere = two.table.candidates[member].schedule == both;
    EXPECT_EQ(two.table.cells[1][member].state, everywhere ? CellState::kTimed : CellState::kUnmeasured);
  }
}

TEST_F(PortfolioTest, TimesOfAnOlderKernelTextAreForgotten) {
  const Task task = make_task(rows_of("64x64"), device_.target);
  const Schedule schedule = parse_schedule("vec=4");
  Record old = record(task, schedule, 1e-6);
  old.program_hash = "0000000000000000";
  const MeasuredShape shape = measured_shape(task, device_, {old, record(task, schedule, 2e-6)});
  EXPECT_THAT(shape.records, SizeIs(1));
  EXPECT_DOUBLE_EQ(shape.result.trials.at(0).outcome.median_seconds, 2e-6);
  // What this redtune no longer makes is not written into a store.
  const Portfolio stale = choose_portfolio("kind", {measured_shape(task, device_, {old})}, {{schedule}}, 1);
  EXPECT_THAT(message_of([&] { portfolio_configs(stale, "test", directory_.file("configs"), parts_); }),
              HasSubstr("makes another kernel"));
}

TEST_F(PortfolioTest, ALeftOutShapeIsServedByTheOthersAlone) {
  const std::optional<Portfolio> portfolio = measure(group({"64x2048", "64x4096", "64x8192", "64x64"}));
  ASSERT_TRUE(portfolio);
  const std::vector<LeftOutShape> rows = leave_each_out(portfolio->table, 2);
  ASSERT_THAT(rows, SizeIs(4));
  EXPECT_TRUE(rows[0].inside);  // between 64 and 4096
  EXPECT_TRUE(rows[1].inside);
  EXPECT_FALSE(rows[2].inside);
  EXPECT_FALSE(rows[3].inside);
  EXPECT_LT(rows[1].nearest.regret.value(), 0.02);
  // Nobody else has short rows: what is best elsewhere loses there.
  EXPECT_GT(rows[3].nearest.regret.value(), 0.2);
  const LossSummary summary = summary_of(rows, &LeftOutShape::nearest);
  EXPECT_EQ(summary.count, 4u);
  EXPECT_EQ(summary.missing, 0u);
  EXPECT_LE(summary.median, summary.worst);
  EXPECT_THAT(leave_each_out(measure(group({"64x64"}))->table, 2), SizeIs(0));
}

TEST_F(PortfolioTest, LogsAreReadByKindAndOfOneDevice) {
  measure(group({"64x64", "64x4096"}));
  std::vector<std::string> logs;
  for (const char* name : {"sum-f32-64-64-axes-1-f32.cross.jsonl", "sum-f32-64-4096-axes-1-f32.cross.jsonl"})
    logs.push_back(options_.directory + "/" + name);
  const RecordedShapes all = read_recorded_shapes(logs, {}, "");
  ASSERT_THAT(all.kinds, SizeIs(1));
  EXPECT_THAT(all.kinds[0].second, SizeIs(2));
  EXPECT_EQ(all.device, "fake device");
  EXPECT_EQ(all.kinds[0].second[0].result.device.driver, "1.0");
  EXPECT_THAT(read_recorded_shapes(logs, {rows_of("64x64")}, "fake").kinds[0].second, SizeIs(1));
  EXPECT_THROW(read_recorded_shapes(logs, {rows_of("64x65")}, ""), NoValidSchedule);
  EXPECT_THROW(read_recorded_shapes(logs, {}, "another"), NoValidSchedule);
  device_.name = "other device";
  measure(group({"64x64"}));
  EXPECT_THAT(message_of([&] { read_recorded_shapes(logs, {}, ""); }),
              HasSubstr("several devices or clocks"));
  EXPECT_EQ(read_recorded_shapes(logs, {}, "other").kinds[0].second.size(), 1u);
}

}  // namespace
}  // namespace redtune
