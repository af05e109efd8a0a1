#include "space/heuristic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "space/axes.h"
#include "space/constraints.h"
#include "space/mappings.h"
#include "space/search_space.h"
#include "space/space_grid.h"
#include "support/error.h"
#include "support/integers.h"

namespace redtune {
namespace {

std::int32_t power(int exponent) { return std::int32_t{1} << std::max(0, exponent); }

// ---- CPU
// -------------------------------------------------------------------------------------------------------------

constexpr std::int64_t kCpuBlocksPerUnit = 4;
/// Below this a block is over before another core has started on its share.
constexpr std::int64_t kCpuSplitBytes = 64 * 1024;

/// Vectors of the inner kept axis that a work-item keeps in registers: all of them when they fit, so that it
/// reads whole lines one after the other; else a divisor, so that no tile is partial.
std::int32_t cpu_column_rows(std::int64_t vectors) {
  constexpr std::int32_t kMost = 16, kFew = 4;
  if (vectors <= kMost) return static_cast<std::int32_t>(std::max<std::int64_t>(1, vectors));
  for (std::int32_t divisor = kMost; divisor >= kFew; --divisor) {
    if (vectors % divisor == 0) return divisor;
  }
  const auto padded = [&](std::int64_t rows) { return ceil_div(vectors, rows) * rows; };
  return padded(kMost) <= padded(kMost / 2) ? kMost : kMost / 2;
}

/// One work-item per block that walks its outputs alone.
Schedule cpu_default(const Task& task, const SpaceFacts& facts) {
  constexpr int kItems = 2;  // exponent: enough additions in flight to hide their latency
  const Axes& axes = facts.axes;
  Schedule s;
  s.vec = max_vector(task);
  if (axes.row_type) {
    s.items = s.acc = power(std::min(kItems, facts.reduced_log - floor_log2(s.vec)));
  } else {
    s.rows = cpu_column_rows(ceil_div(axes.inner, s.vec));
    const int rows_log = ceil_log2(s.rows);
    s.items = power(std::min({kItems, facts.reduced_log, 6 - rows_log}));
    // Several outputs are independent additions already.
    s.acc = std::min(s.items, power(4 - rows_log));
  }
  const std::int64_t units = task.target.units;
  const std::int64_t tiles = tiling_of(axes, s, task.target.warp).tiles;
  while (tiles / (std::int64_t{s.serial} * 4) >= kCpuBlocksPerUnit * units && s.serial < power(16))
    s.serial *= 4;
  if (tiles >= units) return s;

  const std::int64_t width =
      axes.row_type ? s.rows : std::min<std::int64_t>(axes.inner, std::int64_t{s.rows} * s.vec);
  const std::int64_t bytes = axes.reduced * width * bytes_of(task.input_dtype());
  int split = ceil_log2(ceil_div(2 * units, std::max<std::int64_t>(1, tiles)));
  while (split > 0 && bytes >> split < kCpuSplitBytes) --split;
  if (split > 0) {
    s.split = power(split);
    s.grid = GridCombine::kSecondKernel;
  }
  return s;
}

// ---- GPU: the published heuristic of AKG
// -----------------------------------------------------------------------------

/// What AKG calls the coefficients: how much work a block should find before blocks are spent on the reduced
/// axis.
struct GpuShape {
  std::int64_t min_blocks;
  bool large;  // enough elements for 8 rows per block and 512 blocks
};

GpuShape gpu_shape(const Axes& axes) {
  constexpr std::int64_t kManyBlocks = 512, kFewBlocks = 32, kThreads = 1024, kElementsPerThread = 8;
  if (!axes.row_type) return {kFewBlocks, true};
  const bool large = axes.kept * axes.reduced / kManyBlocks / kThreads >= kElementsPerThread;
  return {large ? kManyBlocks : kFewBlocks, large};
}

/// Threads along a reduced row: the most that divide it, at least a warp; the most of all when none does.
int gpu_row_threads_log(const Axes& axes, int most_log, int warp_log) {
  const int start = std::min(most_log, floor_log2(axes.inner));
  for (int e = start; e >= warp_log; --e) {
    if (axes.inner % power(e) == 0) return e;
  }
  return start;
}

void gpu_row_threads(Schedule& s, const SpaceFacts& facts) {
  const bool alone = facts.axes.kept == 1;
  const bool large = gpu_shape(facts.axes).large;
  const int most_log = std::min(alone   ? 10
                                : large ? 7
                                        : 8,
                                floor_log2(facts.task->target.max_threads_per_block));
  const int rx = gpu_row_threads_log(facts.axes, most_log, facts.warp_log);
  // Several rows per block, and never less than a warp.
  const int px = std::min(facts.tile_log, std::max(large ? 3 : 1, facts.warp_log - rx));
  s.rx = power(rx);
  s.px = power(px);
  if (rx == 0) return;
  const bool whole_warps = rx + px >= facts.warp_log;
  s.block = !whole_warps          ? BlockCombine::kTree
            : rx > facts.warp_log ? BlockCombine::kShuffle
                                  : BlockCombine::kWarp;
}

void gpu_column_threads(Schedule& s, const SpaceFacts& facts) {
  const int px = std::min(7, facts.tile_log);
  // A narrow kept axis leaves threads of a block of 128 for the reduced one.
  const int rx = std::min(std::max(3, 7 - px), floor_log2(facts.axes.reduced));
  s.px = power(px);
  s.rx = power(rx);
  if (rx > 0) s.block = BlockCombine::kTree;
}

/// Elements that a thread adds up before its block turns to the others.
std::int64_t gpu_elements_per_thread(const Schedule& s, const Axes& axes) {
  const std::int64_t tiles =
      axes.row_type ? ceil_div(axes.kept, s.px) : axes.outer * ceil_div(axes.inner, s.px);
  const std::int64_t possible_blocks = ceil_div(axes.reduced, s.rx) * tiles;
  const std::int64_t wanted = (possible_blocks / gpu_shape(axes).min_blocks + 1) / 2 * 2;
  return std::clamp<std::int64_t>(wanted, 1, 32);
}

/// Blocks that share the reduced axis. Sums (and means, which are sums until their last step) do so by atomics, as many
/// as published, where atomics on the output are legal. Everything else keeps partials for a second kernel: as many
/// blocks as give each unit a few, since beyond that partials only grow. (Published is a single block for those; with a
/// long axis it would leave a device idle.)
void gpu_split(Schedule& s, const SpaceFacts& facts, std::int64_t elements) {
  constexpr std::int64_t kShortRow = 1024;
  constexpr int kBlocksPerUnitLog = 2;
  const Axes& axes = facts.axes;
  if (axes.row_type && axes.reduced < kShortRow) return;
  const bool adds = info(facts.task->reduce_op()).combine == name(ReduceOp::kSum);
  const bool atomic = adds && !reject_mapping(*facts.task, s.block, GridCombine::kAtomic);
  const double blocks = static_cast<double>(axes.reduced) / static_cast<double>(elements * s.rx);
  const int nearest = blocks <= 1 ? 0 : static_cast<int>(std::lround(std::log2(blocks)));
  const int waves_log = atomic ? facts.waves_log : kBlocksPerUnitLog;
  const int waves = facts.units_log + waves_log + floor_log2(s.px) - facts.kept_log;
  const int split = std::min({nearest, facts.split_log - floor_log2(s.rx), waves, 16});
  if (split <= 0) return;
  s.split = power(split);
  s.grid = atomic ? GridCombine::kAtomic : GridCombine::kSecondKernel;
}

Schedule gpu_default(const Task&, const SpaceFacts& facts) {
  constexpr std::int64_t kSerialReduction = 32;
  const Axes& axes = facts.axes;
  Schedule s;
  if (axes.reduced <= kSerialReduction) {
    s.px = power(std::min(8, facts.tile_log));
    s.items = power(std::min(2, facts.reduced_log));
    return s;
  }
  axes.row_type ? gpu_row_threads(s, facts) : gpu_column_threads(s, facts);
  const std::int64_t elements = gpu_elements_per_thread(s, axes);
  gpu_split(s, facts, elements);
  const std::int64_t per_thread = s.split > 1 ? elements : ceil_div(axes.reduced, s.rx);
  s.items = power(std::min({2, floor_log2(per_thread), facts.reduced_log - floor_log2(s.rx)}));
  return s;
}

// ---- projection
// ------------------------------------------------------------------------------------------------------

/// Steps between two points; another combine costs more than any one size.
int distance(const GridPoint& a, const GridPoint& b) {
  const auto row = [](const GridPoint& p) { return mappings()[static_cast<std::size_t>(p.mapping)]; };
  int sum = (row(a).block != row(b).block ? 8 : 0) + (row(a).grid != row(b).grid ? 12 : 0);
  sum += std::abs(ceil_log2(a.rows) - ceil_log2(b.rows));
  for (std::size_t v = 0; v < kVariables; ++v) sum += std::abs(a.exponents[v] - b.exponents[v]);
  return sum;
}

/// The legal schedule nearest to `wanted`, the first of equals. A shape that the rules above did not foresee
/// costs one look at the whole space.
Schedule nearest_legal(const Task& task, const Schedule& wanted) {
  if (!why_not(task, {}, wanted)) return wanted;
  const SearchSpace space(task);
  RT_CHECK(space.size() > 0, "empty search space of " + task.key());
  const GridPoint aim = point_of(wanted).value_or(GridPoint{});
  std::uint64_t best = space.codes().front();
  int least = std::numeric_limits<int>::max();
  for (const std::uint64_t code : space.codes()) {
    const int steps = distance(unpack(code), aim);
    if (steps >= least) continue;
    least = steps;
    best = code;
  }
  return schedule_of(unpack(best));
}

}  // namespace

Schedule default_schedule(const Task& task) {
  const SpaceFacts facts = facts_of(task);
  return nearest_legal(task, facts.cpu ? cpu_default(task, facts) : gpu_default(task, facts));
}

Schedule default_in(const SearchSpace& space) {
  const Task& task = space.task();
  const Schedule start = default_schedule(task);
  if (space.find(start)) return start;
  space.need_schedules();
  std::size_t best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < space.size(); ++i) {
    const double distance = squared_distance(start, space.at(i));
    if (distance < best_distance) best = i, best_distance = distance;
  }
  return space.at(best);
}

}  // namespace redtune
