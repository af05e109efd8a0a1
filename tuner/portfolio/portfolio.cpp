#include "tuner/portfolio/portfolio.h"

#include <algorithm>
#include <set>

#include "configs/operator_kind.h"
#include "space/operator_key.h"
#include "support/error.h"
#include "support/files.h"
#include "support/text.h"
#include "tuner/generating.h"
#include "tuner/portfolio/cross_measure.h"
#include "tuner/training.h"
#include "tuner/trials.h"

namespace redtune {
namespace {

// Why operators have no range_kind.
constexpr const char* kNoKind =
    ": its input has gaps or an offset, or it has statements of its own; a portfolio serves single reductions of dense "
    "inputs, which their sizes tell";

std::vector<Schedule> legal_ones(const Task& task, const std::vector<std::vector<Schedule>>& proposals) {
  std::vector<Schedule> legal;
  for (const std::vector<Schedule>& some : proposals) {
    for (const Schedule& schedule : some) {
      if (why_illegal(task, schedule).empty()) legal.push_back(schedule);
    }
  }
  return legal;
}

ServedRange range_of(const TimeTable& table, const std::string& name) {
  ServedRange range;
  range.portfolio = name;
  range.low = range.high = table.shapes.front().extents;
  for (const MeasuredShape& shape : table.shapes) {
    for (std::size_t axis = 0; axis < range.low.size(); ++axis) {
      range.low[axis] = std::min(range.low[axis], shape.extents[axis]);
      range.high[axis] = std::max(range.high[axis], shape.extents[axis]);
    }
  }
  return range;
}

// An entry at shape `home`, as a run would write it that had tried the default and this schedule.
Config member_config(const MeasuredShape& home, const Schedule& schedule, const std::string& store,
                     const TuningParts& parts) {
  TuneResult result;
  result.task = home.task();
  result.device = home.result.device;
  result.default_schedule = home.result.default_schedule;
  TrialBook book(result.trials);
  // The default leads, as in a run.
  for (const bool lead : {true, false}) {
    for (const Record& record : home.records) {
      const bool is_default = record.schedule == result.default_schedule;
      if (is_default == lead && (is_default || record.schedule == schedule)) book.add(record, true);
    }
  }
  result.best = book.find(schedule);
  RT_CHECK(result.best.has_value(), "a schedule that serves a shape without a record of it");
  const GenerationResult generated = generate_all(result.task, {schedule}, parts.generate).front();
  if (!generated.program || generated.program->hash != result.trials[*result.best].program_hash) {
    throw UserError("this redtune makes another kernel of \"" + schedule.text() + "\" for " +
                    result.task.op.key() + " than the one that was measured; measure again");
  }
  Config config =
      make_config(result, generated.program->program, book.log_hash(all_places(result.trials.size())));
  config.kernel = keep_kernel(store, generated.program->program, result.task.target);
  return config;
}

DeviceInfo recorded_device(const LogContents& log, const TrialKey& key, const Target& target) {
  DeviceInfo device;
  device.name = key.device;
  device.target = target;
  device.clock = key.timing.substr(key.timing.find('/') + 1);
  for (const Json& run : log.runs) {
    if (run.value("device", "") == key.device) device.driver = run.value("driver", "");
  }
  return device;
}

// What several logs hold of one task.
struct RecordedTask {
  TrialKey key;
  Task task;
  DeviceInfo device;
  std::vector<Record> records;
};

void collect(const std::string& path, const std::vector<Operator>& operators, const std::string& device,
             std::vector<RecordedTask>& found, std::vector<std::string>& warnings) {
  const LogContents log = read_log(path);
  warnings.insert(warnings.end(), log.warnings.begin(), log.warnings.end());
  const std::map<std::string, Task> tasks = tasks_of_log(log, path, warnings);
  std::set<std::string> unknown;
  for (const Record& record : log.records) {
    const auto task = tasks.find(record.key.task);
    if (task == tasks.end()) {
      if (unknown.insert(record.key.task).second)
        warnings.push_back(path + ": no run header tells the operator of task " + record.key.task +
                           "; left out");
      continue;
    }
    const bool wanted = operators.empty() ||
                        std::any_of(operators.begin(), operators.end(),
                                    [&](const Operator& op) { return op.key() == task->second.op.key(); });
    if (!wanted || record.key.device.find(device) == std::string::npos) continue;
    auto place =
        std::find_if(found.begin(), found.end(), [&](const RecordedTask& r) { return r.key == record.key; });
    if (place == found.end()) {
      found.push_back({record.key, task->second, recorded_device(log, record.key, task->second.target), {}});
      place = found.end() - 1;
    }
    place->records.push_back(record);
  }
}

}  // namespace

std::vector<ShapeGroup> group_by_kind(const std::vector<Operator>& operators) {
  std::vector<ShapeGroup> groups;
  for (const Operator& op : operators) {
    const std::string kind = range_kind(op, coalesce(op));
    if (kind.empty()) throw UserError(op.key() + kNoKind);
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const ShapeGroup& g) { return g.kind == kind; });
    if (group == groups.end()) group = groups.insert(groups.end(), {kind, {}});
    const auto extents = extents_of(coalesce(op));
    const bool there = std::any_of(group->shapes.begin(), group->shapes.end(), [&](const Operator& other) {
      return extents_of(coalesce(other)) == extents;
    });
    if (!there) group->shapes.push_back(op);
  }
  return groups;
}

Portfolio choose_portfolio(const std::string& kind, std::vector<MeasuredShape> shapes,
                           const std::vector<std::vector<Schedule>>& candidates, std::size_t kernels) {
  Portfolio portfolio;
  portfolio.kind = kind;
  std::vector<MeasuredShape> known;
  std::vector<std::vector<Schedule>> proposals;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    if (best_schedules(shapes[s].result, 1).empty()) {
      portfolio.left_out.push_back(shapes[s].task().op.key() + ": no schedule gave a time");
      continue;
    }
    proposals.push_back(candidates[s]);
    known.push_back(std::move(shapes[s]));
  }
  if (known.empty()) throw NoValidSchedule("no shape of " + kind + " has a schedule with a time");
  portfolio.table = make_time_table(std::move(known), proposals);
  portfolio.selection =
      select_portfolio(regret_matrix(portfolio.table, all_places(portfolio.table.shapes.size()),
                                     all_places(portfolio.table.candidates.size())),
                       kernels);
  return portfolio;
}

std::optional<Portfolio> measure_portfolio(const ShapeGroup& group, const DeviceInfo& device,
                                           const PortfolioOptions& options, const TuningParts& parts,
                                           const PortfolioCallbacks& callbacks,
                                           const std::atomic<bool>& stop) {
  std::vector<TuneResult> tuned;
  std::vector<std::string> left_out;
  make_directories(options.directory);
  const auto log_of = [&](const Operator& op) { return options.directory + "/" + operator_slug(op); };
  for (std::size_t i = 0; i < group.shapes.size() && !stop; ++i) {
    const Operator& op = group.shapes[i];
    callbacks.starting("tuning", op, i, group.shapes.size());
    TuneOptions tuning = options.tuning;
    tuning.log_path = log_of(op) + ".jsonl";
    try {
      tuned.push_back(tune_with(parts, op, device, tuning, callbacks.progress, stop));
    } catch (const NoValidSchedule& error) {
      left_out.push_back(op.key() + ": " + error.what());
    } catch (const UserError& error) {
      left_out.push_back(op.key() + ": " + error.what());
    }
  }
  if (stop) return std::nullopt;
  std::vector<std::vector<Schedule>> proposals;
  for (const TuneResult& result : tuned) proposals.push_back(best_schedules(result, options.candidates));
  std::vector<MeasuredShape> crossed;
  for (std::size_t i = 0; i < tuned.size() && !stop; ++i) {
    const Task& task = tuned[i].task;
    callbacks.starting("candidates of all shapes on", task.op, i, tuned.size());
    CrossOptions cross{options.rounds, log_of(task.op) + ".cross.jsonl", options.tuning};
    crossed.push_back(measured_shape(
        task, device,
        cross_measure(task, device, legal_ones(task, proposals), cross, parts, callbacks.progress, stop)));
  }
  if (stop) return std::nullopt;
  if (crossed.empty())
    throw NoValidSchedule("no shape of " + group.kind + " can be tuned\n  " + join(left_out, "\n  "));
  Portfolio portfolio = choose_portfolio(group.kind, std::move(crossed), proposals, options.kernels);
  portfolio.left_out.insert(portfolio.left_out.begin(), left_out.begin(), left_out.end());
  return portfolio;
}

RecordedShapes read_recorded_shapes(const std::vector<std::string>& logs,
                                    const std::vector<Operator>& operators, const std::string& device) {
  RecordedShapes result;
  std::vector<RecordedTask> found;
  for (const std::string& path : logs) collect(path, operators, device, found, result.warnings);
  if (found.empty())
    throw NoValidSchedule(join(logs, ", ") + ": no trial of what is asked for; `redtune tune` makes them");
  std::set<std::string> origins;
  for (const RecordedTask& task : found) origins.insert(task.key.device + " (" + task.key.timing + ")");
  if (origins.size() > 1) {
    throw UserError("the logs are of several devices or clocks, whose times are not comparable: " +
                    join({origins.begin(), origins.end()}, "; ") +
                    "; --device takes one, or name fewer logs");
  }
  result.device = found.front().key.device;
  for (RecordedTask& task : found) {
    const std::string kind = range_kind(task.task.op, task.task.canonical);
    if (kind.empty()) {
      result.warnings.push_back(task.task.op.key() + kNoKind + "; left out");
      continue;
    }
    auto group = std::find_if(result.kinds.begin(), result.kinds.end(),
                              [&](const auto& g) { return g.first == kind; });
    if (group == result.kinds.end()) group = result.kinds.insert(result.kinds.end(), {kind, {}});
    MeasuredShape shape = measured_shape(task.task, task.device, std::move(task.records));
    const bool there =
        std::any_of(group->second.begin(), group->second.end(),
                    [&](const MeasuredShape& other) { return other.extents == shape.extents; });
    if (there)
      result.warnings.push_back(task.task.op.key() +
                                ": another operator of these logs is the same function; left out");
    else
      group->second.push_back(std::move(shape));
  }
  if (result.kinds.empty()) throw NoValidSchedule(join(result.warnings, "\n"));
  return result;
}

std::vector<Config> portfolio_configs(const Portfolio& portfolio, const std::string& name,
                                      const std::string& store, const TuningParts& parts) {
  const TimeTable& table = portfolio.table;
  const std::vector<std::optional<std::size_t>>& server = portfolio.selection.server;
  ServedRange whole = range_of(table, name);
  for (std::size_t s = 0; s < table.shapes.size(); ++s) {
    if (!server[s]) whole.uncovered.push_back(table.shapes[s].task().op.key());
  }
  std::vector<Config> configs;
  for (std::size_t member : portfolio.selection.members) {
    ServedRange range = whole;
    std::optional<std::size_t> home;
    const auto regret = [&](std::size_t s) { return table.cells[s][member].seconds / table.best_seconds[s]; };
    for (std::size_t s = 0; s < table.shapes.size(); ++s) {
      if (server[s] != member) continue;
      range.shapes.push_back(
          {table.shapes[s].task().op.key(), table.cells[s][member].seconds, table.best_seconds[s]});
      if (!home || regret(s) < regret(*home)) home = s;
    }
    Config config = member_config(table.shapes[*home], table.candidates[member].schedule, store, parts);
    config.range = std::move(range);
    configs.push_back(std::move(config));
  }
  return configs;
}

}  // namespace redtune
