// Programs of operators in the general form: one kernel (or what its mapping takes) per group, temporaries
// between them.
#pragma once

#include "codegen/plan.h"
#include "codegen/program.h"
#include "space/task.h"

namespace redtune {

/// From this many outputs on partials are kept by block, so that the second kernel reads whole lines of
/// outputs.
inline constexpr std::int64_t kByBlockFrom = 64;

/// `schedule` for the main group of `task`, the defaults for the others.
Program generate_graph(const Task& task, const Schedule& schedule);

/// What both forms share (codegen.cpp).
KernelLaunch launch_of(const KernelPlan& plan, std::vector<int> arguments);
/// Appends the kernel that fills buffer `buffer` with the number of type `type` that has these bits, and its
/// launch.
void add_fill(const Task& task, int buffer, DType type, std::uint64_t bits, Program& program,
              const std::string& entry = "rt_fill");
/// Partials are few: one pass without any split. A CPU device walks them serially with the widest vectors; a
/// GPU gives a warp or more to the partials of one output, or a thread to each output of a line.
Schedule final_schedule(const Task& task);

}  // namespace redtune
