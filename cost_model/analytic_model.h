// The time of a schedule from first principles: works without data, ranks a space before the first trial, and
// is a feature of the learned model. A roofline with the terms that decide reductions:
//
//   time = launches + fill + max(memory, compute, atomics) * imbalance + combine + contention + partials
//
// It is no prediction of times: it is meant to put good schedules before bad ones.
#pragma once

#include <vector>

#include "cost_model/schedule_facts.h"

namespace redtune {

/// Seconds by cause; `total` is what the model answers.
struct AnalyticTime {
  double launches = 0;    // starting kernels, and blocks on units
  double fill = 0;        // writing the identity for atomics
  double memory = 0;      // reading the input at the share of the bandwidth that the access pattern can have
  double compute = 0;     // additions
  double atomics = 0;     // at the device's rate, addresses apart
  double contention = 0;  // atomics on one address, one after the other
  double combine = 0;     // barriers, shuffles and lane additions of a block
  double partials = 0;    // writing partial results and reading them again
  double total = 0;
};

AnalyticTime analytic_time(const TaskFacts& task, const ScheduleFacts& schedule);

/// Natural logarithm of the total seconds, for each schedule.
std::vector<float> analytic_log_times(const Task& task, const std::vector<Schedule>& schedules);

}  // namespace redtune
