// The config store: the best schedule per (operator, device, determinism) as JSON files that a deployed
// program can load. One file per device and operator family: DIR/<device>/<op>.json.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "configs/kernel_files.h"
#include "space/launch.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

inline constexpr int kConfigVersion = 3;

/// Why a schedule was chosen that nobody has measured: it ranks first by a model among those whose kernels fit.
struct Prediction {
  std::string model;  // "analytic", or the file of a trained one
  std::size_t space_size = 0;
  std::size_t compiled = 0, dropped = 0;  // by rank: compiled, and of these spilling, too large or no code at all
  int registers = 0;                      // per thread, most of any kernel
};

/// Says what a file is, for people and for us: a file without it is somebody else's.
inline constexpr const char* kConfigFormat = "redtune_config";

/// Throws UserError for a version that this redtune does not read.
void check_config_version(std::int64_t version, const std::string& path);

/// A measured time of a config's schedule on another operator of the same kind, beside the best that is known there.
struct Transfer {
  std::string key;  // of the other operator
  double seconds = 0, best_seconds = 0;
};
/// Share of time lost there: 0.1 is a tenth.
inline double regret_of(const Transfer& transfer) { return transfer.seconds / transfer.best_seconds - 1; }

/// Where a schedule of a portfolio serves: what `redtune portfolio` measured of it. Of the shapes in the range it serves
/// those that lie nearest to one of `shapes`; the other entries of the portfolio have the same range and serve the rest.
struct ServedRange {
  std::string portfolio;                // the suite or logs that it was chosen for
  std::vector<std::int64_t> low, high;  // extents of the canonical form, outermost first, both ends included: of every
                                        // shape that the portfolio was chosen for
  std::vector<Transfer> shapes;         // that this schedule serves, the entry's own among them; as they were measured
  std::vector<std::string> uncovered;   // keys of shapes in the range that no schedule of the portfolio serves

  bool holds(const std::vector<std::int64_t>& extents) const;
  std::string text() const;  // "64..4096 x 1024"
};

/// The best schedule of one task with its evidence.
struct Config {
  Operator op;
  Determinism determinism = Determinism::kNotGuaranteed;  // class that the schedule gives
  std::string device, driver, target;
  Schedule schedule;
  Schedule default_schedule;
  double seconds = 0, low_seconds = 0, high_seconds = 0;  // median and 95 % interval
  double default_seconds = 0;
  std::vector<KernelLaunch> launches;  // grid, block, shared bytes, argument order
  std::vector<BufferSpec> buffers;
  std::string program_hash, log_hash;  // of the text and of the log lines behind it
  std::string time, version;
  std::optional<Prediction> predicted;  // then there are no times, and `device` is the name of the target
  std::optional<KernelFile> kernel;  // nothing: written by version 1, or by who had no text
  std::vector<Transfer> transfers;   // what the schedule loses on other sizes, where that was measured
  std::optional<ServedRange> range;  // one of a portfolio: stands beside the best of its sizes, may be slower there
};

/// What stands once in a store: device, key of the operator, whether it is one of a portfolio.
using ConfigKey = std::tuple<std::string, std::string, bool>;
ConfigKey key_of(const Config& config);

/// One entry of a config file, in the form of configs/config.schema.json.
Json to_json(const Config& config);
/// Throws UserError naming `origin` and field. `path` is where the entry stands in its file: "entries[2]".
Config parse_config(const Json& json, const std::string& origin, const std::string& path = "");

/// Every entry of one file; none when it is absent. Throws UserError naming file and field, also for what the strict
/// parser lets pass and the published schema does not.
std::vector<Config> read_config_file(const std::string& path);

/// What became of entries that were put.
struct PutReport {
  std::size_t added = 0, replaced = 0, kept = 0;  // kept: the store's own was better
};

class ConfigStore {
 public:
  /// For reading, `directory` may also be one config file.
  explicit ConfigStore(std::string directory) : directory_(std::move(directory)) {}

  /// Throws UserError when `put` could not write the entry of (op, device): a run asks before it measures.
  void check(const Operator& op, const std::string& device) const;
  /// Merges: replaces an entry of the same key only when the new time is better, or the old program is stale;
  /// keeps every other entry. What was measured gives way to no prediction, a prediction to everything. Atomic; concurrent writers are serialised by a lock file. Returns the file of
  /// the entry. A file that cannot be read, or is not a config file, is refused (UserError) and left as it
  /// is.
  std::string put(const Config& config, bool force = false);
  /// The same for several entries of one file (of one path_of), which is locked and written once.
  PutReport put_all(const std::vector<Config>& configs, bool force = false);
  /// Puts the schedules of one portfolio, all of one kind (configs/operator_kind.h) and device, in place of those that a
  /// portfolio of the same name has for them. Returns the file.
  std::string put_portfolio(const std::vector<Config>& members);
  /// Notes a transfer in the entry of (op, device), in place of one to the same operator, if the entry still has this
  /// schedule. False when it has not, or is gone.
  bool add_transfer(const Operator& op, const std::string& device, const Schedule& schedule,
                    const Transfer& transfer);
  /// The best of a task, never one of a portfolio. Exact key: operator key (op, sizes, strides, dtypes, axes,
  /// accumulator), determinism asked for, device.
  std::optional<Config> find(const Operator& op, const std::string& device) const;
  /// Where the entry of (op, device) belongs: DIR/<device>/<op>.json.
  std::string path_of(const Operator& op, const std::string& device) const;
  /// Its config files, sorted.
  std::vector<std::string> files() const;
  /// Everything in the store that matches a family ("" = all). Throws UserError naming file and field.
  std::vector<Config> list(const std::string& family = "") const;

 private:
  std::string directory_;
};

}  // namespace redtune
