// Search strategies: propose a batch, be told the results. A strategy owns no device and no clock.
//
//     DiscreteSpace --propose--> [indices] --(compile, measure)--> outcomes --observe--> strategy
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "logs/outcome.h"
#include "tuner/discrete_space.h"

namespace redtune {

struct Observation {
  std::size_t index;  // into the space
  const Outcome* outcome;
  bool timed() const { return outcome->timed() && outcome->median_seconds > 0; }
};

class SearchStrategy {
 public:
  virtual ~SearchStrategy() = default;
  /// At most `limit` indices never proposed before, never observed before. Empty: the strategy has finished.
  virtual std::vector<std::size_t> propose(std::size_t limit) = 0;
  /// Results, of proposals or of earlier runs (resume): both in the order they were measured.
  virtual void observe(std::span<const Observation> results) = 0;
};

struct StrategyEntry {
  std::string_view name, summary;
  /// `space` must outlive the strategy.
  std::unique_ptr<SearchStrategy> (*make)(const DiscreteSpace& space, std::uint64_t seed);
};

/// The one list, in tuner/strategies/strategies.cpp. The first is the default.
std::span<const StrategyEntry> strategies();
/// Throws UserError with the nearest known name.
const StrategyEntry& find_strategy(std::string_view name);

}  // namespace redtune
