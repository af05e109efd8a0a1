#include "space/mappings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "support/error.h"

namespace redtune {
namespace {

using B = BlockCombine;
using G = GridCombine;
using C = MappingClass;

constexpr std::array<MappingInfo, 33> kMappings{{
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
     "shuffles inside a (sub-)warp, every warp adds to the output by an atomic (warp-aggregated)"},
    {"lane+atomic", B::kLane, G::kAtomic, C::kHybrid,
     "one lane adds up the block and adds to the output by an atomic"},
    {"tree+atomic", B::kTree, G::kAtomic, C::kHybrid,
     "shared-memory tree in the block, every block adds to the output by an atomic"},
    {"shuffle+atomic", B::kShuffle, G::kAtomic, C::kHybrid,
     "shuffles, then shared memory, every block adds to the output by an atomic"},
    {"shared_atomic", B::kShared, G::kNone, C::kAtomic,
     "every thread adds to its output's place in shared memory by an atomic"},
    {"shared_atomic+atomic", B::kShared, G::kAtomic, C::kHybrid,
     "atomics in shared memory, every block adds to the output by an atomic"},
    {"none+private_atomic", B::kNone, G::kPrivateAtomic, C::kAtomic,
     "every thread adds to a copy of the output by an atomic, a second kernel joins the copies"},
    {"tree+private_atomic", B::kTree, G::kPrivateAtomic, C::kHybrid,
     "shared-memory tree, every block adds to a copy of the output by an atomic, a second kernel joins the copies"},
    {"shuffle+private_atomic", B::kShuffle, G::kPrivateAtomic, C::kHybrid,
     "shuffles, then shared memory, every block adds to a copy of the output by an atomic, a second kernel joins them"},
    {"redux", B::kRedux, G::kNone, C::kTree,
     "one instruction combines a warp of integers, then shared memory across warps"},
    {"redux+second_kernel", B::kRedux, G::kSecondKernel, C::kTree,
     "warp instruction, then shared memory, a second kernel reduces the partials of the blocks"},
    {"redux+last_block", B::kRedux, G::kLastBlock, C::kTree,
     "warp instruction, then shared memory, the last block to finish reduces the partials"},
    {"redux+atomic", B::kRedux, G::kAtomic, C::kHybrid,
     "warp instruction, then shared memory, every block adds to the output by an atomic"},
    {"tree+grid_sync", B::kTree, G::kGridSync, C::kTree,
     "shared-memory tree, one of the blocks that share an output waits for the others and reduces their partials"},
    {"shuffle+grid_sync", B::kShuffle, G::kGridSync, C::kTree,
     "shuffles, then shared memory, one of the blocks that share an output waits for the others and reduces their "
     "partials"},
    {"tree+cluster", B::kTree, G::kCluster, C::kTree,
     "shared-memory tree, a block reads the partials from the shared memory of its cluster"},
    {"shuffle+cluster", B::kShuffle, G::kCluster, C::kTree,
     "shuffles, then shared memory, a block reads the partials from the shared memory of its cluster"},
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
  if (grid == G::kPrivateAtomic) {
    return Rejection{"atomic_copies", "fused groups have no private copies of their outputs; second_kernel keeps partial results of blocks"};
  }
  const bool joint = group.reductions.size() > 1;
  if (joint && (block == B::kShared || block == B::kRedux || grid == G::kCluster)) {
    return Rejection{"joint_state", fmt::format("a partial result is {} numbers of several reductions, which {} does not combine",
                                                group.reductions.size(), grid == G::kCluster ? name(grid) : name(block))};
  }
  if (grid != G::kAtomic) return std::nullopt;
  if (joint) {
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

/// What holds for atomics wherever they add: values of type `type`.
std::optional<Rejection> reject_atomic_type(const Task& task, DType type) {
  const int bytes = bytes_of(type);
  if (bytes == 8 && !task.target.atomic_i64) {
    return Rejection{"atomic_target", fmt::format("{} needs 64-bit atomics, which target {} lacks", name(type),
                                                  task.target.name)};
  }
  if (task.op.determinism == Determinism::kRunToRun && !is_exact(task)) {
    return Rejection{"determinism",
                     fmt::format("the operator asks for run_to_run; atomics that {} {} come in any "
                                 "order and round differently each run",
                                 name(task.reduce_op()), name(task.accumulator()))};
  }
  return std::nullopt;
}

std::optional<Rejection> reject_many_numbers(const Task& task) {
  const ReduceOp op = task.reduce_op();
  if (info(op).atomic != AtomicForm::kNone) return std::nullopt;
  return Rejection{
      "atomic_state",
      fmt::format("a partial result of {} is {} numbers that change together, an atomic changes one; "
                  "second_kernel and last_block combine such parts{}",
                  name(op), state_members(op),
                  packs_in_64_bits(task) ? ", private_atomic packs them into 64 bits" : "")};
}

std::optional<Rejection> reject_shared_atomics(const Task& task) {
  if (std::optional<Rejection> state = reject_many_numbers(task)) return state;
  return reject_atomic_type(task, task.accumulator());
}

std::optional<Rejection> reject_private_atomics(const Task& task) {
  if (packs_in_64_bits(task)) return reject_atomic_type(task, DType::kI64);
  if (std::optional<Rejection> state = reject_many_numbers(task)) return state;
  const DType acc = task.accumulator();
  if (bytes_of(acc) < 4) {
    return Rejection{"atomic_width",
                     fmt::format("{} has {} bytes, the smallest atomic has 4", name(acc), bytes_of(acc))};
  }
  return reject_atomic_type(task, acc);
}

std::optional<Rejection> reject_redux(const Task& task) {
  const DType acc = task.accumulator();
  if (!has_warp_reductions(task.target)) {
    return Rejection{"redux_target", fmt::format("the instruction came with sm_80; target is {}", task.target.name)};
  }
  if (info(acc).is_float || bytes_of(acc) > 4) {
    return Rejection{"redux_dtype",
                     fmt::format("the instruction is for integers of 32 bits, the accumulator is {}", name(acc))};
  }
  if (info(task.reduce_op()).combine == name(ReduceOp::kProd) || info(task.reduce_op()).state != State::kValue) {
    return Rejection{"redux_op", fmt::format("there is none for {}", name(task.reduce_op()))};
  }
  return std::nullopt;
}

std::optional<Rejection> reject_grid_sync(const Task& task) {
  if (has_cooperative_launch(task.target)) return std::nullopt;
  return Rejection{"cooperative_target",
                   fmt::format("blocks that wait for each other must all be resident; target {} does not promise that",
                               task.target.name)};
}

std::optional<Rejection> reject_cluster(const Task& task) {
  if (has_clusters(task.target)) return std::nullopt;
  return Rejection{"cluster_target", fmt::format("clusters came with sm_90; target is {}", task.target.name)};
}

std::optional<Rejection> reject_atomics(const Task& task) {
  const DType out = task.output_dtype(), acc = task.accumulator();
  if (std::optional<Rejection> state = reject_many_numbers(task)) return state;
  if (out != acc) {
    const bool half = out == DType::kF16 || out == DType::kBF16;
    return Rejection{
        "atomic_dtype",
        fmt::format("atomics add to the output itself, so its type must be that of the accumulator: "
                    "output {}, accumulator {}{}",
                    name(out), name(acc), half ? "; for 16-bit floats ask for out f32" : "")};
  }
  if (bytes_of(out) < 4) {
    return Rejection{"atomic_width",
                     fmt::format("{} has {} bytes, the smallest atomic has 4", name(out), bytes_of(out))};
  }
  return reject_atomic_type(task, out);
}

std::optional<Rejection> reject_block(const Task& task, B block) {
  std::optional<Rejection> rejection;
  if (block == B::kWarp || block == B::kShuffle || block == B::kRedux) rejection = reject_shuffles(task, block);
  if (!rejection && block == B::kRedux) rejection = reject_redux(task);
  if (!rejection && block == B::kShared) rejection = reject_shared_atomics(task);
  return rejection;
}

std::optional<Rejection> reject_grid(const Task& task, G grid) {
  switch (grid) {
    case G::kNone:
    case G::kSecondKernel:
    case G::kLastBlock:
      return std::nullopt;
    case G::kAtomic:
      return reject_atomics(task);
    case G::kPrivateAtomic:
      return reject_private_atomics(task);
    case G::kGridSync:
      return reject_grid_sync(task);
    case G::kCluster:
      return reject_cluster(task);
  }
  RT_CHECK(false, "grid combine without a rule");
}

}  // namespace

std::span<const MappingInfo> mappings() { return kMappings; }

bool has_mapping(const Target& target, const MappingInfo& mapping) {
  const bool shuffles = mapping.block == B::kWarp || mapping.block == B::kShuffle;
  return (!shuffles || target.warp > 1) && (mapping.block != B::kRedux || has_warp_reductions(target)) &&
         (mapping.grid != G::kGridSync || has_cooperative_launch(target)) &&
         (mapping.grid != G::kCluster || has_clusters(target));
}

bool packs_in_64_bits(const Task& task) {
  return info(task.reduce_op()).state == State::kArg && bytes_of(task.accumulator()) == 4;
}

bool adds_to_the_output(const Task& task) {
  return !reject_atomics(task) && !(task.fused && reject_fused(*task.fused, B::kNone, G::kAtomic));
}

std::optional<Rejection> reject_mapping(const Task& task, BlockCombine block, GridCombine grid) {
  std::optional<Rejection> rejection = reject_block(task, block);
  if (!rejection && task.fused) rejection = reject_fused(*task.fused, block, grid);
  if (!rejection) rejection = reject_grid(task, grid);
  if (rejection) rejection->detail = "mapping " + mapping_name(block, grid) + ": " + rejection->detail;
  return rejection;
}

Determinism determinism_of(const Task& task, const Schedule& schedule) {
  return schedule.uses_atomics() && !is_exact(task) ? Determinism::kNotGuaranteed : Determinism::kRunToRun;
}

}  // namespace redtune
