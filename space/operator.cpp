#include "space/operator.h"

#include <algorithm>
#include <limits>

#include "space/graph_text.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

template <typename T>
std::string joined(const std::vector<T>& values) {
  std::vector<std::string> parts;
  for (const T& value : values) parts.push_back(std::to_string(value));
  return join(parts, ",");
}

}  // namespace

std::int64_t reduced_elements(const Tensor& input, const std::vector<int>& axes) {
  std::int64_t count = 1;
  for (int axis : axes) count *= input.shape[static_cast<std::size_t>(axis)];
  return count;
}

DType default_accumulator(const ReduceStatement& statement, const Tensor& input) {
  const DType narrow = accumulator_of(statement.op, input.dtype);
  // Positions have the width of the values beside them: where 32 bits cannot count the elements, both are
  // wide.
  const bool positions = info(statement.op).state == State::kArg;
  if (!positions || reduced_elements(input, statement.axes) <= std::numeric_limits<std::int32_t>::max())
    return narrow;
  return info(narrow).is_float ? DType::kF64 : DType::kI64;
}

std::string_view name(Determinism d) { return d == Determinism::kRunToRun ? "run_to_run" : "not_guaranteed"; }

Determinism parse_determinism(std::string_view word) {
  std::vector<std::string> known;
  for (Determinism d : {Determinism::kNotGuaranteed, Determinism::kRunToRun}) {
    if (name(d) == word) return d;
    known.emplace_back(name(d));
  }
  throw UserError(unknown_word_message("determinism", word, known));
}

std::vector<std::int64_t> row_major_strides(const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    // An empty axis keeps the strides of the others distinct: an outer stride of 0 would read as a broadcast.
    step *= std::max<std::int64_t>(1, shape[i]);
  }
  return strides;
}

std::int64_t Tensor::elements() const {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

std::int64_t Tensor::storage_elements() const {
  if (elements() == 0) return 0;
  std::int64_t last = offset;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    last += (shape[i] - 1) * std::max<std::int64_t>(0, strides[i]);
  }
  return last + 1;
}

bool Tensor::is_row_major() const {
  const std::vector<std::int64_t> dense = row_major_strides(shape);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] > 1 && strides[i] != dense[i]) return false;
  }
  return true;
}

std::string Operator::key() const {
  if (graph) return graph_key(*this);
  const Tensor& in = input();
  const ReduceStatement& statement = reduction();
  std::string text(redtune::name(statement.op));
  text += "(" + std::string(redtune::name(in.dtype)) + "[" + joined(in.shape) + "]";
  text += ";axes=" + (statement.axes.empty() ? "none" : joined(statement.axes));
  if (!in.is_row_major()) text += ";strides=" + joined(in.strides);
  if (in.offset != 0) text += ";offset=" + std::to_string(in.offset);
  if (statement.accumulator != default_accumulator(statement, in)) {
    text += ";accumulator=" + std::string(redtune::name(statement.accumulator));
  }
  if (statement.ddof != 0) text += ";ddof=" + std::to_string(statement.ddof);
  if (determinism != Determinism::kNotGuaranteed)
    text += ";determinism=" + std::string(redtune::name(determinism));
  return text + ")->" + std::string(redtune::name(output().dtype));
}

std::string Operator::title() const {
  if (graph) return graph_title(*this);
  const Tensor& in = input();
  const std::vector<int>& axes = reduction().axes;
  std::string sizes;
  bool inside = false;  // of brackets
  for (std::size_t i = 0; i < in.shape.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int>(i));
    if (inside && !reduced) sizes += "]";
    if (i > 0) sizes += ",";
    if (reduced && !inside) sizes += "[";
    inside = reduced;
    sizes += std::to_string(in.shape[i]);
  }
  if (inside) sizes += "]";
  if (sizes.empty()) sizes = "scalar";
  return std::string(redtune::name(reduction().op)) + " " + std::string(redtune::name(in.dtype)) + " " +
         sizes;
}

}  // namespace redtune
