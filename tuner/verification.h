// What `verify` and `fuzz` share: which schedules to run, the tally by mapping, and the line that repeats a
// failure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/verifier.h"
#include "space/search_space.h"
#include "support/rng.h"

namespace redtune {

/// Up to `per_mapping` different schedules of each mapping of the space, drawn with `rng`; nullopt: all.
/// Cost: one pass over the space.
std::vector<Schedule> schedules_by_mapping(const SearchSpace& space, std::optional<std::size_t> per_mapping,
                                           Rng& rng);

struct VerifyFailure {
  std::string schedule, mapping, pattern, kind, detail;
  std::string command;  // repeats it: one line of shell
};

struct MappingTally {
  std::int64_t schedules = 0, runs = 0, rejected = 0, failed = 0;
  double max_error = 0;
  MappingTally& operator+=(const MappingTally& other);
};

/// Verdicts of one or more tasks, by mapping.
class VerifyTally {
 public:
  explicit VerifyTally(std::uint64_t seed = 0) : seed_(seed) {}
  /// Reads what `json` gives. Throws UserError.
  explicit VerifyTally(JsonObject json);

  void add(const Task& task, const Schedule& schedule, const ScheduleVerdict& verdict);
  void add(const VerifyTally& other);

  const std::map<std::string, MappingTally>& mappings() const { return mappings_; }
  MappingTally total() const;
  const std::vector<VerifyFailure>& failures() const { return failures_; }
  /// Rows in the order of the mapping table, and a last one with the sums.
  std::string table() const;
  /// The first failures, each with its command.
  std::string failure_text(std::size_t most) const;
  Json json() const;

 private:
  std::uint64_t seed_;
  std::map<std::string, MappingTally> mappings_;
  std::vector<VerifyFailure> failures_;
};

/// `redtune run` for one schedule on one kind of input, in the shell's words.
std::string run_command(const Operator& op, const Schedule& schedule, const std::string& pattern,
                        std::uint64_t seed);

}  // namespace redtune
