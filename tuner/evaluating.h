// A batch through an evaluator whose outcomes are written down as they come.
#pragma once

#include <span>

#include "measure/evaluator.h"

namespace redtune {

/// evaluator.evaluate with callbacks that may throw (a full disk): an evaluator is not asked to survive that,
/// so the batch stops and the first exception is thrown when it has returned. All three callbacks must be
/// there. An empty batch is fine.
void evaluate_guarded(Evaluator& evaluator, std::span<const Candidate> batch,
                      const Evaluator::Callbacks& callbacks);

}  // namespace redtune
