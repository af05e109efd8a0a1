#include "codegen/codegen.h"

#include <algorithm>
#include <bit>

#include "codegen/embedded_device.h"
#include "codegen/emit.h"
#include "codegen/fused_program.h"
#include "codegen/lower.h"
#include "codegen/operator_text.h"
#include "support/error.h"
#include "support/integers.h"

namespace redtune {
namespace {

constexpr std::int64_t kFillElementsPerThread = 4;

bool is_cpu(const Target& target) { return target.kind == TargetKind::kOpenClCpu; }

std::string text_head(const Task& task) {
  return task.needs_64bit_index() ? "#define rt_index rt_i64\n" : "#define rt_index rt_i32\n";
}

}  // namespace

KernelLaunch launch_of(const KernelPlan& plan, std::vector<int> arguments) {
  KernelLaunch launch;
  launch.entry = plan.entry;
  launch.grid = {plan.tiling.blocks(), 1, 1};
  const Schedule& s = plan.schedule;
  launch.block = plan.axes.row_type ? std::array<std::int32_t, 3>{s.rx, s.px, 1} : std::array<std::int32_t, 3>{s.px, s.rx, 1};
  launch.shared_bytes = shared_bytes(plan);
  launch.arguments = std::move(arguments);
  launch.cooperative = s.grid == GridCombine::kGridSync;
  return launch;
}

void add_fill(const Task& task, int buffer, DType type, std::uint64_t bits, Program& program,
              const std::string& entry) {
  const std::int64_t outputs = program.buffers[static_cast<std::size_t>(buffer)].elements;
  const bool cpu = is_cpu(task.target);
  const int threads = cpu ? 1 : 256;
  // A CPU device gets a few large blocks, a GPU four elements per thread.
  const std::int64_t chunk = cpu ? std::max<std::int64_t>(4096, ceil_div(outputs, 4 * task.target.units))
                                 : threads * kFillElementsPerThread;
  program.text += emit_fill(type, bits, program.buffers[static_cast<std::size_t>(buffer)].dtype, outputs, chunk, threads, entry);
  KernelLaunch fill;
  fill.entry = entry;
  fill.grid = {ceil_div(outputs, chunk), 1, 1};
  fill.block = {threads, 1, 1};
  fill.arguments = {buffer};
  program.launches.push_back(fill);
}

namespace {

/// The reduction of partials as a task of its own: same operator over the accumulator type, so that one generator
/// serves both kernels. An element stands for a partial result, whatever that holds.
Task final_task(const Task& task, PartialLayout layout, std::int64_t outputs, std::int64_t splits) {
  Operator op;
  const bool by_block = layout == PartialLayout::kByBlock;
  Tensor input;
  input.name = "part";
  input.dtype = task.accumulator();
  input.shape = by_block ? std::vector<std::int64_t>{splits, outputs} : std::vector<std::int64_t>{outputs, splits};
  input.strides = {input.shape[1], 1};
  Tensor output;
  output.name = "out";
  output.dtype = task.output_dtype();
  output.shape = {outputs};
  output.strides = {1};
  op.inputs = {input};
  op.outputs = {output};
  ReduceStatement statement;
  statement.op = task.reduce_op();
  statement.input = input.name;
  statement.output = output.name;
  statement.axes = {by_block ? 0 : 1};
  statement.accumulator = task.accumulator();
  statement.ddof = task.op.reduction().ddof;
  op.statements = {statement};
  return make_task(std::move(op), task.target);
}

}  // namespace

Schedule final_schedule(const Task& task) {
  const Axes axes = axes_of(task.canonical);
  const auto up = [](std::int64_t v) { return static_cast<std::int32_t>(std::bit_ceil(static_cast<std::uint64_t>(v))); };
  Schedule s;
  s.vec = info(task.reduce_op()).state == State::kValue && !(task.fused && task.fused->reductions.size() > 1) ? max_vector(task) : 1;
  if (is_cpu(task.target)) {
    const std::int64_t units = (axes.kept + (axes.row_type ? 1 : s.vec) - 1) / (axes.row_type ? 1 : s.vec);
    const std::int64_t blocks = 4 * task.target.units;
    s.serial = units <= 16 ? up(units) : up(ceil_div(units, blocks));
    return s;
  }
  if (axes.row_type) {
    s.vec = 1;
    s.rx = std::clamp<std::int32_t>(up(axes.reduced), task.target.warp, 256);
    s.block = s.rx > task.target.warp ? BlockCombine::kShuffle : BlockCombine::kWarp;
  } else {
    s.vec = 1;
    s.px = std::clamp<std::int32_t>(up(axes.inner), 32, 128);
  }
  return s;
}

namespace {

void add_second_kernel(const Task& task, const KernelPlan& main, PartialLayout layout, std::int64_t splits,
                       Program& program) {
  const Task final = final_task(task, layout, program.buffers[1].elements, splits);
  KernelPlan plan = lower(final, final_schedule(final));
  plan.entry = "rt_final";
  plan.index = task.needs_64bit_index() ? IndexWidth::k64 : IndexWidth::k32;
  plan.count = main.count;
  plan.reads_states = info(plan.op).state != State::kValue;
  plan.reads_packed = packs_states(main);
  program.text += emit_kernel(plan, {});
  program.launches.push_back(launch_of(plan, {2, 1}));
}

}  // namespace

Program generate(const Task& task, const Schedule& schedule) {
  if (task.groups) return generate_graph(task, schedule);
  Program program;
  program.text = text_head(task);
  const Tensor& input = task.op.input();
  const std::int64_t outputs = task.op.output().elements();
  program.buffers.push_back({input.name, BufferKind::kInput, input.dtype, input.storage_elements()});
  program.buffers.push_back({task.op.output().name, BufferKind::kOutput, task.output_dtype(), outputs});
  if (outputs == 0) return program;
  const ReduceOp op = task.reduce_op();
  const DType accumulator = task.accumulator();
  if (input.elements() == 0) {
    add_fill(task, 1, finished_type(op, accumulator), nothing_bits(op, accumulator), program);
    return program;
  }

  const KernelPlan plan = lower(task, schedule);
  const std::int64_t splits = plan.tiling.split_outer * plan.tiling.split_inner;
  EmitOptions options;
  options.outputs = outputs;
  std::vector<int> arguments{0, 1};
  if (schedule.grid == GridCombine::kSecondKernel) {
    options.partials = outputs >= kByBlockFrom ? PartialLayout::kByBlock : PartialLayout::kByOutput;
    arguments = {0, 2};
  }
  if (has_tickets(schedule.grid)) {
    options.partials = plan.axes.row_type ? PartialLayout::kByOutput : PartialLayout::kByBlock;
    arguments = {0, 1, 2, 3};
  }
  if (arguments.size() > 2 || arguments[1] == 2) {
    const std::int64_t numbers = outputs * splits * state_members(op);
    program.buffers.push_back({"partials", BufferKind::kScratch, accumulator, numbers});
  }
  const bool packed = packs_states(plan);
  if (schedule.grid == GridCombine::kPrivateAtomic) {
    arguments = {0, 2};
    program.buffers.push_back(
        {"copies", BufferKind::kScratch, packed ? DType::kI64 : accumulator, outputs * schedule.copies});
  }
  if (has_tickets(schedule.grid)) {
    program.buffers.push_back({"tickets", BufferKind::kCounter, DType::kI32, plan.tiling.kept_blocks});
  }
  program.text += operator_declarations(plan);
  if (schedule.grid == GridCombine::kAtomic) {
    add_fill(task, 1, accumulator, identity_bits(op, accumulator), program);
  }
  if (schedule.grid == GridCombine::kPrivateAtomic) {
    // Packed: below whatever an element becomes, and every copy gets some.
    if (packed) add_fill(task, 2, DType::kI64, 0, program);
    else add_fill(task, 2, accumulator, identity_bits(op, accumulator), program);
  }
  program.text += emit_kernel(plan, options);
  program.launches.push_back(launch_of(plan, arguments));
  if (schedule.grid == GridCombine::kSecondKernel) add_second_kernel(task, plan, options.partials, splits, program);
  if (schedule.grid == GridCombine::kPrivateAtomic) {
    add_second_kernel(task, plan, PartialLayout::kByBlock, schedule.copies, program);
  }
  return program;
}

Explanation explain(const Task& task, const Schedule& schedule) {
  const TreeText trees = schedule_trees(task, schedule);
  return {trees.domain, trees.dependences, trees.computed + "\n" + trees.tiled, plan_text(lower(task, schedule))};
}

std::string full_text(const Program& program, TargetKind kind) {
  const std::string suffix = kind == TargetKind::kCuda ? ".cuh" : ".cl";
  std::string text = std::string(embedded_device_file("prelude" + suffix)) + "\n";
  // Compilers need time for every line: only texts that declare a state get those.
  if (program.text.find("RT_OPERATOR(") != std::string::npos) {
    text += std::string(embedded_device_file("states" + suffix)) + "\n";
  }
  if (program.text.find("RT_F_") != std::string::npos) text += std::string(embedded_device_file("elementwise" + suffix)) + "\n";
  return text + program.text;
}

std::string build_options(const Target& target) {
  if (target.kind == TargetKind::kCuda) return "";
  return "-cl-std=CL1.2 -D RT_WARP=" + std::to_string(target.warp);
}

}  // namespace redtune
