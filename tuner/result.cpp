// What can be asked of a finished run.
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "codegen/codegen.h"
#include "support/cpu_facts.h"
#include "space/mappings.h"
#include "support/version.h"
#include "tuner/trials.h"
#include "tuner/tuning.h"

namespace redtune {

std::optional<std::size_t> TuneResult::default_trial() const {
  // First when it was evaluated; an interrupted run may lack it.
  if (trials.empty() || !(trials.front().schedule == default_schedule)) return std::nullopt;
  return 0;
}

std::optional<std::size_t> TuneResult::best_of(MappingClass c) const {
  // A tie was decided with more than medians: the winner stands for its class.
  if (best && trials[*best].schedule.mapping_class() == c) return best;
  std::optional<std::size_t> result;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (!trials[i].outcome.timed() || trials[i].schedule.mapping_class() != c) continue;
    if (!result || trials[i].outcome.median_seconds < trials[*result].outcome.median_seconds) result = i;
  }
  return result;
}

std::vector<FailureCount> failures_by_reason(std::span<const Trial> trials) {
  std::vector<FailureCount> result;
  for (const Trial& trial : trials) {
    if (trial.outcome.timed()) continue;
    const auto known = std::find_if(result.begin(), result.end(),
                                    [&](const FailureCount& f) { return f.kind == trial.outcome.kind; });
    if (known == result.end()) {
      result.push_back({trial.outcome.kind, 1, trial.schedule.text() + ": " + trial.outcome.detail});
    } else {
      ++known->count;
    }
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const FailureCount& a, const FailureCount& b) { return a.count > b.count; });
  return result;
}

Progress progress_of(const TuneResult& result) {
  Progress progress;
  progress.done = result.trials.size();
  for (const Trial& trial : result.trials) {
    if (!trial.outcome.timed()) {
      ++progress.failed;
    } else if (progress.best_seconds == 0 || trial.outcome.median_seconds < progress.best_seconds) {
      progress.best_seconds = trial.outcome.median_seconds;
      progress.best_schedule = trial.schedule.text();
    }
  }
  const auto default_trial = result.default_trial();
  if (default_trial) progress.default_seconds = result.trials[*default_trial].outcome.median_seconds;
  return progress;
}

std::string no_valid_message(const TuneResult& result) {
  std::string message = "no valid schedule out of " + std::to_string(result.trials.size()) + " for " +
                        result.task.op.title() + " on " + result.device.name;
  for (const FailureCount& failure : failures_by_reason(result.trials)) {
    message += "\n  " + std::to_string(failure.count) + " " + std::string(name(failure.kind)) + ", as " +
               failure.example;
    const bool crash = failure.kind == OutcomeKind::kCrashed || failure.kind == OutcomeKind::kTimedOut;
    if (crash && result.resumed > 0) message += " (--retry-crashed tries again what the log holds of these)";
  }
  return message;
}

RunInfo run_info(const TuneResult& result, const TuneOptions& options) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  RunInfo info{kVersion, options.command_line, result.device.name, result.device.driver, host,
               options.seed, Json::object()};
  Operator op = result.task.op;
  op.data.reset();
  op.values.clear();
  info.extra["operator"] = to_json(op);
  info.extra["target"] = result.task.target.name;
  info.extra["target_facts"] = to_json(result.task.target);
  info.extra["strategy"] = options.strategy;
  if (!options.model_path.empty()) info.extra["model"] = options.model_path;
  info.extra["space_size"] = result.space_size;
  info.extra["default_schedule"] = result.default_schedule.text();
  info.extra["timing"] = trial_key(result.task, result.device, options.measure).timing;
  info.extra["device_facts"] = result.device.facts;
  info.extra["data_seed"] = options.measure.data_seed;
  info.extra["samples"] = {options.measure.min_samples, options.measure.max_samples};
  info.extra["host_cores"] = std::thread::hardware_concurrency();
  info.extra["host_load"] = host_load();
  return info;
}

Config make_config(const TuneResult& result, const Program& program, const std::string& log_hash) {
  const Trial& best = result.trials[*result.best];
  Config config;
  config.op = result.task.op;
  config.op.data.reset();
  config.op.values.clear();
  config.determinism = determinism_of(result.task, best.schedule);
  config.device = result.device.name;
  config.driver = result.device.driver;
  config.target = result.task.target.name;
  config.schedule = best.schedule;
  config.default_schedule = result.default_schedule;
  config.seconds = best.outcome.median_seconds;
  config.low_seconds = best.outcome.low_seconds;
  config.high_seconds = best.outcome.high_seconds;
  const auto default_trial = result.default_trial();
  if (default_trial) config.default_seconds = result.trials[*default_trial].outcome.median_seconds;
  config.launches = program.launches;
  config.buffers = program.buffers;
  config.program_hash = best.program_hash;
  config.log_hash = log_hash;
  config.time = utc_now();
  config.version = kVersion;
  return config;
}

KernelFile keep_kernel(const std::string& store, const Program& program, const Target& target) {
  const bool cuda = target.kind == TargetKind::kCuda;
  return write_kernel_text(store, full_text(program, target.kind),
                           cuda ? KernelLanguage::kCuda : KernelLanguage::kOpenCl, build_options(target));
}

TrialKey trial_key(const Task& task, const DeviceInfo& device, const MeasureOptions& options) {
  const std::string caches = options.cold ? "cold" : "hot";
  return {task.key(), device.name, caches + "/" + device.clock};
}

}  // namespace redtune
