// The task that the header of a run in a log is about. For what reads logs: training, reports.
#pragma once

#include <string>

#include "space/task.h"
#include "support/json.h"

namespace redtune {

/// `run`: a line of kind `run` of the log `path`. It tells the operator and the target in full; older ones name the
/// target only. Throws UserError naming file and field.
Task task_of_run(const Json& run, const std::string& path);

}  // namespace redtune
