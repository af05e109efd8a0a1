// The way from a schedule to kernel text: isl schedule tree -> kernel plan -> text.
#pragma once

#include <string>

#include "codegen/program.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

/// Lowers and prints one schedule. The schedule must be legal for the task (SearchSpace::why_not says nothing).
/// Deterministic: same arguments, same bytes. Cost: a few milliseconds, mostly isl's AST build. Thread-safe (each
/// call owns its isl context). Throws InternalError when isl finds the schedule illegal.
Program generate(const Task& task, const Schedule& schedule);

/// For people: the isl schedule tree and the AST of the accumulation, as `show` prints them.
struct Explanation {
  std::string domain, dependences, schedule_tree, plan;
};
Explanation explain(const Task& task, const Schedule& schedule);

/// Prelude (and the routines of states, where the text declares one) plus text, as handed to the compiler of that kind of target.
std::string full_text(const Program& program, TargetKind kind);

/// What an OpenCL compiler must be told beside the text; "" for CUDA.
std::string build_options(const Target& target);

}  // namespace redtune
