#include "space/axes.h"

#include <algorithm>
#include <bit>

#include "support/error.h"
#include "support/integers.h"

namespace redtune {
namespace {

std::int64_t size_of(const std::vector<Group>& groups) {
  std::int64_t size = 1;
  for (const Group& group : groups) size *= group.extent;
  return size;
}

std::int64_t partials_of_block(const Schedule& schedule, int warp) {
  if (schedule.block == BlockCombine::kNone) return schedule.rx;
  if (schedule.block == BlockCombine::kWarp && schedule.rx > warp) return ceil_div(schedule.rx, warp);
  return 1;
}

// Additions on the way of a thread's result to the block's result.
std::int64_t block_combine_depth(const Schedule& schedule, int warp) {
  const std::int64_t rx = schedule.rx, lanes = std::min<std::int64_t>(rx, warp);
  const auto halvings = [](std::int64_t n) {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
  };
  switch (schedule.block) {
    case BlockCombine::kNone:
      return 0;
    case BlockCombine::kLane:
    case BlockCombine::kShared:
      return rx;
    case BlockCombine::kTree:
      return halvings(rx);
    case BlockCombine::kWarp:
      return halvings(lanes);
    case BlockCombine::kShuffle:
    case BlockCombine::kRedux:
      return halvings(lanes) + ceil_div(rx, warp);
  }
  RT_CHECK(false, "block combine without a depth");
}

}  // namespace

Axes axes_of(const Canonical& canonical) {
  Axes axes;
  axes.row_type = canonical.inner_is_reduced();
  axes.kept = canonical.parallel_size();
  axes.reduced = canonical.reduced_size();
  if (canonical.groups.empty()) return axes;
  axes.inner = canonical.inner_extent();
  axes.inner_groups = {canonical.groups.back()};
  for (std::size_t i = 0; i + 1 < canonical.groups.size(); ++i) {
    const Group& group = canonical.groups[i];
    const bool reduced = group.role == Role::kReduced;
    if (axes.row_type)
      (reduced ? axes.outer_groups : axes.kept_groups).push_back(group);
    else
      (reduced ? axes.reduced_groups : axes.outer_groups).push_back(group);
  }
  axes.outer = size_of(axes.outer_groups);
  return axes;
}

Tiling tiling_of(const Axes& axes, const Schedule& schedule, int warp) {
  Tiling t;
  const std::int64_t vec = schedule.vec, split = schedule.split;
  t.kept_tile = std::int64_t{schedule.px} * schedule.rows;
  t.reduced_tile = std::int64_t{schedule.rx} * schedule.items;
  std::int64_t units = axes.reduced;
  if (axes.row_type) {
    t.inner_units = axes.inner / vec;
    t.tail = axes.inner % vec;
    t.tiles = ceil_div(axes.kept, t.kept_tile);
    t.split_outer = std::clamp<std::int64_t>(axes.outer, 1, split);
    t.split_inner = ceil_div(split, t.split_outer);
    units = t.inner_units;
  } else {
    t.inner_units = ceil_div(axes.inner, vec);
    t.tiles_inner = ceil_div(t.inner_units, t.kept_tile);
    t.tiles = axes.outer * t.tiles_inner;
    t.split_inner = split;
  }
  t.kept_blocks = ceil_div(t.tiles, schedule.serial);
  t.chunk = ceil_div(ceil_div(units, t.split_inner), t.reduced_tile) * t.reduced_tile;
  t.outer_chunk = axes.row_type ? ceil_div(axes.outer, t.split_outer) : 1;
  t.partials = t.split_outer * t.split_inner * partials_of_block(schedule, warp);
  return t;
}

std::int64_t combine_depth(const Task& task, const Schedule& schedule) {
  const Axes axes = axes_of(task.canonical);
  const Tiling t = tiling_of(axes, schedule, task.target.warp);
  // Both walks give a thread at most ceil(units / split_inner / reduced_tile) rounds; items rotate over
  // accumulators.
  const std::int64_t rounds = t.chunk / t.reduced_tile;
  const std::int64_t per_round = ceil_div(schedule.items, schedule.acc);
  std::int64_t depth = t.outer_chunk * rounds * per_round + (schedule.acc - 1);
  if (axes.row_type) {
    // The vector's lanes are added up, and one thread takes the tail of each of its rows apart.
    depth += (schedule.vec - 1) + t.outer_chunk * t.tail;
  }
  depth += block_combine_depth(schedule, task.target.warp);
  if (schedule.grid != GridCombine::kNone) depth += t.partials;
  if (schedule.grid == GridCombine::kPrivateAtomic) depth += schedule.copies;
  return std::max<std::int64_t>(1, depth);
}

namespace {

/// What lies between two vectors of the contiguous axis, of the input and, where lanes are outputs, of these: or'ed, since
/// only common factors of two matter.
std::uint64_t distances(const std::vector<Group>& groups) {
  const bool kept = groups.back().role == Role::kParallel;
  std::uint64_t steps = 0;
  for (const Group& group : groups) {
    if (&group == &groups.back()) {
      if (kept) steps |= static_cast<std::uint64_t>(group.extent);
    } else if (group.extent > 1) {
      steps |= static_cast<std::uint64_t>(group.stride);
      if (kept) steps |= static_cast<std::uint64_t>(group.output_stride);
    }
  }
  return steps;
}

/// Lanes of the main access; others are read lane by lane where they do not lie side by side. What the body writes must
/// be written once: no vector may overlap its neighbour.
int max_fused_vector(const Task& task) {
  constexpr int kWidest = 16;
  const std::vector<Group>& groups = task.canonical.groups;
  const std::int64_t inner = groups.back().extent;
  const std::int64_t loaded = task.target.vector_bytes / bytes_of(task.input_dtype());
  int vec = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(std::min(inner, loaded), 1, kWidest))));
  std::uint64_t steps = 0;
  if (!task.fused->body_stores.empty()) steps |= static_cast<std::uint64_t>(inner);
  if (task.target.aligned_vectors) {
    steps |= static_cast<std::uint64_t>(task.nest().input().offset);
    steps |= distances(groups);
  }
  while (steps % static_cast<std::uint64_t>(vec) != 0) vec /= 2;
  return vec;
}

}  // namespace

int max_vector(const Task& task) {
  constexpr int kWidest = 16;
  const std::vector<Group>& groups = task.canonical.groups;
  if (groups.empty() || groups.back().stride != 1) return 1;
  if (task.fused) return max_fused_vector(task);
  const std::int64_t inner = groups.back().extent;
  const bool kept = groups.back().role == Role::kParallel;
  // Where lanes are separate outputs their results lie side by side, or no vector could be stored.
  if (kept && groups.back().output_stride != 1) return 1;
  const std::int64_t loaded = task.target.vector_bytes / bytes_of(task.input_dtype());
  const std::int64_t lanes = std::clamp<std::int64_t>(std::min(inner, loaded), 1, kWidest);
  int vec = static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(lanes)));
  if (!task.target.aligned_vectors) return vec;
  const std::uint64_t steps = static_cast<std::uint64_t>(task.op.input().offset) | distances(groups);
  while (steps % static_cast<std::uint64_t>(vec) != 0) vec /= 2;
  return vec;
}

}  // namespace redtune
