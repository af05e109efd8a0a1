// One row of a bench: an operator of a suite, the tuned schedule and what stands beside it, as measured.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/suite.h"
#include "measure/device.h"
#include "space/schedule.h"

namespace redtune {

/// Samples of one contestant. Seconds; the interval is the 95 % bootstrap interval of the median.
struct BenchTime {
  double seconds = 0, low = 0, high = 0, spread = 0;
  int samples = 0;
  int preempted = 0;  // samples during which another program ran on the cores; only host baselines know
};

/// Of at least one sample.
BenchTime bench_time(const std::vector<double>& samples, int preempted = 0);

/// Somebody beside the tuned schedule.
struct BenchSide {
  std::string name;               // "default", "no_atomic", "openmp", ...
  std::optional<BenchTime> time;  // nothing: `failure` says why
  std::string failure;
  std::string schedule;                 // of redtune's own sides
  std::string version, implementation;  // of others
  std::string clock;                    // what its time comes from
  bool reference = false;               // its makers' reference implementation: measured, counted nowhere
};

/// How a ratio of two times is to be read: a tie where the medians are within 3 %; farther apart unresolved where the
/// intervals overlap all the same.
enum class BenchVerdict : std::uint8_t { kWin, kTie, kLoss, kUnresolved };
/// "win", "tie", "loss", "unresolved".
std::string_view name(BenchVerdict verdict);
BenchVerdict compare(const BenchTime& tuned, const BenchTime& other);

struct BenchRow {
  std::string id;
  Operator op;         // as it was measured
  std::string scaled;  // what was made smaller, and why; "": nothing
  double bytes = 0;    // compulsory
  BenchTime tuned;
  std::string schedule, mapping, determinism;
  std::string program_hash;  // of the tuned schedule's text
  std::size_t trials = 0;
  std::size_t asked_trials = 0;  // limits of the search behind it
  double asked_seconds = 0;      // 0: none
  std::string error;             // why there is no time; then nothing above but op, id, scaled counts
  std::string time;              // when, UTC
  std::string log;               // of the search
  std::vector<BenchSide> sides;

  bool ok() const { return error.empty(); }
  const BenchSide* side(const std::string& name) const;
  /// seconds of `name` / seconds of the tuned schedule: above 1 redtune is faster. Nothing where it has no
  /// time.
  std::optional<double> ratio(const std::string& name) const;
};

Json to_json(const BenchRow& row);
/// Throws UserError naming `origin` and field.
BenchRow parse_bench_row(const Json& json, const std::string& origin);

/// The read rate of the device as the harness sees it: the fastest schedule found for a sum over a long
/// vector.
struct BenchPeak {
  double bytes_per_second = 0;  // 0: not measured
  std::string source;           // what it was measured with
};

/// Everything that a table is made from.
struct BenchResult {
  Suite suite;
  std::string device, driver, clock;
  std::vector<std::string> baselines;  // in the order asked for
  std::vector<BenchRow> rows;          // in the order of the suite; those that were not measured are missing
  BenchPeak peak;
  double host_load = -1;              // processes on average, at the end
  std::vector<std::string> warnings;  // of reading earlier results
};

}  // namespace redtune
