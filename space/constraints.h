// What makes a point of the raw grid a legal and sensible schedule: affine inequalities over the exponents,
// made once per task and piece. The same data feeds the enumeration, isl and the explanations. Internal to
// space/.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "space/axes.h"
#include "space/rejection.h"
#include "space/search_space.h"
#include "space/space_grid.h"
#include "space/task.h"

namespace redtune {

/// Logarithms of a task's extents and of its target's limits.
struct SpaceFacts {
  const Task* task = nullptr;
  Axes axes;
  bool cpu = true;
  int vec_kept = 0;     // 1 where vector lanes are outputs (column type)
  int tile_log = 0;     // ceil: axis that px, rows (and column: vec) tile: row: p, column: pi
  int kept_log = 0;     // ceil: tiles of size 1 of all kept axes
  int reduced_log = 0;  // ceil: axis that rx and items (and row: vec) tile: row: ri, column: r
  int split_log = 0;    // floor: what `split` can share out: row: ro * ri, column: r
  int warp_log = 0;
  int units_log = 0;        // ceil
  int waves_log = 0;        // blocks per unit that a split may reach
  int accumulator_log = 0;  // ceil: bytes of a partial result
  int body_log = 0;         // ceil: loads and stores of one element where it is computed by a fused body
};
SpaceFacts facts_of(const Task& task);

/// Part of the grid on which the constraints are affine: one mapping, one value of `rows`, serial = 1 or
/// more.
struct Piece {
  int mapping = 0;
  int rows = 1;
  bool looped = false;  // serial > 1: tiles of the kept axis one after the other
};

struct Constraint {
  std::string_view name;
  Exponents coefficients{};
  int bound = 0;  // coefficients . exponents <= bound
  /// What is wrong, in numbers, with a schedule that breaks it.
  std::string (*explain)(const SpaceFacts& facts, const Schedule& schedule) = nullptr;
};

std::vector<Constraint> constraints_of(const SpaceFacts& facts, const Piece& piece);

/// Pieces of a task under a filter, in the order of their packed points.
std::vector<Piece> pieces_of(const Task& task, const SpaceFilter& filter, const Grids& grids);

/// Whether schedules of the mapping may have private copies of the output.
bool has_copies(int mapping);

/// The values of `variable` in a piece.
std::vector<int> grid_in_piece(const Grids& grids, const Piece& piece, int variable);

/// Why a mapping is not in the space: the legality table, then the filter.
std::optional<Rejection> reject_mapping(const Task& task, const SpaceFilter& filter, int mapping);

/// The first constraint that `schedule` breaks. SearchSpace::why_not without building the space.
std::optional<Rejection> why_not(const Task& task, const SpaceFilter& filter, const Schedule& schedule);

}  // namespace redtune
