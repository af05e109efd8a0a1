// From logs to what the learned model trains on: the tuner is where measured records and the cost model meet.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cost_model/learned_model.h"
#include "logs/log.h"

namespace redtune {

/// The tasks that the run headers of a log describe, by their keys. `warnings` gets headers that do not.
std::map<std::string, Task> tasks_of_log(const LogContents& log, const std::string& path,
                                         std::vector<std::string>& warnings);

/// The timed schedules of every task in the logs, one entry per task, device and clock; records of one
/// schedule are joined by the median of their medians. What failed once is left out. `warnings` gets what
/// could not be used, with the file's name: torn lines, tasks whose run header does not say their operator.
std::vector<TaskSamples> samples_of_logs(const std::vector<std::string>& paths,
                                         std::vector<std::string>& warnings);

}  // namespace redtune
