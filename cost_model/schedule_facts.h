// Sizes of one schedule that features and the analytic model share. Closed form: launch arithmetic from
// space/axes.h, no isl, about a tenth of a microsecond each.
#pragma once

#include "cost_model/target_costs.h"
#include "space/axes.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

/// Of a task, made once per space.
struct TaskFacts {
  explicit TaskFacts(const Task& task);

  const Task* task;
  TargetCosts costs;
  Axes axes;
  double kept, reduced, elements;    // outputs, reduced length, their product
  double input_bytes, output_bytes;  // each once
  int element_bytes, state_bytes, result_bytes;
  bool gpu, native_atomics;
  double memory_bytes_per_second;  // of the device; an estimate from its units where unknown
};

/// Of one schedule. Counts are doubles: they are only ever put into formulas.
struct ScheduleFacts {
  ScheduleFacts(const TaskFacts& task, const Schedule& schedule);

  Schedule schedule;
  Tiling tiling;
  double threads;  // per block
  double blocks;
  double registers;        // estimate per thread, in words of 4 bytes
  double shared_bytes;     // estimate per block
  double resident_blocks;  // per unit
  double occupancy;        // resident threads over the most that a unit holds
  double waves, tail;      // blocks / (units * resident); idle share of the last wave
  double run_bytes;        // contiguous bytes that neighbouring threads load together
  double coalescing;       // useful share of the memory sectors that are touched
  double elements_per_thread;
  double in_flight_bytes;  // that a thread has asked for before it waits
  double partials;         // per output, joined across the grid: of blocks, threads or warps, or private copies
  double atomics, atomics_per_output;  // in global memory; the latter on one address
  double partial_bytes;  // written and read again
  double launches;       // kernels, filling the output included
  double fill_bytes;
  double barriers, shuffles, lane_steps, shared_atomics;  // of a block's combine

 private:
  void grid_combine(const TaskFacts& task);
};

}  // namespace redtune
