// Lowering: isl schedule tree -> kernel plan. With its source the only part of codegen that sees isl.
#pragma once

#include <string>

#include "codegen/plan.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

/// The plan of the main kernel of `schedule`: isl's domain of the task mapped to the iterations of tiles by the
/// schedule's sizes, block indices as parameters of the AST build, so that loops and their guards fall out of isl. Tiles
/// that an axis cuts off are statements of their own: whole tiles meet no guard. A thread's loads within an iteration
/// are unrolled. Throws InternalError when the schedule spreads the reduction over threads or blocks
/// without a combine step. Cost: some milliseconds, nothing for a plan that the thread still holds. Thread-safe.
KernelPlan lower(const Task& task, const Schedule& schedule);

/// Domain, dependences and both schedule trees (isl's own, and tiled) as text.
struct TreeText {
  std::string domain, dependences, computed, tiled;
};
TreeText schedule_trees(const Task& task, const Schedule& schedule);

}  // namespace redtune
