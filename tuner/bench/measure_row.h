// One row: search, then the winner and its baselines in turns.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "tuner/bench/bench.h"

namespace redtune {

/// Nothing when `stop` came before it was known. A row that cannot be measured (nothing valid, not enough
/// memory) has an error; a baseline that cannot has a failure.
std::optional<BenchRow> measure_row(const PlannedRow& planned, const DeviceInfo& device,
                                    const BenchOptions& options, const TuneOptions& tuning,
                                    const std::function<void(const Progress&)>& progress,
                                    const std::atomic<bool>& stop);

}  // namespace redtune
