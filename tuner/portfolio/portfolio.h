// A portfolio: few schedules that together serve a range of shapes. From the operators or logs to the entries
// of a config store.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "configs/config_store.h"
#include "tuner/portfolio/selection.h"
#include "tuner/portfolio/time_table.h"

namespace redtune {

struct PortfolioOptions {
  std::string name;            // of the suite or logs: portfolios of one name replace each other
  std::size_t kernels = 4;     // of each kind, at most
  std::size_t candidates = 3;  // best schedules of each shape that come into question for all of them
  int rounds = 3;              // of each candidate on each shape
  std::string directory;       // of logs
  TuneOptions tuning;          // of each shape; log_path is set per shape
};

/// Shapes that a portfolio is chosen for: operators that differ in their sizes alone.
struct ShapeGroup {
  std::string kind;              // range_kind of configs/operator_kind.h
  std::vector<Operator> shapes;  // in their order; each function once
};
/// Groups in the order of their first shapes. Throws UserError for an input with gaps or an offset, whose
/// layout no range of sizes tells, and for the general form, whose statements none tells.
std::vector<ShapeGroup> group_by_kind(const std::vector<Operator>& operators);

struct Portfolio {
  std::string kind;
  TimeTable table;
  Selection selection;                // by places in the table
  std::vector<std::string> left_out;  // shapes of which nothing is known, a line each with the reason
};

/// Chooses from what was measured; shapes without a single time are left out. Throws NoValidSchedule when
/// that leaves none.
Portfolio choose_portfolio(const std::string& kind, std::vector<MeasuredShape> shapes,
                           const std::vector<std::vector<Schedule>>& candidates, std::size_t kernels);

/// What a caller may show meanwhile: `what` is done for a shape ("tuning", "candidates of all shapes on").
struct PortfolioCallbacks {
  std::function<void(const std::string& what, const Operator& shape, std::size_t index, std::size_t count)>
      starting;
  std::function<void(const Progress&)> progress;
};

/// Tunes each shape, then measures the best of all on each, then chooses. A shape that cannot be tuned (no
/// schedule, too large) is left out. Everything measured is in DIRECTORY/OPERATOR.jsonl and
/// DIRECTORY/OPERATOR.cross.jsonl, from which a second call goes on. Nothing when `stop` came before all was
/// measured.
std::optional<Portfolio> measure_portfolio(const ShapeGroup& group, const DeviceInfo& device,
                                           const PortfolioOptions& options, const TuningParts& parts,
                                           const PortfolioCallbacks& callbacks,
                                           const std::atomic<bool>& stop);

/// What logs hold, without a device: measured shapes of one device and clock, grouped by kind.
struct RecordedShapes {
  std::string device;
  std::vector<std::pair<std::string, std::vector<MeasuredShape>>>
      kinds;  // kind, shapes; in the order of the logs
  std::vector<std::string> warnings;
};
/// `operators`: only these, by their keys; empty: all. `device`: only devices whose name holds it. Throws
/// UserError when more than one device or clock is left, NoValidSchedule when nothing is.
RecordedShapes read_recorded_shapes(const std::vector<std::string>& logs,
                                    const std::vector<Operator>& operators, const std::string& device);

/// The entries of a portfolio's schedules: each at the shape where it loses least, with the range of all
/// shapes that were measured and its times on those it serves; their kernels are written into `store`. Throws
/// UserError when this redtune makes another kernel of a schedule than the one that was measured.
std::vector<Config> portfolio_configs(const Portfolio& portfolio, const std::string& name,
                                      const std::string& store, const TuningParts& parts);

}  // namespace redtune
