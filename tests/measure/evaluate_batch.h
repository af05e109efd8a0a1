// The outcomes of one batch, for the tests of evaluators.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "measure/evaluator.h"

namespace redtune {

/// Outcomes by index; what has none was left unevaluated.
inline std::map<std::size_t, Outcome> evaluate_batch(Evaluator& evaluator, const std::vector<Candidate>& batch) {
  std::map<std::size_t, Outcome> outcomes;
  Evaluator::Callbacks callbacks;
  callbacks.done = [&](std::size_t index, const Outcome& outcome) {
    EXPECT_FALSE(outcomes.contains(index)) << "two outcomes for " << index;
    outcomes[index] = outcome;
  };
  evaluator.evaluate(batch, callbacks);
  return outcomes;
}

}  // namespace redtune
