// The three logical axes of a task that schedules tile, and the sizes derived from a schedule. The one place
// where tile arithmetic lives: search space, heuristic, code generation and cost model all ask here.
//
// Row type (contiguous axis reduced):  p = kept flat,  outer = ro (reduced, flat),  inner = ri (reduced)
// Column type (contiguous axis kept):  outer = po (kept, flat),  r = reduced flat,  inner = pi (kept)
#pragma once

#include <cstdint>
#include <vector>

#include "space/canonical.h"
#include "space/schedule.h"
#include "space/target.h"
#include "space/task.h"

namespace redtune {

struct Axes {
  bool row_type = true;
  std::int64_t kept = 1;     // row: p; column: po * pi together (number of outputs in both)
  std::int64_t outer = 1;    // row: ro; column: po
  std::int64_t reduced = 1;  // row: ro * ri; column: r
  std::int64_t inner = 1;    // row: ri; column: pi
  /// Groups behind each axis, outermost first: flat coordinates split over them by div/mod.
  std::vector<Group> kept_groups, outer_groups, reduced_groups, inner_groups;
  /// Row: kept_groups = p, outer_groups = ro, inner_groups = {ri}. Column: outer_groups = po, reduced_groups
  /// = r, inner_groups = {pi}.
};

Axes axes_of(const Canonical& canonical);

/// Launch arithmetic of a schedule.
struct Tiling {
  std::int64_t inner_units =
      1;                  // vector loads along the contiguous axis: row: floor(ri/vec); column: ceil(pi/vec)
  std::int64_t tail = 0;  // row: ri % vec elements handled apart; column: 0 (the last vector overlaps)
  std::int64_t kept_tile = 1;     // kept units (row: outputs; column: vectors) per block step: px * rows
  std::int64_t tiles_inner = 1;   // column: tiles along pi; row: 1
  std::int64_t tiles = 1;         // tiles of the kept axes in all (column: po * tiles_inner)
  std::int64_t kept_blocks = 1;   // ceil(tiles / serial)
  std::int64_t reduced_tile = 1;  // units along the reduced axis per iteration: rx * items
  std::int64_t split_outer = 1;   // row: blocks along ro = min(split, ro); column: 1
  std::int64_t split_inner =
      1;                   // blocks along the reduced tile loop; split_outer * split_inner blocks in all
  std::int64_t chunk = 1;  // walk=chunked: units of the inner (row) or reduced (column) axis per block,
                           // a multiple of reduced_tile
  std::int64_t outer_chunk = 1;  // walk=chunked: steps of ro per block
  std::int64_t partials =
      1;  // results per output that reach the grid combine, from blocks that stay empty too
  std::int64_t blocks() const { return kept_blocks * split_outer * split_inner; }
};

Tiling tiling_of(const Axes& axes, const Schedule& schedule, int warp);

/// A bound on the additions that one element passes through under `schedule`: serial steps + combine steps.
/// >= 1.
std::int64_t combine_depth(const Task& task, const Schedule& schedule);

/// Widest legal vector (elements, power of two, at most 16) along the contiguous axis of the input on this
/// target. 1 when that axis has gaps, or when its outputs do not lie side by side.
int max_vector(const Task& task);

}  // namespace redtune
