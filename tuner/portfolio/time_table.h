// What the schedules that are best somewhere take everywhere: times by shape and schedule, from records.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "logs/log.h"
#include "tuner/portfolio/selection.h"
#include "tuner/tuning.h"

namespace redtune {

/// One shape of a kind, and what was measured of it.
struct MeasuredShape {
  std::vector<Record> records;  // one task, device and clock; each schedule on one kernel text
  TuneResult result;            // of the records
  std::map<std::string, std::size_t> trial_of;  // by the schedule's text
  std::vector<std::int64_t> extents;            // of the canonical form
  std::vector<double> sizes;                    // their logarithms to base 2

  const Task& task() const { return result.task; }
};

/// Of records of several kernel texts of one schedule only those of the newest count: times of another text
/// are of another program.
MeasuredShape measured_shape(const Task& task, const DeviceInfo& device, std::vector<Record> records);

/// Why the schedule is not in the space of the task under the operator's own demand on determinism; "" when
/// it is.
std::string why_illegal(const Task& task, const Schedule& schedule);

/// The fastest `count` legal schedules of a run, fastest first; fewer where fewer gave a time.
std::vector<Schedule> best_schedules(const TuneResult& result, std::size_t count);

enum class CellState : std::uint8_t { kTimed, kIllegal, kFailed, kUnmeasured };

struct TimeCell {
  CellState state = CellState::kUnmeasured;
  double seconds = 0;  // kTimed: median
  std::string why;     // kIllegal, kFailed
};

/// A schedule that came into question, with the shapes (by place) among whose best it is.
struct PortfolioCandidate {
  Schedule schedule;
  std::vector<std::size_t> best_of;
};

struct TimeTable {
  std::vector<MeasuredShape> shapes;           // of one kind (configs/operator_kind.h: range_kind)
  std::vector<PortfolioCandidate> candidates;  // from the simplest mapping on, then by their text
  std::vector<std::vector<TimeCell>> cells;    // [shape][candidate]
  std::vector<double> best_seconds;  // per shape: the fastest legal schedule of its records; 0: none

  /// The candidate that is the fastest of those among the best of `shape`; nothing when none has a time.
  std::optional<std::size_t> own_best(std::size_t shape) const;
  /// 0 where a shape has no time of it.
  double default_seconds(std::size_t shape) const;
};

/// Candidates: per shape its `candidates[shape]`. Measures nothing: a candidate that a shape's records do not
/// hold stays unmeasured there.
TimeTable make_time_table(std::vector<MeasuredShape> shapes,
                          const std::vector<std::vector<Schedule>>& candidates);

/// The table as regrets against the best of each shape, of `shapes` (rows) and `candidates` (columns) by
/// their places.
RegretMatrix regret_matrix(const TimeTable& table, const std::vector<std::size_t>& shapes,
                           const std::vector<std::size_t>& candidates);
/// 0, 1, ... count - 1.
std::vector<std::size_t> all_places(std::size_t count);

}  // namespace redtune
