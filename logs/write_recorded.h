// What a log holds of one task, in the forms that other autotuners read: Kernel Tuner's cachefile and T4. Times are in
// milliseconds there. `time` of a configuration is the median of its samples (as redtune's own tables), where Kernel
// Tuner takes the mean; all samples stand beside it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "logs/task_records.h"

namespace redtune {

/// A closed cachefile, laid out as Kernel Tuner writes it, so that it can also append. `kernel`: its kernel_name;
/// `problem_size`: what a tuning run must have to use it.
std::string cachefile_text(const TaskRecords& task, const std::string& kernel,
                           const std::vector<std::int64_t>& problem_size);

/// A document of the T4 results schema, version 1.0.0.
Json t4_document(const TaskRecords& task);

}  // namespace redtune
