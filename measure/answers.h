// The reference of all outputs of an operator, whichever its form: what a candidate's output is checked
// against.
#pragma once

#include <vector>

#include "measure/reference.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

struct Answers {
  std::vector<Reference> outputs;  // in the order of the operator's outputs
  void at_depth(std::int64_t depth);
};

/// Of the block of memory that holds the inputs (input_layout).
Answers compute_answers(const Operator& op, const std::vector<unsigned char>& input);

/// Compares the bytes of all outputs, one behind the other. The worst error of any, the first one that fails
/// by name.
Verdict check_answers(const Operator& op, const Answers& answers, const std::vector<unsigned char>& output);

/// A bound on the combine steps of any reduction under `schedule`: of the group that it tiles, and of the
/// others under their defaults.
std::int64_t answer_depth(const Task& task, const Schedule& schedule);

/// make_input for the general form: every input by its type as the input of a sum, without signs where its
/// values reach a logarithm, a root, a divisor or the base of a power.
std::vector<unsigned char> make_graph_inputs(const Operator& op, std::uint64_t seed);

}  // namespace redtune
