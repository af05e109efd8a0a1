// What single steps cost on a kind of target: the constants of the analytic model. Read from member "costs"
// of configs/targets/NAME.json. Orders of magnitude, good for ranking schedules before anything was measured.
#pragma once

#include <string>

#include "space/target.h"
#include "support/json.h"

namespace redtune {

struct TargetCosts {
  double launch_seconds = 0;               // of a kernel, start to end when it does nothing
  double block_seconds = 0;                // scheduling one block on a unit
  double load_latency_seconds = 0;         // from memory; 0: hidden by the hardware's own prefetch
  double barrier_seconds = 0;              // per thread group that waits (GPU: block; CPU: work-item)
  double step_seconds = 0;                 // one addition of a combine that no other work hides
  double atomic_seconds = 0;               // throughput: one atomic of one unit, addresses apart
  double atomic_same_address_seconds = 0;  // atomics on one address, one after the other
  double core_operations_per_second = 0;   // additions of one unit, vector instructions on a CPU
  double core_bytes_per_second = 0;        // what one unit can read; on GPUs about 1.6 times its share
};

/// Throws UserError naming file and field.
TargetCosts parse_target_costs(const Json& json, const std::string& origin);

/// The costs of the shipped target with this target's name, else of the nearest of its kind: a CPU is "cpu",
/// a CUDA device the newest shipped architecture that is not newer than it.
TargetCosts costs_of(const Target& target);

}  // namespace redtune
