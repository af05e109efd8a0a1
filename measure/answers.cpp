#include "measure/answers.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>

#include "measure/graph_reference.h"
#include "space/axes.h"
#include "space/graph.h"
#include "support/error.h"

namespace redtune {
namespace {

/// Inputs whose values must not be negative.
class PositiveInputs {
 public:
  explicit PositiveInputs(const Graph& graph) : graph_(graph) {
    for (const GraphStatement& statement : graph.statements) {
      for (const GraphNode& node : statement.nodes) {
        if (node.kind != GraphNode::Kind::kCall) continue;
        switch (node.op) {
          case ScalarOp::kLog:
          case ScalarOp::kSqrt:
          case ScalarOp::kRsqrt:
          case ScalarOp::kPow:
            reach(statement, node.arguments[0]);
            break;
          case ScalarOp::kDiv:
            reach(statement, node.arguments[1]);
            break;
          default:
            break;
        }
      }
    }
  }
  bool contains(const std::string& tensor) const { return found_.contains(tensor); }

 private:
  void reach(const GraphStatement& statement, int place) {
    const GraphNode& node = statement.nodes[static_cast<std::size_t>(place)];
    for (const int argument : node.arguments) reach(statement, argument);
    if (node.kind != GraphNode::Kind::kAccess || !found_.insert(node.tensor).second) return;
    const GraphStatement* producer = graph_.statement_of(node.tensor);
    if (producer != nullptr) reach(*producer, static_cast<int>(producer->nodes.size()) - 1);
  }

  const Graph& graph_;
  std::set<std::string> found_;
};

/// The sign bits of floats cleared.
void clear_signs(DType dtype, std::vector<unsigned char>& bytes) {
  const auto item = static_cast<std::size_t>(bytes_of(dtype));
  if (!info(dtype).is_float) return;
  for (std::size_t i = item - 1; i < bytes.size(); i += item) bytes[i] &= 0x7f;
}

}  // namespace

void Answers::at_depth(std::int64_t depth) {
  for (Reference& reference : outputs) reference.at_depth(depth);
}

Answers compute_answers(const Operator& op, const std::vector<unsigned char>& input) {
  Answers answers;
  if (op.graph)
    answers.outputs = compute_graph_reference(op, input);
  else
    answers.outputs.push_back(compute_reference(op, input, 1));
  return answers;
}

Verdict check_answers(const Operator& op, const Answers& answers, const std::vector<unsigned char>& output) {
  RT_CHECK(static_cast<std::int64_t>(output.size()) == output_bytes(op),
           "outputs of " + std::to_string(output.size()) + " bytes");
  Verdict all;
  std::size_t at = 0;
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const Tensor& tensor = op.outputs[i];
    const auto bytes = static_cast<std::size_t>(tensor.elements() * bytes_of(tensor.dtype));
    const std::vector<unsigned char> part(output.begin() + static_cast<std::ptrdiff_t>(at),
                                          output.begin() + static_cast<std::ptrdiff_t>(at + bytes));
    const Verdict verdict = check_output(tensor, answers.outputs[i], part);
    at += bytes;
    if (all.pass && !verdict.pass) all.detail = verdict.detail;
    all.pass = all.pass && verdict.pass;
    if (verdict.max_error > all.max_error || all.worst_index < 0) {
      all.max_error = verdict.max_error;
      all.worst_index = verdict.worst_index;
    }
  }
  return all;
}

std::int64_t answer_depth(const Task& task, const Schedule& schedule) {
  std::int64_t depth = combine_depth(task, schedule);
  if (!task.groups) return depth;
  for (std::size_t g = 0; g < task.groups->size(); ++g) {
    if (g != task.main_group)
      depth = std::max(depth, combine_depth((*task.groups)[g], (*task.group_schedules)[g]));
  }
  return depth;
}

std::vector<unsigned char> make_graph_inputs(const Operator& op, std::uint64_t seed) {
  const InputLayout layout = input_layout(op);
  const PositiveInputs positive(*op.graph);
  std::vector<unsigned char> all(static_cast<std::size_t>(layout.bytes));
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    Operator one;
    one.inputs = {op.inputs[i]};
    one.outputs = {op.inputs[i]};
    one.statements = {ReduceStatement{}};
    std::vector<unsigned char> bytes = make_input(one, seed + i);
    if (positive.contains(op.inputs[i].name)) clear_signs(op.inputs[i].dtype, bytes);
    if (!bytes.empty()) std::memcpy(all.data() + layout.offsets[i], bytes.data(), bytes.size());
  }
  return all;
}

}  // namespace redtune
