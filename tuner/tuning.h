// The tuning loop: propose -> generate -> compile -> measure -> record -> observe, one task at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "configs/config_store.h"
#include "logs/log.h"
#include "measure/device.h"
#include "space/search_space.h"
#include "tuner/search_strategy.h"

namespace redtune {

struct TuneOptions {
  std::string strategy = "local";
  std::size_t max_trials = 64;          // new and resumed trials together
  double max_seconds = 0;               // 0: no limit
  std::uint64_t seed = 1;
  SpaceFilter filter;
  std::string log_path, config_directory;
  std::string command_line;
  MeasureOptions measure;
  bool retry_crashed = false;           // schedules that were started without an outcome are skipped unless asked
};

/// Snapshot for the progress line.
struct Progress {
  std::size_t done = 0, total = 0, failed = 0;
  double best_seconds = 0, default_seconds = 0;
  std::string best_schedule;
  double elapsed_seconds = 0, eta_seconds = 0;
};

struct Trial {
  Schedule schedule;
  Outcome outcome;
  bool resumed = false;  // read from the log
};

struct TuneResult {
  Task task;
  DeviceInfo device;
  std::size_t space_size = 0;
  std::vector<Trial> trials;            // trials[0] is the default schedule when it was evaluated
  std::optional<std::size_t> best;      // index into trials; never a schedule that was not verified
  std::size_t resumed = 0;
  std::string config_path, log_path;
  std::string end_reason;               // "trials", "time", "exhausted", "interrupted"
  TimeSplit split;                      // compile / measure / everything else, wall seconds
  double wall_seconds = 0;
  /// Best trial among those of one mapping class (or nothing).
  std::optional<std::size_t> best_of(MappingClass c) const;
};

/// Tunes one operator. Evaluates schedule 0 (the default) first, then what the strategy proposes, then re-measures
/// the finalists interleaved so that no lucky sample wins; writes the config. `stop` (set by SIGINT) ends it after
/// the running trial with everything kept. Throws NoValidSchedule with counts by reason when nothing was valid.
TuneResult tune(const Operator& op, const DeviceInfo& device, const TuneOptions& options,
                const std::function<void(const Progress&)>& progress, const std::atomic<bool>& stop);

}  // namespace redtune
