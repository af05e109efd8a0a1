// The task that the header of a run in a log is about, and what its records say. For what reads logs: training, reports.
#pragma once

#include <string>
#include <vector>

#include "space/task.h"
#include "support/json.h"
#include "tuner/tuning.h"

namespace redtune {

/// `run`: a line of kind `run` of the log `path`. It tells the operator and the target in full; older ones name the
/// target only. Throws UserError naming file and field.
Task task_of_run(const Json& run, const std::string& path);

/// What a run that did nothing but read these records would have found; they are all of `task` on `device`. Every schedule
/// may win, also a default outside the space.
TuneResult result_of_records(const std::vector<Record>& records, const Task& task, const DeviceInfo& device);

}  // namespace redtune
