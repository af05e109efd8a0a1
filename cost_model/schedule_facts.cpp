#include "cost_model/schedule_facts.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace redtune {
namespace {

constexpr double kGpuSector = 32, kCpuLine = 64;
constexpr double kBaseRegisters = 24;  // indices, pointers, bounds
constexpr double kGuessedUnitBandwidth = 1.2e10;

bool atomics_are_native(const Task& task) {
  const Target& target = task.target;
  const std::string_view combine = info(task.reduce_op()).combine;
  const bool add = combine == "sum", multiplies = combine == "prod";
  if (info(task.reduce_op()).state == State::kArg) return target.atomic_i64;  // packed
  switch (task.accumulator()) {
    case DType::kF32:
      return add && target.atomic_f32_add;
    case DType::kF64:
      return add && target.atomic_f64_add;
    case DType::kI64:
      return !multiplies && target.atomic_i64;
    case DType::kI32:
      return !multiplies;
    default:
      return false;
  }
}

double log2_ceil(double n) { return n <= 1 ? 0 : std::ceil(std::log2(n)); }

double shared_bytes_of(const TaskFacts& task, const Schedule& s) {
  const double outputs = static_cast<double>(s.rows) * (task.axes.row_type ? 1 : s.vec);
  const double warp = task.task->target.warp;
  switch (s.block) {
    case BlockCombine::kLane:
    case BlockCombine::kTree:
      return s.threads() * outputs * task.state_bytes;
    case BlockCombine::kShuffle:
    case BlockCombine::kRedux:
      return std::ceil(s.threads() / warp) * outputs * task.state_bytes;
    case BlockCombine::kShared:
      return s.px * outputs * task.state_bytes;
    case BlockCombine::kWarp:
      // Where shuffles are emulated each lane passes its value through shared memory.
      return task.gpu ? 0 : static_cast<double>(s.threads()) * task.state_bytes;
    case BlockCombine::kNone:
      break;
  }
  return 0;
}

}  // namespace

TaskFacts::TaskFacts(const Task& t)
    : task(&t),
      costs(costs_of(t.target)),
      axes(axes_of(t.canonical)),
      kept(static_cast<double>(t.canonical.parallel_size())),
      reduced(static_cast<double>(t.canonical.reduced_size())),
      elements(kept * reduced),
      input_bytes(elements * bytes_of(t.input_dtype())),
      output_bytes(kept * bytes_of(t.output_dtype())),
      element_bytes(bytes_of(t.input_dtype())),
      state_bytes(t.state_bytes()),
      result_bytes(bytes_of(t.output_dtype())),
      gpu(t.target.kind != TargetKind::kOpenClCpu),
      native_atomics(atomics_are_native(t)),
      memory_bytes_per_second(t.target.memory_bytes_per_second > 0 ? t.target.memory_bytes_per_second
                                                                   : t.target.units * kGuessedUnitBandwidth) {
}

ScheduleFacts::ScheduleFacts(const TaskFacts& f, const Schedule& s)
    : schedule(s), tiling(tiling_of(f.axes, s, f.task->target.warp)) {
  const Target& target = f.task->target;
  const bool row = f.axes.row_type;
  threads = s.threads();
  blocks = static_cast<double>(tiling.blocks());
  const double accumulators = static_cast<double>(s.rows) * s.acc * s.vec;
  const double loads = static_cast<double>(s.items) * s.rows * s.vec;
  registers = kBaseRegisters + (accumulators * f.state_bytes + loads * f.element_bytes) / 4;
  shared_bytes = shared_bytes_of(f, s);

  const double by_threads = std::floor(target.max_threads_per_unit / std::max(threads, 1.0));
  const double by_registers =
      std::floor(static_cast<double>(target.registers_per_unit) / (registers * threads));
  const double by_shared =
      shared_bytes > 0 ? std::floor(static_cast<double>(target.shared_bytes_per_block_optin) / shared_bytes)
                       : 1e9;
  resident_blocks = std::clamp(std::min({by_threads, by_registers, by_shared}), 1.0,
                               static_cast<double>(std::max(1, target.max_blocks_per_unit)));
  if (!f.gpu) resident_blocks = 1;
  occupancy = std::min(1.0, resident_blocks * threads / target.max_threads_per_unit);
  waves = blocks / (target.units * resident_blocks);
  tail = 1 - waves / std::max(1.0, std::ceil(waves));

  run_bytes = static_cast<double>(s.vec) * (row ? s.rx : s.px) * f.element_bytes;
  const double contiguous = static_cast<double>(f.axes.inner) * f.element_bytes;
  const double unit = f.gpu ? kGpuSector : kCpuLine;
  // One work-item that walks along a row uses the whole line in the end.
  const double walked = row && !f.gpu ? contiguous : std::min(run_bytes, contiguous);
  coalescing = std::min(1.0, walked / unit);
  elements_per_thread = f.elements / std::max(1.0, blocks * threads);
  in_flight_bytes = static_cast<double>(s.items) * s.vec * s.rows * f.element_bytes;

  grid_combine(f);

  const double outputs = static_cast<double>(s.rows) * (row ? 1 : s.vec), warp = target.warp;
  const double steps = static_cast<double>(s.serial) * outputs;
  barriers = shuffles = lane_steps = 0;
  shared_atomics = 0;
  if (s.block == BlockCombine::kShared) {
    barriers = 2.0 * s.serial;
    lane_steps = steps * s.rx;  // one after the other on each place
    shared_atomics = steps * threads;
  }
  if (s.block == BlockCombine::kRedux) {
    const bool across = s.rx > warp;
    barriers = across ? s.serial : 0;
    shuffles = steps * (across ? 2 : 1);
  }
  if (s.block == BlockCombine::kTree) barriers = s.serial * (1 + log2_ceil(s.rx));
  if (s.block == BlockCombine::kLane) barriers = 2.0 * s.serial, lane_steps = steps * s.rx;
  if (s.block == BlockCombine::kWarp) shuffles = steps * log2_ceil(std::min<double>(s.rx, warp));
  if (s.block == BlockCombine::kShuffle) {
    barriers = 2.0 * s.serial;
    shuffles = steps * log2_ceil(std::min<double>(s.rx, warp));
    lane_steps = steps * std::ceil(s.rx / warp);
  }
  if (s.grid == GridCombine::kCluster) barriers += 2, lane_steps += steps * static_cast<double>(tiling.partials);
}

void ScheduleFacts::grid_combine(const TaskFacts& f) {
  const double results = static_cast<double>(tiling.partials);
  partials = results;
  atomics = atomics_per_output = partial_bytes = fill_bytes = 0;
  launches = 1;
  switch (schedule.grid) {
    case GridCombine::kNone:
    case GridCombine::kCluster:
      return;
    case GridCombine::kSecondKernel:
      launches = 2;
      [[fallthrough]];
    case GridCombine::kLastBlock:
    case GridCombine::kGridSync:
      partial_bytes = 2 * results * f.kept * f.state_bytes;
      return;
    case GridCombine::kAtomic:
      launches = 2;
      fill_bytes = f.output_bytes;
      atomics_per_output = results;
      break;
    case GridCombine::kPrivateAtomic:
      launches = 3;
      partials = schedule.copies;
      fill_bytes = partial_bytes = partials * f.kept * f.state_bytes;
      atomics_per_output = results / partials;
      break;
  }
  atomics = results * f.kept;
}

}  // namespace redtune
