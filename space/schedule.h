// A schedule: one way to compute a task, one point of its space. An aggregate with a text form that can be
// pasted back: "block=tree grid=second_kernel rx=256 px=1 vec=4 acc=2 items=4 rows=1 serial=1 split=8
// walk=strided".
//
// Sizes, for a task whose contiguous axis is reduced (row type; axes p, ro, ri) or kept (column type; po, r,
// pi):
//
//   px      threads of a block along the kept axis (row: p; column: pi)
//   rx      threads of a block along the reduced axis (row: ri; column: r)
//   vec     elements of the contiguous axis per load: vector lanes of the accumulators
//   rows    outputs that a thread computes at once, in registers (row: rows of p; column: vectors of pi)
//   serial  tiles of the kept axis that a block computes one after the other
//   items   loads that a thread issues per iteration of its loop along the reduced axis (unrolled)
//   acc     independent accumulators per output that those items rotate over (acc divides items)
//   split   blocks that share the reduced axis
//   walk    how those blocks share it: `chunked` contiguous pieces, `strided` interleaved tiles
//   copies  private copies of the outputs that the blocks of grid=private_atomic add to, in turns
//   prefetch  bytes ahead of its loads that a thread asks the cache for (0: nothing; CPU targets only: on the
//           machines measured it was worth up to 1.8x for rows that one work-item walks alone)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace redtune {

/// How the threads of a block combine their partial results.
enum class BlockCombine : std::uint8_t {
  kNone,     // rx == 1: nothing to combine; rx > 1: every thread goes to the grid combine by itself
  kLane,     // every thread stores to shared memory, one lane per output adds them up
  kTree,     // halving tree in shared memory
  kWarp,     // shuffles inside a (sub-)warp; rx <= warp: one result per output; rx > warp: one per warp
  kShuffle,  // shuffles inside each warp, then shared memory across warps
  kShared,   // every thread adds to its output's place in shared memory by an atomic
  kRedux,    // one instruction combines a warp, then shared memory across warps (integers of 32 bits)
};

/// How the blocks (or threads, or warps) that share an output combine.
enum class GridCombine : std::uint8_t {
  kNone,          // one result per output: stored
  kSecondKernel,  // partials to a buffer, a second kernel reduces them
  kLastBlock,     // partials to a buffer; the block that draws the last ticket reduces them (same kernel)
  kAtomic,  // each result is added to the output by an atomic; the output is first filled with the identity
  kPrivateAtomic,  // the same to one of `copies` copies of the output; a second kernel joins the copies
  kGridSync,  // partials to a buffer; the first of the blocks that share an output waits for the others (all resident)
  kCluster,   // partials stay in shared memory; the first block of a cluster reads those of the others
};

enum class Walk : std::uint8_t { kStrided, kChunked };

/// Class of a mapping, as in the paper: tree (no atomics), atomic (threads or warps add straight to the
/// output), hybrid (combine inside the block, atomics across blocks).
enum class MappingClass : std::uint8_t { kTree, kAtomic, kHybrid };

/// Every name, in enum order.
std::span<const std::string_view> block_combine_names();
std::span<const std::string_view> grid_combine_names();

std::string_view name(BlockCombine c);
std::string_view name(GridCombine c);
std::string_view name(Walk w);
std::string_view name(MappingClass c);

struct Schedule {
  BlockCombine block = BlockCombine::kNone;
  GridCombine grid = GridCombine::kNone;
  std::int32_t rx = 1, px = 1, vec = 1, acc = 1, items = 1, rows = 1, serial = 1;
  std::int32_t split = 1;
  Walk walk = Walk::kChunked;
  std::int32_t prefetch = 0;
  std::int32_t copies = 1;

  MappingClass mapping_class() const;
  /// "tree", "second_kernel", ... joined: "lane+atomic". The name of the row of the mapping table.
  std::string mapping() const;
  /// Whether results come together in whatever order the hardware gives: atomics in the block or across blocks.
  bool uses_atomics() const;
  int threads() const { return rx * px; }
  std::string text() const;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The sizes of a schedule in the order of its text form; none may be below `smallest`.
struct ScheduleSize {
  std::string_view name;
  std::int32_t Schedule::*member;
  std::int32_t smallest;
};
std::span<const ScheduleSize> schedule_sizes();

/// How far two schedules are apart, in squared doublings of their sizes; another block or grid combine counts
/// as two doublings each.
double squared_distance(const Schedule& a, const Schedule& b);

/// Reads what `text` prints; fields may be missing (defaults) and in any order; separators blanks or commas.
/// Throws UserError naming the unknown or bad field.
Schedule parse_schedule(std::string_view text);

}  // namespace redtune
