// Measures schedules that other shapes proposed on one shape, in turns.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "tuner/tuning.h"

namespace redtune {

struct CrossOptions {
  int rounds = 3;  // of each schedule; 1 or more
  std::string log_path;
  TuneOptions tuning;  // clock, seed and command line of the run
};

/// Gives every schedule `rounds` rounds beside the default, one after the other in each round, so that a
/// machine that drifts treats them alike. What is clearly slower than the best after its first round gets no
/// more, what failed neither. Each outcome is on disk before the next starts; rounds that the log holds of
/// the same kernel text are not repeated. Gives the records of the log that are of this shape and text; fewer
/// than asked for when `stop` turned true. Throws what tune() throws of devices and files. Schedules must be
/// legal for `task`.
std::vector<Record> cross_measure(const Task& task, const DeviceInfo& device,
                                  const std::vector<Schedule>& schedules, const CrossOptions& options,
                                  const TuningParts& parts,
                                  const std::function<void(const Progress&)>& progress,
                                  const std::atomic<bool>& stop);

}  // namespace redtune
