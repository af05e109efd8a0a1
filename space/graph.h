// The general form of an operator: statements over named tensors, each an expression of tensor elements,
// perhaps reduced.
//
//   { "inputs":  { "X": {"shape": [32, 64, 56, 56], "dtype": "f16"} },
//     "compute": [ "S[c] = sum(n,h,w) f32(X[n,c,h,w])" ],
//     "outputs": ["S"] }
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "space/index.h"
#include "space/operator.h"
#include "space/scalar_ops.h"

namespace redtune {

struct Iterator {
  std::string name;
  std::int64_t extent = 1;
};

/// One node of an expression.
struct GraphNode {
  enum class Kind : std::uint8_t { kNumber, kAccess, kCall };
  Kind kind = Kind::kNumber;
  DType dtype = DType::kF32;
  double number = 0;             // kNumber of a float type
  std::int64_t integer = 0;      // kNumber of an integer type or bool
  std::string tensor;            // kAccess
  std::vector<Index> at;         // kAccess: one per axis of the tensor, over the statement's iterators
  ScalarOp op = ScalarOp::kAdd;  // kCall
  std::vector<int> arguments;    // kCall: positions of earlier nodes
};

/// output[kept iterators] = reduce over the others of an expression; without `reduce` there are no others.
struct GraphStatement {
  std::string text;                 // as parse_statement reads it
  Tensor result;                    // row-major
  std::vector<Iterator> iterators;  // those of the result in the order of its axes, then the reduced ones
  std::size_t kept = 0;             // how many of them are the result's
  std::vector<int> axes;            // per axis of the result: its iterator; -1: a unit axis
  std::optional<ReduceOp> reduce;
  DType accumulator = DType::kF32;  // of `reduce`
  std::vector<GraphNode> nodes;     // arguments before their calls; the last is the value

  const GraphNode& value() const { return nodes.back(); }
  std::int64_t instances() const;
};

struct Graph {
  std::vector<Tensor> inputs;
  std::vector<GraphStatement> statements;  // in an order that computes before it uses
  std::vector<std::string> outputs;

  const Tensor* find(const std::string& tensor) const;
  const GraphStatement* statement_of(const std::string& tensor) const;
  bool is_output(const std::string& tensor) const;
};

/// Reads one statement and appends it (a reduction inside a larger expression becomes a statement of its own,
/// called "NAME.1"). `shape` is that of the result where its iterators do not say. Throws UserError with the
/// text and a caret under the place.
void parse_statement(Graph& graph, const std::string& text, const std::string& where,
                     const std::optional<std::vector<std::int64_t>>& shape = std::nullopt);

/// The general form: "inputs" (name: shape, dtype, strides, offset, data), "compute", "outputs", and where
/// iterators do not tell the shape of a result, "shapes". Throws UserError naming `origin`, field and
/// position.
Operator parse_graph_operator(const Json& json, const std::string& origin);
Json graph_to_json(const Operator& op);

/// An operator of these statements: inputs and outputs as tensors, key and title from the statements.
Operator operator_of(Graph graph);

/// A MindSpore composite sub-graph (.info): what formats.md tells of it. Throws UserError naming `origin` and
/// the operation that cannot be read.
Operator parse_mindspore(const Json& json, const std::string& origin);
bool is_mindspore(const Json& json);

}  // namespace redtune
