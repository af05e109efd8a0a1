// A recorded space: a finite search space of which every configuration (or many) was measured once and
// written down. Read from own logs (JSON lines), Kernel Tuner cachefiles and T4 result files, plain or gzip.
// Nothing in a file is ever executed. Sources of the formats: Kernel Tuner 1.4 (util.py) and its T4 schema;
// the dialects of the benchmark hub and of KTT's converter are read too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "logs/log.h"
#include "support/json.h"

namespace redtune {

struct RecordedParameter {
  std::string name;
  std::vector<Json> values;  // numbers, booleans or strings; distinct
};

struct RecordedPoint {
  std::vector<std::uint16_t> levels;  // per parameter: index into its values
  double value = 0;                   // of the objective, smaller is better, > 0; 0 when it failed
  double cost_seconds = 0;  // what measuring it took: compilation, runs, framework; failures cost too
  std::string failure;      // "": measured; otherwise why not
  bool failed() const { return !failure.empty(); }
};

struct RecordedSpace {
  std::string name;            // "convolution_kernel on NVIDIA A100-PCIE-40GB"
  std::string objective;       // "time"
  double unit_seconds = 1e-3;  // seconds of one unit of the objective when it is a time
  std::vector<RecordedParameter> parameters;
  std::vector<RecordedPoint> points;  // distinct in their levels

  /// Smallest value; 0 when every point failed.
  double optimum() const;
  std::size_t failures() const;
};

/// Every space in the file, in order: a cachefile or a T4 file holds one, a log one per task, device and
/// clock. Throws UserError naming file and field; a torn last entry of a cachefile or log costs only that
/// entry.
std::vector<RecordedSpace> read_recorded_spaces(const std::string& path);

// The readers behind it; `text` is unpacked, `origin` names it in messages.
RecordedSpace parse_cachefile(std::string_view text, const std::string& origin);
RecordedSpace parse_t4(const Json& document, const std::string& origin);
/// Several rounds of one schedule count as one point: failed when one of them failed, else the median of all
/// samples.
std::vector<RecordedSpace> recorded_spaces_of_log(const LogContents& log, const std::string& origin);

}  // namespace redtune
