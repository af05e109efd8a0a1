#include "space/mappings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace redtune {
namespace {

using B = BlockCombine;
using G = GridCombine;
using C = MappingClass;

constexpr std::array<MappingInfo, 20> kMappings{{
    {"none", B::kNone, G::kNone, C::kTree, "one thread computes an output alone"},
    {"lane", B::kLane, G::kNone, C::kTree,
     "threads store to shared memory, one lane per output adds them up"},
    {"tree", B::kTree, G::kNone, C::kTree, "halving tree in shared memory, one block per output"},
    {"warp", B::kWarp, G::kNone, C::kTree, "shuffles inside a (sub-)warp, one warp per output"},
    {"shuffle", B::kShuffle, G::kNone, C::kTree,
     "shuffles inside each warp, then shared memory across warps"},
    {"none+second_kernel", B::kNone, G::kSecondKernel, C::kTree,
     "each thread stores a partial, a second kernel reduces them"},
    {"lane+second_kernel", B::kLane, G::kSecondKernel, C::kTree,
     "one lane adds up the block, a second kernel reduces the partials of the blocks"},
    {"tree+second_kernel", B::kTree, G::kSecondKernel, C::kTree,
     "shared-memory tree in the block, a second kernel reduces the partials of the blocks"},
    {"warp+second_kernel", B::kWarp, G::kSecondKernel, C::kTree,
     "shuffles inside a (sub-)warp, a second kernel reduces the partials"},
    {"shuffle+second_kernel", B::kShuffle, G::kSecondKernel, C::kTree,
     "shuffles, then shared memory, a second kernel reduces the partials of the blocks"},
    {"none+last_block", B::kNone, G::kLastBlock, C::kTree,
     "each thread stores a partial, the last block to finish reduces them"},
    {"lane+last_block", B::kLane, G::kLastBlock, C::kTree,
     "one lane adds up the block, the last block to finish reduces the partials"},
    {"tree+last_block", B::kTree, G::kLastBlock, C::kTree,
     "shared-memory tree in the block, the last block to finish reduces the partials"},
    {"warp+last_block", B::kWarp, G::kLastBlock, C::kTree,
     "shuffles inside a (sub-)warp, the last block to finish reduces the partials"},
    {"shuffle+last_block", B::kShuffle, G::kLastBlock, C::kTree,
     "shuffles, then shared memory, the last block to finish reduces the partials"},
    {"none+atomic", B::kNone, G::kAtomic, C::kAtomic, "every thread adds to the output by an atomic"},
    {"warp+atomic", B::kWarp, G::kAtomic, C::kAtomic,
     "shuffles inside a (sub-)warp, every warp adds to the output by an atomic"},
    {"lane+atomic", B::kLane, G::kAtomic, C::kHybrid,
     "one lane adds up the block and adds to the output by an atomic"},
    {"tree+atomic", B::kTree, G::kAtomic, C::kHybrid,
     "shared-memory tree in the block, every block adds to the output by an atomic"},
    {"shuffle+atomic", B::kShuffle, G::kAtomic, C::kHybrid,
     "shuffles, then shared memory, every block adds to the output by an atomic"},
}};

std::string mapping_name(B block, G grid) {
  Schedule schedule;
  schedule.block = block;
  schedule.grid = grid;
  return schedule.mapping();
}

// Every order of combination gives the same bits: integers wrap, max and min choose.
bool is_exact(const Task& task) {
  if (!task.fused) return info(task.reduce_op()).exact || !info(task.accumulator()).is_float;
  return std::all_of(task.fused->reductions.begin(), task.fused->reductions.end(),
                     [](const FusedReduction& r) { return info(r.op).exact || !info(r.accumulator).is_float; });
}

/// What is fused behind a reduction reads finished results; what runs per element needs no combine.
std::optional<Rejection> reject_fused(const FusedGroup& group, B block, G grid) {
  if (group.reductions.empty()) {
    if (block == B::kNone && grid == G::kNone) return std::nullopt;
    return Rejection{"no_reduction", "nothing is reduced here, so there is nothing to combine"};
  }
  if (grid != G::kAtomic) return std::nullopt;
  if (group.reductions.size() > 1) {
    return Rejection{"atomic_state", fmt::format("a partial result is {} numbers that change together, an atomic changes one; "
                                                 "second_kernel and last_block combine such parts", group.reductions.size())};
  }
  const bool plain = group.tail_stores.size() == 1 && group.stores_results();
  if (plain) return std::nullopt;
  return Rejection{"atomic_consumers", "statements behind the reduction read finished results, which atomics do not have before the "
                                       "kernel has ended; second_kernel and last_block run them at the end"};
}

std::optional<Rejection> reject_shuffles(const Task& task, B block) {
  if (!task.canonical.inner_is_reduced()) {
    return Rejection{
        "shuffle_form",
        fmt::format("block={} needs neighbouring lanes along the reduced axis; in {} the contiguous "
                    "axis is kept (lane and tree combine there)",
                    name(block), task.canonical.text())};
  }
  if (task.target.warp < 2) {
    return Rejection{"shuffle_target",
                     fmt::format("block={} needs lanes that shuffle; target {} has warps of {}", name(block),
                                 task.target.name, task.target.warp)};
  }
  return std::nullopt;
}

std::optional<Rejection> reject_atomics(const Task& task) {
  const DType out = task.output_dtype(), acc = task.accumulator();
  const ReduceOp op = task.reduce_op();
  if (info(op).atomic == AtomicForm::kNone) {
    return Rejection{
        "atomic_state",
        fmt::format("a partial result of {} is {} numbers that change together, an atomic changes one; "
                    "second_kernel and last_block combine such parts",
                    name(op), state_members(op))};
  }
  const int bytes = bytes_of(out);
  if (out != acc) {
    const bool half = out == DType::kF16 || out == DType::kBF16;
    return Rejection{
        "atomic_dtype",
        fmt::format("atomics add to the output itself, so its type must be that of the accumulator: "
                    "output {}, accumulator {}{}",
                    name(out), name(acc), half ? "; for 16-bit floats ask for out f32" : "")};
  }
  if (bytes < 4) {
    return Rejection{"atomic_width",
                     fmt::format("{} has {} bytes, the smallest atomic has 4", name(out), bytes)};
  }
  if (bytes == 8 && !task.target.atomic_i64) {
    return Rejection{"atomic_target", fmt::format("{} needs 64-bit atomics, which target {} lacks", name(out),
                                                  task.target.name)};
  }
  if (task.op.determinism == Determinism::kRunToRun && !is_exact(task)) {
    return Rejection{"determinism",
                     fmt::format("the operator asks for run_to_run; atomics that {} {} come in any "
                                 "order and round differently each run",
                                 name(task.reduce_op()), name(acc))};
  }
  return std::nullopt;
}

}  // namespace

std::span<const MappingInfo> mappings() { return kMappings; }

std::optional<Rejection> reject_mapping(const Task& task, BlockCombine block, GridCombine grid) {
  std::optional<Rejection> rejection;
  if (block == B::kWarp || block == B::kShuffle) rejection = reject_shuffles(task, block);
  if (!rejection && task.fused) rejection = reject_fused(*task.fused, block, grid);
  if (!rejection && grid == G::kAtomic) rejection = reject_atomics(task);
  if (rejection) rejection->detail = "mapping " + mapping_name(block, grid) + ": " + rejection->detail;
  return rejection;
}

Determinism determinism_of(const Task& task, const Schedule& schedule) {
  const bool any_order = schedule.grid == GridCombine::kAtomic && !is_exact(task);
  return any_order ? Determinism::kNotGuaranteed : Determinism::kRunToRun;
}

}  // namespace redtune
