// A task: one fused group of an operator in canonical form on one target: the unit of tuning.
#pragma once

#include <string>

#include "space/canonical.h"
#include "space/operator.h"
#include "space/target.h"

namespace redtune {

struct Task {
  Operator op;
  Canonical canonical;
  Target target;

  DType input_dtype() const { return op.input().dtype; }
  DType output_dtype() const { return op.output().dtype; }
  DType accumulator() const { return op.reduction().accumulator; }
  ReduceOp reduce_op() const { return op.reduction().op; }
  /// True when an offset into the input, the output or the partials can pass 2^31 - 1.
  bool needs_64bit_index() const;
  /// Bytes that any schedule must move: input read once, output written once.
  double compulsory_bytes() const;
  /// Key of results: operator key and target name.
  std::string key() const;
};

Task make_task(Operator op, Target target);

}  // namespace redtune
