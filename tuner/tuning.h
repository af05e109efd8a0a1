// The tuning loop: propose -> generate -> compile -> measure -> record -> observe, one task at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "configs/config_store.h"
#include "logs/log.h"
#include "measure/device.h"
#include "space/search_space.h"
#include "tuner/search_strategy.h"

namespace redtune {

struct TuneOptions {
  std::string strategy = "bayes";
  std::size_t max_trials = 64;  // new and resumed trials together
  double max_seconds = 0;       // 0: no limit
  std::size_t patience = 0;     // trials in a row without a new best that end the search; 0: any number
  std::uint64_t seed = 1;
  SpaceFilter filter;
  std::string model_path;  // a model of `redtune train` that guesses before anything is measured; "": the
                           // analytic one
  std::string log_path, config_directory;  // "": none is kept
  std::string command_line;
  MeasureOptions measure;
  std::size_t batch = 0;       // schedules proposed at once; 0: twice the cores, at least 4
  bool retry_crashed = false;  // crashed, hung, or started without an outcome: skipped unless asked
  bool force_log = false;      // a foreign file at log_path is moved aside
};

/// Snapshot for the progress line.
struct Progress {
  std::size_t done = 0, total = 0, failed = 0;
  double best_seconds = 0, default_seconds = 0;
  std::string best_schedule;
  double elapsed_seconds = 0, eta_seconds = 0;
};

/// One measurement of a finalist. Finalists are measured in turns: what has the same turn was measured within
/// moments, so that a machine that drifts treats them alike.
struct DuelTurn {
  int turn = 0;
  double median_seconds = 0;
};

struct Trial {
  Schedule schedule;
  Outcome outcome;       // of all its rounds together (combine_rounds)
  bool resumed = false;  // read from the log
  int rounds = 1;        // times it was measured: the finalists are measured again
  std::string program_hash;
  std::vector<DuelTurn> duel;  // rounds after the first
};

struct TuneResult {
  Task task;
  DeviceInfo device;
  std::size_t space_size = 0;
  Schedule default_schedule;
  std::vector<Trial> trials;        // trials[0] is the default schedule when it was evaluated
  std::optional<std::size_t> best;  // index into trials; never a schedule that was not verified
  std::size_t resumed = 0;
  std::size_t stale = 0;  // records of this task in the log whose kernel text has changed: not used
  std::string config_path, log_path;
  bool config_kept = false;  // the store held a better schedule of the same key and kept it
  std::string end_reason;    // "trials", "time", "no_improvement", "exhausted", "interrupted"
  TimeSplit split;           // compile / measure / everything else, wall seconds
  double wall_seconds = 0;
  std::vector<std::string> warnings;  // of reading the log
  /// The trial of the default schedule (or nothing).
  std::optional<std::size_t> default_trial() const;
  /// Best trial among those of one mapping class (or nothing).
  std::optional<std::size_t> best_of(MappingClass c) const;
};

/// Failed trials by reason, most frequent first, each with its first example: "SCHEDULE: detail".
struct FailureCount {
  OutcomeKind kind;
  std::size_t count;
  std::string example;
};
std::vector<FailureCount> failures_by_reason(std::span<const Trial> trials);

/// What is known before the first trial, for whoever waits for it.
struct TuneStart {
  const Task& task;
  std::size_t space_size = 0, resumed = 0, total = 0;
  std::string log_path;
};

/// Tunes one operator. Evaluates schedule 0 (the default) first, then what the strategy proposes, then
/// re-measures the finalists interleaved so that no lucky sample wins; writes the config. `stop` (set by
/// SIGINT) ends it after the running trial with everything kept. A run that was stopped by signal or time
/// before anything valid returns without a best; otherwise throws NoValidSchedule with counts by reason when
/// nothing was valid.
TuneResult tune(const Operator& op, const DeviceInfo& device, const TuneOptions& options,
                const std::function<void(const Progress&)>& progress, const std::atomic<bool>& stop,
                const std::function<void(const TuneStart&)>& started = {});

/// Kernel text of a schedule with its identity.
struct GeneratedProgram {
  Program program;
  std::string hash;  // hex64 of the full text
};

/// What the loop stands on; tests put fakes here.
struct TuningParts {
  /// Called once, before the first trial; never when everything comes from the log.
  std::function<std::unique_ptr<Evaluator>(const Task&)> make_evaluator;
  /// May be called from several threads at once.
  std::function<GeneratedProgram(const Task&, const Schedule&)> generate;
};
/// A real device and real kernels. `device` must outlive them.
TuningParts device_parts(const DeviceInfo& device, const MeasureOptions& options);
TuneResult tune_with(const TuningParts& parts, const Operator& op, const DeviceInfo& device,
                     const TuneOptions& options, const std::function<void(const Progress&)>& progress,
                     const std::atomic<bool>& stop,
                     const std::function<void(const TuneStart&)>& started = {});

/// Text with its hash, from codegen/.
GeneratedProgram generate_program(const Task& task, const Schedule& schedule);

/// What results are filed under: "cold/opencl_events" names the state of the caches and the clock.
TrialKey trial_key(const Task& task, const DeviceInfo& device, const MeasureOptions& options);

}  // namespace redtune
