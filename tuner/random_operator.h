// Operators drawn at random, for tests by fuzz: any rank, shape, axes, dtype, layout that an operator file
// can state.
#pragma once

#include "space/operator.h"
#include "support/rng.h"

namespace redtune {

/// Limits of what is drawn.
struct RandomOperatorRules {
  int most_axes = 6;
  std::int64_t most_elements = 20'000;  // of input and of its storage
};

/// The next operator of the sequence; always one that parse_operator accepts. Ranks 0 to `most_axes`, sizes
/// around powers of two and others, layouts dense, transposed, with gaps, broadcast and reversed, with and
/// without an offset, every row of the operator and dtype tables.
Operator random_operator(Rng& rng, const RandomOperatorRules& rules = {});

}  // namespace redtune
