// The reference answer of an operator in the general form: an interpreter of its statements in f64 and exact
// integers. Independent of isl, of fusion and of code generation: every statement is computed as it is
// written, from whole tensors.
#pragma once

#include <vector>

#include "measure/reference.h"
#include "space/graph.h"

namespace redtune {

/// One reference per output of `op`, whose inputs lie in `inputs` as input_layout says. Uses all cores;
/// memory: about 24 bytes for each element of a result that is still needed.
///
/// Beside each value runs a bound of how far a kernel may be from it, e0 + depth * e1, where depth bounds the
/// combine steps of any reduction: every operation adds what its own rounding in the statement's type (f32
/// for 16-bit types) may do and passes on what its arguments are off by, to first order. Results that are
/// exact stay so: sums and products that fit the type add nothing, and sums of multiples of 1/64 that fit the
/// accumulator neither. Functions (exp, log, ...) count 4 units in the last place, erf, tanh and pow 16.
///
/// A comparison whose sides are closer than their bounds may come out either way; what it selects is then
/// bounded by the difference, and a bool or integer output by Reference::slack. Values beyond the range of a
/// type are infinite. Casts of floats to integers cut, saturate at 32 bits (i64: 64) and take NaN to 0;
/// narrower integers wrap.
std::vector<Reference> compute_graph_reference(const Operator& op, const std::vector<unsigned char>& inputs);

}  // namespace redtune
