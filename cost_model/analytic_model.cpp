#include "cost_model/analytic_model.h"

#include <algorithm>
#include <cmath>

namespace redtune {
namespace {

constexpr double kAdditionLatency = 4;  // cycles until the next addition to the same register
constexpr double kEmulatedAtomic = 3;   // compare-and-swap beside a native atomic
constexpr double kCachedShare = 0.5;    // of the time, where the input fits the last level of cache
constexpr double kEmulatedStep = 4;     // a shuffle through local memory beside one in registers

// Share of the units' time that carries work: the slowest unit has ceil(blocks / units) of them.
double imbalance(const TaskFacts& f, const ScheduleFacts& s) {
  const double slots = f.task->target.units * s.resident_blocks;
  if (s.blocks < slots) return 1;  // accounted for by the bandwidth that so few blocks reach
  return std::ceil(s.waves) / s.waves;
}

double memory_seconds(const TaskFacts& f, const ScheduleFacts& s) {
  const Target& target = f.task->target;
  double rate = f.memory_bytes_per_second;
  if (f.gpu) {
    // Little's law: what is in flight over the latency bounds the rate.
    const double resident = std::min(s.blocks, target.units * s.resident_blocks) * s.threads;
    rate = std::min(rate, resident * s.in_flight_bytes / f.costs.load_latency_seconds);
  } else {
    rate = std::min(rate, std::clamp<double>(s.blocks, 1, target.units) * f.costs.core_bytes_per_second);
  }
  const double seconds = f.input_bytes / (rate * s.coalescing);
  return f.input_bytes <= static_cast<double>(target.last_level_cache_bytes) ? seconds * kCachedShare
                                                                             : seconds;
}

double compute_seconds(const TaskFacts& f, const ScheduleFacts& s) {
  const double units = std::clamp<double>(s.blocks, 1, f.task->target.units);
  const double rate = f.costs.core_operations_per_second;
  if (f.gpu) return f.elements / (units * rate);
  // A CPU adds a vector per instruction, and as many at a time as there are independent accumulators.
  const double independent = static_cast<double>(s.schedule.acc) * s.schedule.rows;
  const double stall = std::max(1.0, kAdditionLatency / independent);
  return f.elements / s.schedule.vec * stall / (units * rate);
}

double combine_seconds(const TaskFacts& f, const ScheduleFacts& s) {
  const double rounds = std::max(1.0, std::ceil(s.waves));
  const TargetCosts& c = f.costs;
  if (f.gpu) return rounds * (s.barriers * c.barrier_seconds + (s.shuffles + s.lane_steps) * c.step_seconds);
  // Work-items of a block run one after the other on their core.
  const double emulated = f.native_atomics ? 1 : kEmulatedAtomic;
  const double per_block =
      s.shared_atomics * emulated * c.atomic_seconds +
      s.threads * (s.barriers * c.barrier_seconds + s.shuffles * kEmulatedStep * c.step_seconds) +
      s.schedule.px * s.lane_steps * c.step_seconds;
  return rounds * per_block;
}

}  // namespace

AnalyticTime analytic_time(const TaskFacts& f, const ScheduleFacts& s) {
  const TargetCosts& c = f.costs;
  const double units = std::clamp<double>(s.blocks, 1, f.task->target.units);
  AnalyticTime t;
  t.launches = s.launches * c.launch_seconds + s.blocks * c.block_seconds / f.task->target.units;
  t.fill = s.fill_bytes / f.memory_bytes_per_second;
  t.memory = memory_seconds(f, s);
  t.compute = compute_seconds(f, s);
  const double emulated = f.native_atomics ? 1 : kEmulatedAtomic;
  t.atomics = emulated * s.atomics * c.atomic_seconds / units;
  t.contention = emulated * s.atomics_per_output * c.atomic_same_address_seconds;
  t.combine = combine_seconds(f, s);
  t.partials =
      s.partial_bytes / f.memory_bytes_per_second + (s.partial_bytes > 0 ? s.partials * c.step_seconds : 0);
  t.total = t.launches + t.fill + std::max({t.memory, t.compute, t.atomics}) * imbalance(f, s) +
            t.contention + t.combine + t.partials;
  return t;
}

std::vector<float> analytic_log_times(const Task& task, const std::vector<Schedule>& schedules) {
  std::vector<float> result;
  if (schedules.empty()) return result;
  const TaskFacts facts(task);
  result.reserve(schedules.size());
  for (const Schedule& schedule : schedules) {
    const double seconds = analytic_time(facts, ScheduleFacts(facts, schedule)).total;
    result.push_back(static_cast<float>(std::log(std::max(seconds, 1e-12))));
  }
  return result;
}

}  // namespace redtune
