// A task: one fused group of an operator in canonical form on one target: the unit of tuning.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "space/canonical.h"
#include "space/fusion.h"
#include "space/operator.h"
#include "space/schedule.h"
#include "space/target.h"

namespace redtune {

struct Task {
  Operator op;
  Canonical canonical;
  Target target;
  /// The general form. Schedules are those of its largest group (`fused`, whose loops are `nest`); `groups` are tasks of
  /// their own, run in this order, the others with the default schedules that fit them.
  Operator nest_operator;
  std::shared_ptr<const FusedGroup> fused;
  std::shared_ptr<const std::vector<Task>> groups;
  std::shared_ptr<const std::vector<Schedule>> group_schedules;  // the defaults
  std::size_t main_group = 0;

  /// The reduction that schedules tile: the operator itself, or the loop nest of the group.
  const Operator& nest() const { return fused ? nest_operator : op; }
  DType input_dtype() const { return nest().input().dtype; }
  DType output_dtype() const { return nest().output().dtype; }
  DType accumulator() const { return nest().reduction().accumulator; }
  ReduceOp reduce_op() const { return nest().reduction().op; }
  /// Bytes of a partial result of one output.
  int state_bytes() const;
  /// True when an offset into the input, the output or the partials can pass 2^31 - 1.
  bool needs_64bit_index() const;
  /// Bytes that any schedule must move: inputs read once, outputs written once.
  double compulsory_bytes() const;
  /// Key of results: operator key and target name.
  std::string key() const;
};

Task make_task(Operator op, Target target);
/// Of the general form, with a kernel per statement: what fusion is measured against.
Task make_unfused_task(Operator op, Target target);

/// Where the inputs of an operator lie in the one block of memory that holds them all: a multiple of 128 bytes each.
struct InputLayout {
  std::vector<std::int64_t> offsets;  // bytes, per input
  std::int64_t bytes = 0;
};
InputLayout input_layout(const Operator& op);
/// All outputs, one behind the other.
std::int64_t output_bytes(const Operator& op);

}  // namespace redtune
