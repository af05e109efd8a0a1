#include "space/task.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "space/heuristic.h"
#include "support/error.h"

namespace redtune {
namespace {

double distinct_bytes(const Tensor& tensor) {
  // A broadcast element is read once, a gap between rows never.
  double elements = static_cast<double>(tensor.elements());
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.strides[i] == 0 && tensor.shape[i] > 1) elements /= static_cast<double>(tensor.shape[i]);
  }
  return elements * bytes_of(tensor.dtype);
}

bool reaches_far(const FusedGroup& group) {
  constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();
  if (group.points() - 1 > kMax32) return true;
  return std::any_of(group.accesses.begin(), group.accesses.end(), [&](const FusedAccess& access) {
    std::int64_t last = access.offset;
    for (std::size_t i = 0; i < group.extents.size(); ++i) last += (group.extents[i] - 1) * std::max<std::int64_t>(0, access.strides[i]);
    return last > kMax32;
  });
}

/// What the group moves, roughly: where a schedule matters most.
double weight(const FusedGroup& group) {
  double bytes = 0;
  for (const FusedAccess& access : group.accesses) {
    double elements = bytes_of(access.dtype);
    for (std::size_t i = 0; i < group.extents.size(); ++i) elements *= access.strides[i] != 0 ? static_cast<double>(group.extents[i]) : 1;
    bytes += elements;
  }
  return bytes + (group.reductions.empty() ? 0 : 1);
}

Task group_task(const Operator& op, const Target& target, FusedGroup group) {
  Task task{op, {}, target, nest_of(group), nullptr, nullptr, nullptr, 0};
  task.nest_operator.determinism = op.determinism;
  task.canonical = coalesce(task.nest_operator, group);
  task.fused = std::make_shared<const FusedGroup>(std::move(group));
  return task;
}

Task make_graph_task(const Operator& op, const Target& target, std::vector<FusedGroup> groups) {
  RT_CHECK(!groups.empty(), "graph without groups");
  std::size_t main = 0;
  std::vector<Task> tasks;
  for (FusedGroup& group : groups) {
    if (group.points() == 0) {
      throw UserError(op.title() + ": a loop of no steps; the general form needs sizes of 1 or more");
    }
    if (weight(group) > weight(groups[main])) main = tasks.size();
    tasks.push_back(group_task(op, target, group));
  }
  auto schedules = std::make_shared<std::vector<Schedule>>();
  for (const Task& group : tasks) schedules->push_back(default_schedule(group));
  Task task = tasks[main];
  task.group_schedules = std::move(schedules);
  task.groups = std::make_shared<const std::vector<Task>>(std::move(tasks));
  task.main_group = main;
  return task;
}

}  // namespace

int Task::state_bytes() const {
  if (fused && !fused->reductions.empty()) return static_cast<int>(fused->state_bytes());
  return redtune::state_bytes(reduce_op(), accumulator());
}

bool Task::needs_64bit_index() const {
  if (fused) return reaches_far(*fused);
  // Partials are bounded by the input: every one of them has read an element of its own, or there is one per
  // output.
  constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();
  return op.input().storage_elements() - 1 > kMax32 || op.input().elements() - 1 > kMax32 ||
         op.output().elements() - 1 > kMax32;
}

double Task::compulsory_bytes() const {
  double bytes = 0;
  for (const Tensor& input : op.inputs) bytes += distinct_bytes(input);
  for (const Tensor& output : op.outputs) bytes += static_cast<double>(output.elements()) * bytes_of(output.dtype);
  return bytes;
}

std::string Task::key() const { return op.key() + " @ " + target.name; }

Task make_task(Operator op, Target target) {
  if (op.graph) return make_graph_task(op, target, fuse(*op.graph));
  Canonical canonical = coalesce(op);
  return {std::move(op), std::move(canonical), std::move(target), {}, nullptr, nullptr, nullptr, 0};
}

Task make_unfused_task(Operator op, Target target) {
  RT_CHECK(static_cast<bool>(op.graph), "a single reduction has nothing to take apart");
  return make_graph_task(op, target, fuse_nothing(*op.graph));
}

InputLayout input_layout(const Operator& op) {
  constexpr std::int64_t kAlignment = 128;
  InputLayout layout;
  for (const Tensor& input : op.inputs) {
    layout.bytes = (layout.bytes + kAlignment - 1) / kAlignment * kAlignment;
    layout.offsets.push_back(layout.bytes);
    layout.bytes += input.storage_elements() * bytes_of(input.dtype);
  }
  return layout;
}

std::int64_t output_bytes(const Operator& op) {
  std::int64_t bytes = 0;
  for (const Tensor& output : op.outputs) bytes += output.elements() * bytes_of(output.dtype);
  return bytes;
}

}  // namespace redtune
