// An operator: what to compute. A value with a stable key; knows nothing of how.
//
// The short form is one reduction over one input:
//   {"op": "sum", "shape": [256, 56, 56, 256], "axes": [0, 1, 2], "dtype": "f16", "out": "f32"}
// The general form is a list of statements over named tensors: space/graph.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "space/dtype.h"
#include "space/reduction_ops.h"
#include "support/json.h"

namespace redtune {

enum class Determinism : std::uint8_t { kNotGuaranteed, kRunToRun };
std::string_view name(Determinism d);  // "not_guaranteed", "run_to_run"
Determinism parse_determinism(std::string_view word);

/// A dense or strided array. Strides and offset are in elements; strides are filled in row-major when absent.
/// The offset is where the logical element 0 lies in the storage; strides may be 0 (broadcast) or negative.
struct Tensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
  DType dtype = DType::kF32;

  std::int64_t elements() const;  // product of the shape, 1 for rank 0
  std::int64_t storage_elements()
      const;                  // smallest flat storage that strides and offset can walk over; 0 when empty
  bool is_row_major() const;  // strides alone; those of unit axes do not matter
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// Strides of a dense array; an empty axis counts as 1.
std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape);

/// One reduction statement: output[kept axes] = op over `axes` of input. Axes are sorted, unique,
/// non-negative.
struct ReduceStatement {
  ReduceOp op = ReduceOp::kSum;
  std::string input, output;
  std::vector<int> axes;
  DType accumulator = DType::kF32;
  int ddof = 0;  // var and std divide by count - ddof; NaN where that is not positive
  friend bool operator==(const ReduceStatement&, const ReduceStatement&) = default;
};

/// Elements of the input that make one output.
std::int64_t reduced_elements(const Tensor& input, const std::vector<int>& axes);

/// The accumulator when the operator does not say: accumulator_of, except that positions of more than 2^31 -
/// 1 elements take the 64-bit types. Of `statement` op and axes count.
DType default_accumulator(const ReduceStatement& statement, const Tensor& input);

/// Flat storage values given in the operator file for a small case; integers exact to 64 bits.
struct InlineData {
  std::vector<double> numbers;         // for float dtypes
  std::vector<std::int64_t> integers;  // for integer dtypes and bool
  friend bool operator==(const InlineData&, const InlineData&) = default;
};

struct Graph;  // space/graph.h

/// The statements of the general form, shared between copies; equal when they say the same.
class GraphHandle {
 public:
  GraphHandle() = default;
  GraphHandle(std::shared_ptr<const Graph> graph) : graph_(std::move(graph)) {}  // NOLINT: a graph is its handle
  explicit operator bool() const { return graph_ != nullptr; }
  const Graph& operator*() const { return *graph_; }
  const Graph* operator->() const { return graph_.get(); }
  friend bool operator==(const GraphHandle& a, const GraphHandle& b);

 private:
  std::shared_ptr<const Graph> graph_;
};

struct Operator {
  std::string name;  // for people; not part of the key
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<ReduceStatement> statements;  // one for the short form
  bool keepdims = false;
  Determinism determinism = Determinism::kNotGuaranteed;
  std::optional<InlineData> data;  // values of inputs[0]; not part of the key
  /// The general form. `statements` then holds the one reduction that names the family, and `values` what the file
  /// gives of each input.
  GraphHandle graph;
  std::vector<std::optional<InlineData>> values;

  const Tensor& input() const { return inputs.front(); }
  const Tensor& output() const { return outputs.front(); }
  const ReduceStatement& reduction() const { return statements.front(); }

  /// Stable text that names everything that changes the answer or the legal kernels: op, shape, strides,
  /// offset, dtypes, axes, accumulator, determinism. "sum(f32[1024,1024];axes=1)->f32" with parts only when
  /// not default.
  std::string key() const;
  /// A short title for tables: brackets around reduced extents, as in "sum f32 1024,[1024]".
  std::string title() const;
  friend bool operator==(const Operator&, const Operator&) = default;
};

/// Reads the short form; the general form and MindSpore sub-graphs by their members (space/graph.h). Checks: known fields (nearest suggested), axes in range and unique after normalising
/// negatives (the message names axis and rank), sizes >= 0, empty reduced axis of max, min, argmax, argmin
/// (names the axis; an output without elements needs no answer and is fine), element counts, reachable
/// offsets and bytes that fit 63 bits, length of "data" (with strides or an offset it may be longer than what
/// they reach). `axes` missing: all; []: none; a scalar also takes [0] and [-1]. `out` and `accumulator` stay
/// in the kind of what the operator yields and computes in, except that integer sums, products, maxima and
/// minima may be stored as floats. `ddof` belongs to var and std. Throws UserError naming `origin` and field.
Operator parse_operator(const Json& json, const std::string& origin);
Operator read_operator_file(const std::string& path);

/// The same from the command line: --op --shape 4096x1024 --axes 1,2 --dtype f32 --out f32 --strides ... An
/// empty `axes` text means all axes, "none" means no axis.
struct ShortForm {
  std::string op = "sum", shape = {}, axes = {}, dtype = "f32", out = {}, strides = {};
  bool keepdims = false;
  std::optional<std::int64_t> ddof = {};  // every member has a value, so that a test may name only some
};
Operator operator_from_short_form(const ShortForm& form);

/// The short form again; parse_operator(to_json(x)) == x.
Json to_json(const Operator& op);

}  // namespace redtune
