// The search space of a task: a Presburger set of tile sizes times the mappings that are legal for it.
//
// Every size is a power of two except `rows`, which also takes divisors of the kept extent. Per mapping and per value
// of `rows` (a piece) all constraints - threads per block, registers, shared bytes, alignment of vectors, non-empty
// blocks - are affine inequalities over the exponents. The set is built once per task: the same inequalities go to isl
// (isl_points, for checks and explanations) and to a pruned enumeration that packs every schedule into 8 bytes.
//
// Grids of the two late comers: prefetch is 0 or 4096 on CPU targets (only with rx == px == 1), 0 elsewhere;
// last_block has the rules of second_kernel (split >= 1, deterministic, class tree). copies is 1, 2 or 8 with private_atomic,
// fewer than the blocks that share an output, and 1 elsewhere.
//
// Cost: O(points) to build (10^5 schedules: milliseconds), O(1) to index and sample, O(log points) to find.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "space/rejection.h"
#include "space/schedule.h"
#include "space/task.h"
#include "support/rng.h"

namespace redtune {

/// Narrows a space. All set conditions must hold.
struct SpaceFilter {
  std::optional<BlockCombine> block;
  std::optional<GridCombine> grid;
  std::optional<MappingClass> mapping_class;
  bool run_to_run_only = false;  // from the determinism constraint
};

/// Reads --mapping: a class ("tree", "atomic", "hybrid"), a block or grid combine, or "block+grid".
SpaceFilter parse_mapping_filter(std::string_view text);

class SearchSpace {
 public:
  /// Builds the space of `task`; the filter of the operator's determinism is always applied.
  explicit SearchSpace(const Task& task, const SpaceFilter& filter = {});

  std::size_t size() const { return points_.size(); }
  /// The i-th schedule in a fixed order; i < size().
  Schedule at(std::size_t index) const;
  /// Index of `schedule`, or nothing when it is not in the space.
  std::optional<std::size_t> find(const Schedule& schedule) const;
  /// The first constraint that `schedule` breaks, with numbers; nothing when it is in the space.
  std::optional<Rejection> why_not(const Schedule& schedule) const;
  /// Uniform.
  std::size_t sample(Rng& rng) const { return static_cast<std::size_t>(rng.below(points_.size())); }
  /// Schedules that differ in one step of one variable (or one mapping), in index order.
  std::vector<std::size_t> neighbours(std::size_t index) const;
  /// Points of the same set counted by isl, as packed codes in order: slow, for tests.
  std::vector<std::uint64_t> isl_points() const;
  /// The set as isl text, one piece per mapping: for `space --isl`.
  std::string isl_text() const;

  const std::vector<std::uint64_t>& codes() const { return points_; }
  const Task& task() const { return task_; }

 private:
  Task task_;
  SpaceFilter filter_;
  std::vector<std::uint64_t> points_;  // sorted packed codes
};

}  // namespace redtune
