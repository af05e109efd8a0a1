// Hardware counters that explain a schedule: which ones, what a chip calls them, and whether it has them.
// Asks CUPTI's profiler host library, which needs neither a GPU nor a driver.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "space/target.h"

namespace redtune {

/// A row of the table of counters: what it tells about a reduction.
struct Counter {
  std::string_view name;     // redtune's
  std::string_view metric;   // of the profiler: unit__counter.rollup.submetric
  std::string_view meaning;  // one sentence
};

/// The table. Order is that of reports.
std::span<const Counter> counters();

struct CounterOfChip {
  Counter counter;
  bool available = false;
  std::string unit;         // of the profiler, "percent", "byte/second"...; empty when not available
  std::string description;  // the profiler's own
};

struct ChipCounters {
  std::string chip;  // the profiler's name, as "GH100"
  std::vector<CounterOfChip> counters;
  /// Times that a kernel is run to collect all available ones.
  std::size_t passes = 0;
};

/// Throws UserError when `target` is no CUDA target or its chip is not known; NoDevice, with the remedy, when
/// CUPTI is not there, is older than the profiler host interface (CUDA 12.6), or does not know the chip. Some
/// 100 ms for the first chip.
ChipCounters counters_of(const Target& target);

}  // namespace redtune
