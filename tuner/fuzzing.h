// Random operators with schedules of each mapping against the reference: which ones, and what came of them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "space/schedule.h"
#include "space/task.h"
#include "tuner/verification.h"

namespace redtune {

/// One operator of the sequence that a seed makes.
struct FuzzStep {
  std::int64_t number = 0;
  Task task;
  std::vector<Schedule> schedules;  // empty: no legal one, which is a fault of the space
  bool optimized = false;           // its kernels are to be compiled with optimization
};

/// Step `number`, whatever was drawn before it. Most of the time of a check goes into compiling what is unrolled, so
/// three of four steps take of several random schedules of a mapping the one with the least of it; one in 32 is
/// compiled with optimization.
FuzzStep fuzz_step(std::uint64_t seed, std::int64_t number, const Target& target, std::size_t per_mapping);

/// What came of a step: how many of its schedules were run, and the verdicts by mapping. To and from one line of a
/// file, so that a later run can go on behind it.
struct FuzzResult {
  std::int64_t number = 0;
  std::string form, op, dtype, layout;
  bool optimized = false;
  VerifyTally tally;

  FuzzResult(const FuzzStep& step, std::uint64_t seed);
  /// Throws UserError naming `origin` and the field.
  FuzzResult(const Json& line, const std::string& origin);
  Json json() const;
};

/// How many cases (operator with schedule) each value of a property got.
using FuzzCounts = std::map<std::string, std::int64_t>;

/// All results of a run and of those that it goes on with.
class FuzzTally {
 public:
  void add(const FuzzResult& result);
  std::int64_t cases() const { return tally_.total().schedules; }
  std::int64_t operators() const { return operators_; }
  const VerifyTally& verdicts() const { return tally_; }
  /// For people: a line per property.
  std::string text() const;
  Json json() const;

 private:
  VerifyTally tally_;
  std::int64_t operators_ = 0;
  std::map<std::string, FuzzCounts> counts_;  // by property
};

}  // namespace redtune
