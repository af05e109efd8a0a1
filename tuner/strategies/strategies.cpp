#include "tuner/strategies/strategies.h"

#include <string>

#include "support/error.h"

namespace redtune {
namespace {

constexpr StrategyEntry kStrategies[] = {
    {"bayes", "expected improvement under a Gaussian process; takes in the guess of a model", make_bayes},
    {"model", "boosted trees over the features of the space, trained each round; needs XGBoost", make_model},
    {"evolutionary", "cross and move the best few", make_evolutionary},
    {"annealing", "walk over neighbours, cooling down", make_annealing},
    {"random", "uniform without repetition", make_random},
    {"exhaustive", "every schedule in order", make_exhaustive},
};

}  // namespace

std::span<const StrategyEntry> strategies() { return kStrategies; }

const StrategyEntry& find_strategy(std::string_view name) {
  std::vector<std::string> known;
  for (const StrategyEntry& entry : kStrategies) {
    if (entry.name == name) return entry;
    known.emplace_back(entry.name);
  }
  throw UserError(unknown_word_message("strategy", name, known));
}

}  // namespace redtune
