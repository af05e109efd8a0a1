#include "codegen/fused_program.h"

#include <algorithm>
#include <map>
#include <set>

#include "codegen/emit.h"
#include "codegen/fused_text.h"
#include "codegen/lower.h"
#include "codegen/operator_text.h"
#include "space/fusion_check.h"
#include "space/graph.h"
#include "support/error.h"

namespace redtune {
namespace {

class GraphProgram {
 public:
  GraphProgram(const Task& task, const Schedule& schedule) : task_(task), schedule_(schedule) {}

  Program run() {
    const std::vector<Task>& groups = *task_.groups;
    wide_ = std::any_of(groups.begin(), groups.end(),
                        [](const Task& group) { return group.needs_64bit_index(); });
    program_.text = wide_ ? "#define rt_index rt_i64\n" : "#define rt_index rt_i32\n";
    add_buffers();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      suffix_ = groups.size() > 1 ? "_g" + std::to_string(g) : "";
      add_group(groups[g], g == task_.main_group ? schedule_ : (*task_.group_schedules)[g]);
    }
    return std::move(program_);
  }

 private:
  int add_buffer(BufferSpec spec) {
    program_.buffers.push_back(std::move(spec));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  void add_buffers() {
    const Graph& graph = *task_.op.graph;
    const InputLayout layout = input_layout(task_.op);
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      const Tensor& input = graph.inputs[i];
      places_[input.name] = add_buffer(
          {input.name, BufferKind::kInput, input.dtype, input.storage_elements(), layout.offsets[i]});
    }
    for (const Tensor& output : task_.op.outputs)
      places_[output.name] =
          add_buffer({output.name, BufferKind::kOutput, output.dtype, output.elements(), 0});
    for (const Task& group : *task_.groups) {
      for (const auto* stores : {&group.fused->body_stores, &group.fused->tail_stores}) {
        for (const FusedStore& store : *stores) {
          const std::string& tensor = group.fused->accesses[static_cast<std::size_t>(store.access)].tensor;
          if (places_.contains(tensor)) continue;
          const Tensor& result = *graph.find(tensor);
          places_[tensor] =
              add_buffer({result.name, BufferKind::kScratch, result.dtype, result.elements(), 0});
        }
      }
    }
  }

  std::vector<int> arguments(const FusedGroup& group, bool body, bool tail) const {
    std::vector<int> list;
    for (const std::string& tensor : fused_arguments(group, body, tail)) list.push_back(places_.at(tensor));
    return list;
  }

  KernelPlan plan_of(const Task& group, const Schedule& schedule, const std::string& entry) const {
    KernelPlan plan = lower(group, schedule);
    plan.entry = entry + suffix_;
    plan.state = "rt_state" + suffix_;
    plan.index = wide_ ? IndexWidth::k64 : IndexWidth::k32;
    return plan;
  }

  void add_group(const Task& group, const Schedule& schedule) {
    const KernelPlan plan = plan_of(group, schedule, "rt_main");
    const std::int64_t splits = plan.tiling.split_outer * plan.tiling.split_inner,
                       outputs = group.fused->outputs();
    EmitOptions options;
    options.outputs = outputs;
    std::vector<int> list = arguments(*group.fused, plan.runs_body(), plan.runs_tail());
    int partials = -1;
    if (schedule.grid == GridCombine::kSecondKernel || has_tickets(schedule.grid)) {
      const bool second = schedule.grid == GridCombine::kSecondKernel;
      const bool by_output = second ? outputs < kByBlockFrom : plan.axes.row_type;
      options.partials = by_output ? PartialLayout::kByOutput : PartialLayout::kByBlock;
      partials = add_partials(group, outputs * splits);
      list.push_back(partials);
      if (!second)
        list.push_back(
            add_buffer({"tickets" + suffix_, BufferKind::kCounter, DType::kI32, plan.tiling.kept_blocks, 0}));
    }
    program_.text += operator_declarations(plan);
    if (schedule.grid == GridCombine::kAtomic) {
      const FusedReduction& r = group.fused->reductions.front();
      const FusedAccess& access =
          group.fused->accesses[static_cast<std::size_t>(group.fused->tail_stores.front().access)];
      add_fill(group, places_.at(access.tensor), r.accumulator, identity_bits(r.op, r.accumulator), program_,
               "rt_fill" + suffix_);
    }
    program_.text += emit_kernel(plan, options);
    program_.launches.push_back(launch_of(plan, list));
    if (schedule.grid == GridCombine::kSecondKernel)
      add_final(group, plan, options.partials, splits, partials);
  }

  int add_partials(const Task& group, std::int64_t count) {
    const FusedGroup& fused = *group.fused;
    BufferSpec spec{"partials" + suffix_, BufferKind::kScratch, group.accumulator(), 0, 0};
    const std::int64_t bytes = count * fused.state_bytes();
    // States of several types have no type of their own.
    if (fused.reductions.size() > 1) spec.dtype = fused.state_bytes() % 8 == 0 ? DType::kI64 : DType::kI32;
    spec.elements = bytes / bytes_of(spec.dtype);
    return add_buffer(spec);
  }

  /// The group's reductions of partial results, with the group's tail.
  static Task final_task(const Task& group, PartialLayout layout, std::int64_t splits) {
    FusedGroup last = *group.fused;
    const std::int64_t outputs = last.outputs();
    const bool by_block = layout == PartialLayout::kByBlock;
    last.extents.resize(last.kept);
    std::vector<std::int64_t> dense = row_major_strides(last.extents);
    std::vector<bool> used(last.accesses.size(), false);
    const std::vector<bool> tail = last.tail_nodes();
    for (std::size_t i = 0; i < last.nodes.size(); ++i) {
      if (tail[i] && last.nodes[i].kind == FusedNode::Kind::kLoad)
        used[static_cast<std::size_t>(last.nodes[i].index)] = true;
    }
    for (const FusedStore& store : last.tail_stores) used[static_cast<std::size_t>(store.access)] = true;
    for (std::size_t a = 0; a < last.accesses.size(); ++a) {
      last.accesses[a].strides.resize(last.kept);
      if (!used[a]) last.accesses[a].strides.assign(last.kept, 0);
      last.accesses[a].strides.push_back(0);
    }
    FusedAccess partials{"", group.accumulator(), 0, {}};
    for (const std::int64_t stride : dense) partials.strides.push_back(by_block ? stride : stride * splits);
    partials.strides.push_back(by_block ? outputs : 1);
    last.extents.push_back(splits);
    last.main = static_cast<int>(last.accesses.size());
    last.accesses.push_back(partials);
    last.body_stores.clear();
    Task task{group.op, {}, group.target, nest_of(last), nullptr, nullptr, nullptr, 0};
    task.canonical = coalesce(task.nest_operator, last);
    task.fused = std::make_shared<const FusedGroup>(std::move(last));
    return task;
  }

  void add_final(const Task& group, const KernelPlan& main, PartialLayout layout, std::int64_t splits,
                 int partials) {
    const Task last = final_task(group, layout, splits);
    KernelPlan plan = plan_of(last, final_schedule(last), "rt_final");
    plan.count = main.count;
    plan.reads_states = true;
    std::vector<int> list{partials};
    for (const int argument : arguments(*last.fused, false, true)) list.push_back(argument);
    program_.text += emit_kernel(plan, {});
    program_.launches.push_back(launch_of(plan, list));
  }

  const Task& task_;
  const Schedule& schedule_;
  bool wide_ = false;
  std::string suffix_;
  std::map<std::string, int> places_;
  Program program_;
};

}  // namespace

namespace {

/// Once per graph and thread: isl takes milliseconds.
void check_legal(const Task& task) {
  thread_local std::set<std::string> checked;
  if (!checked.insert(task.op.key() + " in " + std::to_string(task.groups->size())).second) return;
  std::vector<FusedGroup> groups;
  for (const Task& group : *task.groups) groups.push_back(*group.fused);
  const std::string broken = check_fusion(*task.op.graph, groups);
  RT_CHECK(broken.empty() || broken.starts_with("isl gave up"), "fusion of " + task.op.key() + ": " + broken);
}

}  // namespace

Program generate_graph(const Task& task, const Schedule& schedule) {
  check_legal(task);
  return GraphProgram(task, schedule).run();
}

}  // namespace redtune
