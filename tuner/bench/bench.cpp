#include "tuner/bench/bench.h"

#include <algorithm>
#include <memory>

#include "space/mappings.h"
#include "space/operator_key.h"
#include "support/cpu_facts.h"
#include "support/error.h"
#include "support/files.h"
#include "support/text.h"
#include "tuner/bench/baseline_process.h"
#include "tuner/bench/bench_store.h"
#include "tuner/bench/measure_row.h"

namespace redtune {
namespace {

constexpr std::string_view kBest = "best_";
// Copies of the input that a row holds at once: as it is made, the device's, and two baselines' with what
// they check by.
constexpr double kCopies = 5;
constexpr double kShareOfMemory = 0.8;
constexpr std::int64_t kPeakElements = std::int64_t{1} << 26;

double memory_of(const BenchOptions& options) {
  if (options.memory_bytes > 0) return options.memory_bytes;
  return kShareOfMemory * static_cast<double>(available_memory_bytes());
}

TuneOptions tuning_of(const Operator& op, const BenchOptions& options) {
  TuneOptions tuning = options.tuning;
  tuning.log_path = options.directory + "/" + operator_slug(op) + ".jsonl";
  return tuning;
}

// Whether a row of an earlier run answers what is asked now.
bool still_good(const BenchRow& row, const DeviceInfo& device, const BenchOptions& options) {
  const TuneOptions& tuning = options.tuning;
  const bool as_long =
      row.asked_seconds == 0 || (tuning.max_seconds > 0 && row.asked_seconds >= tuning.max_seconds);
  if (!row.ok() || row.asked_trials < tuning.max_trials || !as_long) return false;
  for (const std::string& name : options.baselines) {
    if (row.side(name) == nullptr) return false;
  }
  const Task task = make_task(row.op, device.target);
  return generate_program(task, parse_schedule(row.schedule)).hash == row.program_hash;
}

BenchPeak measure_peak(const DeviceInfo& device, const BenchOptions& options, const BenchCallbacks& callbacks,
                       const std::atomic<bool>& stop) {
  ShortForm form;
  form.shape = std::to_string(kPeakElements);
  std::string scaled;
  const Operator op = scaled_operator(operator_from_short_form(form), kCopies, memory_of(options), scaled);
  TuneOptions tuning = tuning_of(op, options);
  tuning.max_trials = options.peak_trials;
  const TuneResult result = tune(op, device, tuning, callbacks.progress, stop);
  if (!result.best) return {};
  const Trial& best = result.trials[*result.best];
  return {result.task.compulsory_bytes() / best.outcome.median_seconds,
          op.title() + ", the fastest of " + std::to_string(result.trials.size()) +
              " schedules: " + best.schedule.text()};
}

}  // namespace

void check_baseline_name(const std::string& name) {
  std::vector<std::string> known{"default", "no_atomic", "naive_atomic", "best_MAPPING"};
  if (std::find(known.begin(), known.end() - 1, name) != known.end() - 1) return;
  if (find_program_baseline(name) != nullptr) return;
  if (name.starts_with(kBest)) {
    parse_mapping_filter(std::string_view(name).substr(kBest.size()));
    return;
  }
  for (const ProgramBaseline& row : program_baselines()) known.emplace_back(row.name);
  throw UserError("--baselines: " + unknown_word_message("baseline", name, known));
}

std::vector<std::string> usual_baselines(const DeviceInfo& device) {
  std::vector<std::string> names{"default", "no_atomic", "naive_atomic"};
  const TargetKind kind = device.target.kind;
  for (const ProgramBaseline& row : program_baselines()) {
    const bool fits = row.on_cuda ? kind == TargetKind::kCuda : kind == TargetKind::kOpenClCpu;
    if (fits && !baseline_program_path(row.program).empty()) names.emplace_back(row.name);
  }
  return names;
}

Operator scaled_operator(const Operator& op, double copies, double memory_bytes, std::string& what) {
  what.clear();
  if (op.graph) return op;  // an axis of one tensor is an axis of others
  const Tensor& tensor = op.input();
  // Strides tell a layout of its own: halving an axis would change it.
  if (!tensor.is_row_major() || tensor.offset != 0) return op;
  std::size_t axis = 0;
  while (axis < tensor.shape.size() && tensor.shape[axis] <= 1) ++axis;
  if (axis == tensor.shape.size()) return op;
  const double bytes = static_cast<double>(tensor.elements()) * bytes_of(tensor.dtype);
  const std::int64_t before = tensor.shape[axis];
  std::int64_t size = before;
  while (size > 1 &&
         copies * bytes * static_cast<double>(size) / static_cast<double>(before) > memory_bytes) {
    size = (size + 1) / 2;
  }
  if (size == before) return op;
  what = "axis " + std::to_string(axis) + " from " + std::to_string(before) + " to " + std::to_string(size) +
         ": " + format_bytes(copies * bytes) + " needed, " + format_bytes(memory_bytes) + " there";
  Json json = to_json(op);
  json["shape"][axis] = size;
  return parse_operator(json, op.title() + " made smaller");
}

std::vector<PlannedRow> plan_rows(const Suite& suite, const BenchOptions& options) {
  std::vector<PlannedRow> rows;
  for (const SuiteEntry& entry : suite.entries) {
    if (!mentions(entry, options.only)) continue;
    std::string scaled;
    const Operator op = scaled_operator(entry.op, kCopies, memory_of(options), scaled);
    rows.push_back({&entry, op, scaled});
  }
  if (rows.empty()) {
    throw UserError("suite " + suite.name + ": no entry has '" + options.only +
                    "' in its id, title or group");
  }
  return rows;
}

BenchResult bench(const Suite& suite, const DeviceInfo& device, const BenchOptions& options,
                  const BenchCallbacks& callbacks, const std::atomic<bool>& stop) {
  const std::vector<PlannedRow> plan = plan_rows(suite, options);
  make_directories(options.directory);
  const TrialKey key = trial_key(make_task(plan.front().op, device.target), device, options.tuning.measure);
  BenchResult result;
  result.suite = suite;
  result.device = device.name;
  result.driver = device.driver;
  result.clock = key.timing;
  result.baselines = options.baselines;
  BenchStore store(options.directory + "/" + suite.name + ".results",
                   {device.name, device.driver, key.timing}, result.warnings);
  result.peak = store.peak();
  if (options.peak_trials > 0 && (options.fresh || result.peak.bytes_per_second == 0) && !stop) {
    result.peak = measure_peak(device, options, callbacks, stop);
    if (result.peak.bytes_per_second > 0) store.put(result.peak);
  }
  for (std::size_t i = 0; i < plan.size() && !stop; ++i) {
    const PlannedRow& planned = plan[i];
    const BenchRow* const held = options.fresh ? nullptr : store.find(planned.entry->id, planned.op);
    if (held != nullptr && still_good(*held, device, options)) {
      result.rows.push_back(*held);
      callbacks.done(*held, true);
      continue;
    }
    callbacks.starting(planned, i, plan.size());
    const std::optional<BenchRow> row =
        measure_row(planned, device, options, tuning_of(planned.op, options), callbacks.progress, stop);
    if (!row) break;
    store.put(*row);
    result.rows.push_back(*row);
    callbacks.done(*row, false);
  }
  result.host_load = host_load();
  return result;
}

}  // namespace redtune
