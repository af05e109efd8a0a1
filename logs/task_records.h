// The records of a log by what they belong to: one task on one device under one clock, and in it one schedule.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "logs/log.h"

namespace redtune {

/// What one task, device and clock has in a log: the records of each schedule, in the order of their first.
/// Points into the log that it was made of.
struct TaskRecords {
  TrialKey key;
  std::vector<std::vector<const Record*>> schedules;
  std::map<std::string, std::size_t> index_of;  // by the schedule's text
};

/// In the order of their first records.
std::vector<TaskRecords> task_records(const LogContents& log);

/// The fields of a schedule as tunable parameters: block, grid, walk, then the sizes.
Json configuration_of(const Schedule& schedule);

/// Several rounds of one schedule as one: failed when one of them failed, else timed with the samples of all (their
/// medians where a log keeps no samples) and the median of these; times for compiling and measuring add up.
Outcome joined_rounds(const std::vector<const Record*>& rounds);

}  // namespace redtune
