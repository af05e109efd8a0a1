// Kernel texts for a batch of schedules, on all cores.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/tuning.h"

namespace redtune {

struct GenerationResult {
  std::optional<GeneratedProgram> program;
  std::string failure;  // why there is none: the schedule is then a rejected trial
};

/// Keeps the order of `schedules`. An InternalError is a bug and is thrown; every other exception is a
/// failure.
std::vector<GenerationResult> generate_all(
    const Task& task, const std::vector<Schedule>& schedules,
    const std::function<GeneratedProgram(const Task&, const Schedule&)>& generate);

}  // namespace redtune
