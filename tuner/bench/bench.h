// Measures the operators of a suite: tunes each, then lets the tuned schedule and its baselines run in turns.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tuner/bench/bench_row.h"
#include "tuner/tuning.h"

namespace redtune {

struct BenchOptions {
  TuneOptions tuning;  // of each row; log_path is set per row
  std::vector<std::string> baselines;
  std::string only;              // entries whose id, title or group holds this
  std::string directory;         // of logs and results
  double memory_bytes = 0;       // most that a row may use; 0: four fifths of what is free
  int rounds = 7;                // turns of three samples each
  int threads = 1;               // of host baselines
  std::size_t peak_trials = 32;  // to find the read rate of the device; 0: do not look for it
  bool fresh = false;            // measure again what the results hold
};

/// What may be asked for: "default" (the rules of thumb), "no_atomic" (the best schedule of class tree that
/// the same search found), "naive_atomic" (the default with the combine replaced: every thread adds its
/// partial result to the output), "best_MAPPING" (the best of that search by any word of --mapping), and the
/// programs of baseline_process.h. Throws UserError with the nearest known name.
void check_baseline_name(const std::string& name);
/// Those that make sense on `device` and are there.
std::vector<std::string> usual_baselines(const DeviceInfo& device);

/// An operator that fits: its outermost axis longer than 1 halved until `copies` times the input lie within
/// `memory_bytes`. `what` says what was done, "" when nothing.
Operator scaled_operator(const Operator& op, double copies, double memory_bytes, std::string& what);

/// What of the suite `options` selects, as it will be measured.
struct PlannedRow {
  const SuiteEntry* entry;
  Operator op;
  std::string scaled;
};
std::vector<PlannedRow> plan_rows(const Suite& suite, const BenchOptions& options);

/// Calls `starting` before each row and `done` after it, with whether it came from the results of an earlier
/// run. Each row is on disk (DIRECTORY/SUITE.jsonl) before the next starts; a second call goes on where the
/// first ended. Rows whose operator, device, baselines and kernel text are those of the results are not
/// measured again.
struct BenchCallbacks {
  std::function<void(const PlannedRow&, std::size_t index, std::size_t count)> starting;
  std::function<void(const Progress&)> progress;
  std::function<void(const BenchRow&, bool resumed)> done;
};
BenchResult bench(const Suite& suite, const DeviceInfo& device, const BenchOptions& options,
                  const BenchCallbacks& callbacks, const std::atomic<bool>& stop);

}  // namespace redtune
