// Schedule 0 of every task: the default that a good engineer would write for the kind of target. Every result is
// "x times the default".
#pragma once

#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

class SearchSpace;

/// CUDA and other GPUs: the published default heuristic of Panamera/AKG (threads, elements per thread and blocks by
/// form). CPU devices: one work-item per block, serial accumulation with the widest vectors, a few blocks per core.
/// Legal for `task` (SearchSpace::why_not says nothing), deterministic when the operator asks for it.
Schedule default_schedule(const Task& task);

/// The default of the task, or the schedule nearest to it in a space that a mapping narrows. Throws
/// NoValidSchedule with the reasons when that space is empty.
Schedule default_in(const SearchSpace& space);

}  // namespace redtune
