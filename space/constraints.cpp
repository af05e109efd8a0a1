#include "space/constraints.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <utility>

#include "space/mappings.h"

namespace redtune {
namespace {

using Terms = std::initializer_list<std::pair<Variable, int>>;
using Text = std::string;
using F = SpaceFacts;
using S = Schedule;

constexpr int kLaneLog = 5;      // additions that one lane of a GPU block does alone
constexpr int kAtomicsLog = 12;  // atomics on one output when each thread has its own
constexpr int kSectorLog = 5;    // bytes that a GPU fetches at once
constexpr int kClusterLog = 3;   // blocks of a cluster that every device with clusters can place
/// Elements that one f32 accumulator adds up one after the other, and those that it counts: at 2^24 adding
/// one changes nothing any more, so sums of ones would stop there, and a running mean would forget how old it
/// is.
constexpr int kChainLog = 23;

Tiling tiling(const F& f, const S& s) { return tiling_of(f.axes, s, f.task->target.warp); }
std::int64_t tiled_extent(const F& f) { return f.axes.row_type ? f.axes.kept : f.axes.inner; }
std::int64_t looped_extent(const F& f) { return f.axes.row_type ? f.axes.inner : f.axes.reduced; }
std::string_view looped_axis(const F& f) { return f.axes.row_type ? "inner reduced axis" : "reduced axis"; }

// ---- what is wrong, in numbers
// ---------------------------------------------------------------------------------

Text too_many_threads(const F& f, const S& s) {
  return fmt::format("rx*px = {}*{} = {} threads, target {} allows {}", s.rx, s.px, std::int64_t{s.rx} * s.px,
                     f.task->target.name, f.task->target.max_threads_per_block);
}

Text partial_warp(const F& f, const S& s) {
  return fmt::format(
      "rx*px = {}*{} = {} threads leave lanes of a warp of {} idle, and the axes have work for more", s.rx,
      s.px, s.threads(), f.task->target.warp);
}

Text broken_warp(const F& f, const S& s) {
  return fmt::format("block={} shuffles whole warps of {}; rx*px = {}*{} = {} threads", name(s.block),
                     f.task->target.warp, s.rx, s.px, s.threads());
}

Text nobody_combines(const F&, const S& s) {
  return fmt::format(
      "block=none with rx={}: nothing combines the threads of a block; take grid=atomic or another "
      "block combine",
      s.rx);
}

Text nothing_to_combine(const F&, const S& s) {
  return fmt::format("block={} combines rx threads, and rx={}; take block=none", name(s.block), s.rx);
}

Text more_than_a_warp(const F& f, const S& s) {
  return fmt::format("block=warp with rx={}: a warp has {} lanes; take block=shuffle or grid=atomic", s.rx,
                     f.task->target.warp);
}

Text not_more_than_a_warp(const F& f, const S& s) {
  return fmt::format("block=shuffle combines several warps of {}, and rx={}; take block=warp",
                     f.task->target.warp, s.rx);
}

Text lane_too_long(const F&, const S& s) {
  return fmt::format("block=lane with rx={}: one lane adds up {} results while the others wait (limit {})",
                     s.rx, s.rx, 1 << kLaneLog);
}

Text too_many_atomics(const F& f, const S& s) {
  return fmt::format("rx={} split={} make {} atomics on each output (limit {})", s.rx, s.split,
                     tiling(f, s).partials, 1 << kAtomicsLog);
}

Text split_too_small(const F& f, const S& s) {
  return fmt::format(
      "split={} still makes only {} blocks for {} units, and the reduced axes have more to share", s.split,
      tiling(f, s).blocks(), f.task->target.units);
}

Text split_without_combine(const F&, const S& s) {
  return fmt::format("split={} blocks share the reduced axis and grid=none does not combine them", s.split);
}

Text combine_without_split(const F&, const S& s) {
  return fmt::format("grid={} combines results of an output, and split={} with block={} rx={} makes one",
                     name(s.grid), s.split, name(s.block), s.rx);
}

Text strided_alone(const F&, const S& s) {
  return fmt::format("walk=strided says how split blocks interleave, and split={}; take walk=chunked",
                     s.split);
}

Text idle_kept(const F& f, const S& s) {
  const std::int64_t lanes = std::int64_t{s.px} * s.rows * (f.axes.row_type ? 1 : s.vec);
  return f.axes.row_type
             ? fmt::format("px*rows = {}*{} = {} outputs per tile, the kept axis has {}", s.px, s.rows, lanes,
                           tiled_extent(f))
             : fmt::format("px*rows*vec = {}*{}*{} = {} outputs per tile, the inner kept axis has {}", s.px,
                           s.rows, s.vec, lanes, tiled_extent(f));
}

Text idle_reduced(const F& f, const S& s) {
  const std::int64_t lanes = std::int64_t{s.rx} * s.items * (f.axes.row_type ? s.vec : 1);
  return f.axes.row_type ? fmt::format("rx*items*vec = {}*{}*{} = {} elements per iteration, the {} has {}",
                                       s.rx, s.items, s.vec, lanes, looped_axis(f), looped_extent(f))
                         : fmt::format("rx*items = {}*{} = {} elements per iteration, the {} has {}", s.rx,
                                       s.items, lanes, looped_axis(f), looped_extent(f));
}

Text uncoalesced(const F& f, const S& s) {
  const std::int64_t run = std::int64_t{s.vec} * (f.axes.row_type ? s.rx : s.px);
  const int bytes = bytes_of(f.task->input_dtype());
  return fmt::format(
      "{}*vec = {} neighbouring elements of {} bytes = {} bytes, memory comes in sectors of {}",
      f.axes.row_type ? "rx" : "px", run, bytes, run * bytes, 1 << kSectorLog);
}

Text empty_split(const F& f, const S& s) {
  return fmt::format(
      "split={} blocks with rx={}{} leave some without work: the reduced axes have {} elements", s.split,
      s.rx, f.axes.row_type ? fmt::format(" vec={}", s.vec) : "", f.axes.reduced);
}

Text acc_beyond_items(const F&, const S& s) {
  return fmt::format("acc={} accumulators rotate over items={} loads: acc must not be larger", s.acc,
                     s.items);
}

Text unrolled(const F& f, const S& s) {
  std::string text = fmt::format("rows*items = {}*{} = {} unrolled loads per iteration", s.rows, s.items,
                                 s.rows * s.items);
  if (f.body_log > 0) text += fmt::format(", each of about {} loads and stores", 1 << f.body_log);
  return text;
}

Text registers(const F& f, const S& s) {
  const int bytes = f.task->state_bytes();
  return fmt::format("rows*acc*vec = {}*{}*{} accumulators of {} bytes = {} bytes of registers per thread",
                     s.rows, s.acc, s.vec, bytes, std::int64_t{s.rows} * s.acc * s.vec * bytes);
}

Text chain_too_long(const F& f, const S& s) {
  const std::int64_t chains = std::int64_t{s.split} * s.rx * s.acc * (f.axes.row_type ? s.vec : 1);
  return fmt::format(
      "{} elements in split*rx*acc{} = {} accumulators: an f32 that adds one element after the other stands "
      "still at "
      "2^24 (limit 2^{} each)",
      f.axes.reduced, f.axes.row_type ? "*vec" : "", chains, kChainLog);
}

Text shared_bytes(const F& f, const S& s) {
  const std::int64_t lanes = f.axes.row_type ? 1 : s.vec;
  return fmt::format(
      "rx*px{} = {} partial results of {} bytes, target {} has {} bytes of shared memory per block",
      f.axes.row_type ? "" : "*vec", lanes * s.rx * s.px,
      f.task->state_bytes(), f.task->target.name,
      f.task->target.shared_bytes_per_block);
}

Text too_wide(const F& f, const S& s) {
  return fmt::format("vec={}; alignment, extent and type of the contiguous axis allow {}", s.vec,
                     max_vector(*f.task));
}

Text serial_and_split(const F&, const S& s) {
  return fmt::format("serial={} makes blocks fewer and split={} makes them more: one of them must be 1",
                     s.serial, s.split);
}

Text idle_units(const F& f, const S& s) {
  return fmt::format("serial={} leaves {} blocks for {} units", s.serial, tiling(f, s).blocks(),
                     f.task->target.units);
}

Text too_many_waves(const F& f, const S& s) {
  return fmt::format("split={} makes {} blocks; {} units are busy with fewer (limit {} per unit)", s.split,
                     tiling(f, s).blocks(), f.task->target.units, 1 << f.waves_log);
}

Text grid_too_large(const F& f, const S& s) {
  return fmt::format("{} blocks, target {} allows {}", tiling(f, s).blocks(), f.task->target.name,
                     f.task->target.max_grid_x);
}

Text copies_without_use(const F&, const S& s) {
  return fmt::format("copies={} are for grid=private_atomic; grid={} has none", s.copies, name(s.grid));
}

Text one_copy(const F&, const S& s) {
  return fmt::format("copies={}: the output itself takes these atomics; take grid=atomic or copies from 2",
                     s.copies);
}

Text copies_unshared(const F&, const S& s) {
  return fmt::format(
      "copies={} for split={} blocks: so few on each cost less as partials; take grid=second_kernel",
      s.copies, s.split);
}

Text no_walk(const F&, const S& s) {
  return fmt::format("grid={} block={} is for walk=chunked only", name(s.grid), name(s.block));
}

Text several_outputs(const F&, const S& s) {
  return fmt::format("rows={}: grid={} block={} is for rows=1 only here", s.rows, name(s.grid),
                     name(s.block));
}

Text crowded(const F&, const S& s) {
  return fmt::format(
      "block=shared_atomic with rx={}: so many threads add to one place one after the other (limit {})", s.rx,
      1 << kLaneLog);
}

Text less_than_a_warp(const F& f, const S& s) {
  return fmt::format("block=redux combines whole warps of {}, and rx={}; take block=warp",
                     f.task->target.warp, s.rx);
}

Text not_resident(const F& f, const S& s) {
  return fmt::format(
      "{} blocks of {} threads wait for each other and must all be resident: of {} units with room for {} "
      "threads each "
      "a quarter is counted on",
      tiling(f, s).blocks(), s.threads(), f.task->target.units, f.task->target.max_threads_per_unit);
}

int cluster_log(const F& f) {
  const bool uneven = f.axes.row_type && !std::has_single_bit(static_cast<std::uint64_t>(f.axes.outer));
  return uneven ? std::min(kClusterLog, floor_log2(f.axes.outer)) : kClusterLog;
}

Text cluster_too_large(const F& f, const S& s) {
  return fmt::format(
      "split={} blocks in a cluster: {} are possible, also with the outer reduced axis of {} shared out",
      s.split, 1 << cluster_log(f), f.axes.outer);
}

Text prefetch_shared(const F&, const S& s) {
  return fmt::format("prefetch={} helps a thread that walks alone, and rx*px = {}*{}", s.prefetch, s.rx,
                     s.px);
}

Text prefetch_beyond(const F& f, const S& s) {
  return fmt::format(
      "prefetch={} reaches past what a thread walks: the reduced axes have {} elements of {} bytes",
      s.prefetch, f.axes.reduced, bytes_of(f.task->input_dtype()));
}

// ---- the inequalities
// --------------------------------------------------------------------------------------------

class Builder {
 public:
  Builder(const F& facts, const Piece& piece)
      : f_(facts), rows_(ceil_log2(piece.rows)), looped_(piece.looped) {
    const MappingInfo& mapping = mappings()[static_cast<std::size_t>(piece.mapping)];
    block_ = mapping.block;
    grid_ = mapping.grid;
  }

  std::vector<Constraint> build() {
    combine_in_block();
    combine_across_grid();
    threads();
    idle_lanes();
    coalesced();
    budgets();
    blocks();
    prefetch();
    copies();
    residency();
    return std::move(list_);
  }

 private:
  using B = BlockCombine;
  using G = GridCombine;

  void add(std::string_view name, Terms terms, int bound, std::string (*explain)(const F&, const S&)) {
    Constraint c;
    c.name = name;
    for (const auto& [variable, coefficient] : terms) c.coefficients[variable] += coefficient;
    c.bound = bound;
    c.explain = explain;
    list_.push_back(c);
  }

  void combine_in_block() {
    const bool atomic = grid_ == G::kAtomic;
    const bool shuffles = block_ == B::kWarp || block_ == B::kShuffle;
    if (block_ == B::kRedux) add("block_combine", {{kRx, -1}}, -f_.warp_log, less_than_a_warp);
    if (block_ == B::kShared && !f_.cpu) add("shared_contention", {{kRx, 1}}, kLaneLog, crowded);
    if (block_ == B::kNone && !atomic) add("block_combine", {{kRx, 1}}, 0, nobody_combines);
    if (block_ != B::kNone && block_ != B::kShuffle && block_ != B::kRedux)
      add("block_combine", {{kRx, -1}}, -1, nothing_to_combine);
    if (block_ == B::kWarp && !atomic) add("block_combine", {{kRx, 1}}, f_.warp_log, more_than_a_warp);
    if (block_ == B::kShuffle) add("block_combine", {{kRx, -1}}, -f_.warp_log - 1, not_more_than_a_warp);
    if (block_ == B::kLane && !f_.cpu) add("lane_depth", {{kRx, 1}}, kLaneLog, lane_too_long);
    if (shuffles) add("full_warps", {{kRx, -1}, {kPx, -1}}, -f_.warp_log, broken_warp);
  }

  void combine_across_grid() {
    if (grid_ == G::kNone) {
      add("split_needs_combine", {{kSplit, 1}}, 0, split_without_combine);
    } else if (grid_ == G::kAtomic && block_ == B::kNone) {
      add("combine_needs_split", {{kRx, -1}, {kSplit, -1}}, -1, combine_without_split);
      add("atomics_per_output", {{kRx, 1}, {kSplit, 1}}, kAtomicsLog, too_many_atomics);
    } else if (grid_ == G::kAtomic && block_ == B::kWarp) {
      // split > 1, or a block of several warps.
      add("combine_needs_split", {{kRx, -1}, {kSplit, -f_.warp_log - 1}}, -f_.warp_log - 1,
          combine_without_split);
    } else {
      add("combine_needs_split", {{kSplit, -1}}, -1, combine_without_split);
    }
    // What wins by how it combines does so on one walk too, and with one output per GPU thread: few schedules
    // each.
    if (block_ == B::kShared || grid_ == G::kPrivateAtomic || grid_ == G::kGridSync || grid_ == G::kCluster) {
      add("one_walk", {{kWalk, -1}}, -static_cast<int>(Walk::kChunked), no_walk);
      // PoCL miscompiles several loops of compare-and-swap on local memory in one kernel: a wrong answer was
      // seen.
      if (!f_.cpu || block_ == B::kShared) add("one_output", {}, -rows_, several_outputs);
    }
    add("strided_needs_split", {{kWalk, -1}, {kSplit, -1}}, -1, strided_alone);
  }

  void threads() {
    const Target& target = f_.task->target;
    add("threads_per_block", {{kRx, 1}, {kPx, 1}}, floor_log2(target.max_threads_per_block),
        too_many_threads);
    if (f_.cpu) return;
    // No more than the axes can fill: a short task has no full warp.
    const bool joins = block_ != B::kNone || grid_ == G::kAtomic;
    const int lanes = std::max(0, f_.tile_log - rows_) + (joins ? f_.reduced_log : 0);
    add("partial_warp", {{kRx, -1}, {kPx, -1}}, -std::min(f_.warp_log, lanes), partial_warp);
  }

  /// A GPU fetches whole sectors, so threads that lie side by side must use them up, unless a thread walks a
  /// row alone.
  void coalesced() {
    const bool along_reduced = f_.axes.row_type;
    if (f_.cpu || (along_reduced && block_ == B::kNone)) return;
    const int run_log = std::max(0, kSectorLog - floor_log2(bytes_of(f_.task->input_dtype())));
    const int axis_log = along_reduced ? f_.reduced_log : std::max(0, f_.tile_log - rows_);
    add("coalesced", {{along_reduced ? kRx : kPx, -1}, {kVec, -1}}, -std::min(run_log, axis_log),
        uncoalesced);
  }

  void idle_lanes() {
    const int lanes_reduced = 1 - f_.vec_kept;
    add("idle_lanes_kept", {{kPx, 1}, {kVec, f_.vec_kept}}, f_.tile_log - rows_, idle_kept);
    add("idle_lanes_reduced", {{kRx, 1}, {kItems, 1}, {kVec, lanes_reduced}}, f_.reduced_log, idle_reduced);
    if (grid_ != G::kNone) {
      add("empty_split", {{kSplit, 1}, {kRx, 1}, {kVec, lanes_reduced}}, f_.split_log, empty_split);
    }
  }

  void budgets() {
    const Target& target = f_.task->target;
    add("acc_divides_items", {{kAcc, 1}, {kItems, -1}}, 0, acc_beyond_items);
    // Compilers take long for what is unrolled, and a fused body makes several loads and stores of one.
    const int unrolled_log = std::max(1, (f_.cpu && f_.vec_kept ? 6 : 4) - f_.body_log);
    add("unroll_budget", {{kItems, 1}}, unrolled_log - rows_, unrolled);
    const int words_log = std::max(0, f_.accumulator_log - 2);
    add("registers", {{kAcc, 1}, {kVec, 1}}, (f_.cpu ? 10 : 5) - rows_ - words_log, registers);
    add("vector_alignment", {{kVec, 1}}, floor_log2(max_vector(*f_.task)), too_wide);
    const int elements_log = ceil_log2(f_.axes.reduced);
    if (elements_log > kChainLog && f_.task->accumulator() == DType::kF32 && adds_up(f_.task->reduce_op())) {
      add("chain", {{kSplit, -1}, {kRx, -1}, {kAcc, -1}, {kVec, f_.vec_kept - 1}}, kChainLog - elements_log,
          chain_too_long);
    }
    const int shared_log = floor_log2(target.shared_bytes_per_block) - f_.accumulator_log;
    if (block_ == B::kLane || block_ == B::kTree) {
      add("shared_bytes", {{kRx, 1}, {kPx, 1}, {kVec, f_.vec_kept}}, shared_log, shared_bytes);
    } else if (block_ == B::kShuffle || block_ == B::kRedux) {
      add("shared_bytes", {{kRx, 1}, {kPx, 1}}, shared_log + f_.warp_log, shared_bytes);
    }
  }

  void copies() {
    if (grid_ != G::kPrivateAtomic) {
      add("copies_without_use", {{kCopies, 1}}, 0, copies_without_use);
      return;
    }
    constexpr int kFewLog = 3;  // blocks per copy below which a GPU reads their partials as fast
    add("copies_are_shared", {{kCopies, 1}, {kSplit, -1}}, f_.cpu ? -1 : -kFewLog, copies_unshared);
    if (adds_to_the_output(*f_.task)) add("one_copy", {{kCopies, -1}}, -1, one_copy);
  }

  /// Blocks of a cluster start together, and there are as many as `split` says only where it shares out the
  /// outer reduced axis evenly. Blocks that wait for each other must all have started: a quarter of the
  /// threads that the units hold leaves room for registers and for a last tile. The driver checks again, with
  /// the compiled kernel's needs.
  void residency() {
    if (grid_ == G::kCluster) add("cluster_size", {{kSplit, 1}}, cluster_log(f_), cluster_too_large);
    if (grid_ != G::kGridSync) return;
    const Target& target = f_.task->target;
    const int threads_log = floor_log2(target.units) + floor_log2(target.max_threads_per_unit) - 2;
    add("resident", {{kSplit, 1}, {kRx, 1}, {kVec, -f_.vec_kept}, {kSerial, -1}},
        threads_log - (f_.kept_log - rows_), not_resident);
  }

  void blocks() {
    const Target& target = f_.task->target;
    if (looped_) {
      add("serial_or_split", {{kSplit, 1}}, 0, serial_and_split);
      add("idle_units", {{kSerial, 1}, {kPx, 1}, {kVec, f_.vec_kept}}, f_.kept_log - f_.units_log - rows_,
          idle_units);
    }
    const Terms blocks = {{kSplit, 1}, {kPx, -1}, {kVec, -f_.vec_kept}, {kSerial, -1}};
    const int tiles_log = f_.kept_log - rows_;
    if (grid_ != G::kNone) {
      // Blocks are bought with a combine across the grid: then enough of them, where 4096 elements each are
      // left.
      const int enough = std::min(f_.units_log - 3, tiles_log + f_.split_log - 12);
      if (!f_.cpu) {
        add("split_fills_units", {{kSplit, -1}, {kPx, 1}, {kVec, f_.vec_kept}}, tiles_log - enough,
            split_too_small);
      }
      add("split_waves", blocks, f_.units_log + f_.waves_log - std::max(0, tiles_log), too_many_waves);
    }
    add("grid_limit", blocks, floor_log2(target.max_grid_x) - tiles_log, grid_too_large);
  }

  void prefetch() {
    if (!f_.cpu) return;
    const int never = 2 * floor_log2(f_.task->target.max_threads_per_block) + 2;
    add("prefetch_alone", {{kRx, 1}, {kPx, 1}, {kPrefetch, never}}, never, prefetch_shared);
    const std::int64_t walked = f_.axes.reduced * bytes_of(f_.task->input_dtype());
    add("prefetch_reach", {{kPrefetch, floor_log2(2 * kPrefetchBytes)}}, floor_log2(walked), prefetch_beyond);
  }

  const F& f_;
  int rows_;
  bool looped_;
  BlockCombine block_;
  GridCombine grid_;
  std::vector<Constraint> list_;
};

}  // namespace

namespace {

/// Loads and stores that the body makes of one point; at least 1.
std::int64_t body_accesses(const FusedGroup& group) {
  const std::vector<bool> body = group.body_nodes();
  auto count = static_cast<std::int64_t>(group.body_stores.size());
  for (std::size_t i = 0; i < body.size(); ++i) {
    count += body[i] && group.nodes[i].kind == FusedNode::Kind::kLoad ? 1 : 0;
  }
  return std::max<std::int64_t>(1, count);
}

}  // namespace

SpaceFacts facts_of(const Task& task) {
  SpaceFacts f;
  f.task = &task;
  f.axes = axes_of(task.canonical);
  const bool row = f.axes.row_type;
  f.cpu = task.target.kind == TargetKind::kOpenClCpu;
  f.vec_kept = row ? 0 : 1;
  f.tile_log = ceil_log2(row ? f.axes.kept : f.axes.inner);
  f.kept_log = row ? f.tile_log : ceil_log2(f.axes.outer) + f.tile_log;
  f.reduced_log = ceil_log2(row ? f.axes.inner : f.axes.reduced);
  f.split_log = floor_log2(f.axes.reduced);
  f.warp_log = floor_log2(task.target.warp);
  f.units_log = ceil_log2(task.target.units);
  // A CPU pays nanoseconds for a block; a GPU is full at its resident blocks of 64 threads.
  f.waves_log = f.cpu ? 6 : std::max(3, floor_log2(task.target.max_threads_per_unit) - 6);
  f.accumulator_log = ceil_log2(task.state_bytes());
  f.body_log = task.fused ? ceil_log2(body_accesses(*task.fused)) : 0;
  return f;
}

std::vector<Constraint> constraints_of(const SpaceFacts& facts, const Piece& piece) {
  return Builder(facts, piece).build();
}

}  // namespace redtune
