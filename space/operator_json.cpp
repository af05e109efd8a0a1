// Operator files: the short form in and out, with every check that the rest of the program relies on.
#include <algorithm>
#include <limits>

#include "space/graph.h"
#include "space/operator.h"
#include "space/operator_reading.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

constexpr std::int64_t kMaxCount = std::numeric_limits<std::int64_t>::max();
__extension__ using Wide = __int128;

template <typename Parse>
auto parse_word(JsonObject& object, const std::string& key, Parse parse) {
  try {
    return parse(object.get_string(key));
  } catch (const UserError& error) {
    const std::string what = error.what();
    if (what.rfind("unknown", 0) != 0) throw;  // already names the field
    object.fail(key, "has an " + what);
  }
}

std::vector<std::int64_t> read_shape(JsonObject& object) {
  std::vector<std::int64_t> shape = object.get_ints("shape");
  std::int64_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      object.fail("shape[" + std::to_string(i) + "]", "must be 0 or more, is " + std::to_string(shape[i]));
    }
    // Empty axes count as 1 here: strides are products of the others and must fit too.
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(1, shape[i]), &count)) {
      object.fail("shape", "has more than 2^63 - 1 elements; make it smaller");
    }
  }
  return shape;
}

std::vector<int> read_axes(JsonObject& object, std::int64_t rank) {
  std::vector<int> axes;
  if (!object.has("axes")) {
    for (int i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  // A scalar answers to axis 0, as a vector of one element would.
  const std::int64_t positions = std::max<std::int64_t>(1, rank);
  const std::string for_rank = " for rank " + std::to_string(rank);
  for (std::int64_t axis : object.get_ints("axes")) {
    const std::int64_t normal = axis < 0 ? axis + positions : axis;
    if (normal < 0 || normal >= positions) {
      object.fail("axes", "names axis " + std::to_string(axis) + ", out of range" + for_rank + "; allowed: " +
                              std::to_string(-positions) + " to " + std::to_string(positions - 1));
    }
    if (std::find(axes.begin(), axes.end(), static_cast<int>(normal)) != axes.end()) {
      object.fail("axes", "names axis " + std::to_string(normal) + " twice" +
                              (axis < 0 ? " (once as " + std::to_string(axis) + ")" : "") + for_rank +
                              "; name each axis once");
    }
    axes.push_back(static_cast<int>(normal));
  }
  if (rank == 0) axes.clear();
  std::sort(axes.begin(), axes.end());
  return axes;
}

void check_reach(const JsonObject& object, const Tensor& tensor) {
  if (tensor.offset < 0) object.fail("offset", "must be 0 or more, is " + std::to_string(tensor.offset));
  if (tensor.elements() == 0) return;
  Wide low = tensor.offset, high = tensor.offset;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    const Wide reach = Wide{tensor.shape[i] - 1} * tensor.strides[i];
    (reach < 0 ? low : high) += reach;
    if ((high + 1) * bytes_of(tensor.dtype) > kMaxCount || low < -Wide{kMaxCount}) {
      object.fail("strides", "reach past 2^63 - 1 bytes at axis " + std::to_string(i));
    }
  }
  if (low < 0) {
    object.fail("strides", "reach " + std::to_string(static_cast<std::int64_t>(-low)) +
                               " elements before the storage; set offset to at least " +
                               std::to_string(static_cast<std::int64_t>(tensor.offset - low)));
  }
}

}  // namespace

Tensor read_input(JsonObject& object, const std::string& name) {
  Tensor input;
  input.name = name;
  input.shape = read_shape(object);
  if (object.has("dtype")) input.dtype = parse_word(object, "dtype", parse_dtype);
  input.strides = object.has("strides") ? object.get_ints("strides") : row_major_strides(input.shape);
  if (input.strides.size() != input.shape.size()) {
    object.fail("strides", "must have one stride per axis: " + std::to_string(input.shape.size()) +
                               " of them, has " + std::to_string(input.strides.size()));
  }
  input.offset = object.get_int("offset", 0);
  check_reach(object, input);
  return input;
}

namespace {

Tensor make_output(const JsonObject& object, const Tensor& input, const std::vector<int>& axes, bool keepdims,
                   DType dtype) {
  Tensor output;
  output.name = "out";
  output.dtype = dtype;
  for (std::size_t i = 0; i < input.shape.size(); ++i) {
    const bool reduced = std::binary_search(axes.begin(), axes.end(), static_cast<int>(i));
    if (!reduced)
      output.shape.push_back(input.shape[i]);
    else if (keepdims)
      output.shape.push_back(1);
  }
  output.strides = row_major_strides(output.shape);
  if (Wide{output.elements()} * bytes_of(dtype) > kMaxCount) {
    object.fail("shape", "makes an output of 2^63 bytes or more");
  }
  return output;
}

// Results and accumulators stay within the kind of the operator's arithmetic: an integer result of a float
// sum would need a rounding rule that nobody asked for.
DType read_result(JsonObject& object, const ReduceStatement& statement, const Tensor& input) {
  const DType fallback = default_result(statement.op, input.dtype);
  if (!object.has("out")) return fallback;
  const DType out = parse_word(object, "out", parse_dtype);
  const std::string what = std::string(name(statement.op)) + " of " + std::string(name(input.dtype));
  const std::string given = ", is " + std::string(name(out));
  const bool to_float = info(out).is_float;
  switch (info(statement.op).result) {
    case ResultType::kTruth:
      if (to_float) object.fail("out", "must be bool or an integer type for " + what + given);
      return out;
    case ResultType::kPosition: {
      constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
      if (out != DType::kI32 && out != DType::kI64)
        object.fail("out", "must be i32 or i64 for " + what + given);
      if (out == DType::kI32 && reduced_elements(input, statement.axes) > kMost) {
        object.fail("out", "must be i64: i32 cannot number the " +
                               std::to_string(reduced_elements(input, statement.axes)) + " reduced elements");
      }
      return out;
    }
    default:
      break;
  }
  if (info(fallback).is_float && !to_float) object.fail("out", "must be a float type for " + what + given);
  if (out == DType::kBool && fallback != DType::kBool) object.fail("out", "cannot be bool for " + what);
  return out;
}

DType read_accumulator(JsonObject& object, const ReduceStatement& statement, const Tensor& input) {
  const DType fallback = default_accumulator(statement, input);
  if (!object.has("accumulator")) return fallback;
  const DType wanted = parse_word(object, "accumulator", parse_dtype);
  if (wanted == fallback) return wanted;
  const bool is_float = info(fallback).is_float;
  const bool allowed = is_float ? wanted == DType::kF32 || wanted == DType::kF64
                                : wanted == DType::kI32 || wanted == DType::kI64;
  // What holds every element. Positions are as wide as the values, and the truth has one type.
  const DType least = info(input.dtype).is_float == is_float && info(statement.op).state != State::kArg
                          ? input.dtype
                          : fallback;
  const bool one_type = info(statement.op).arithmetic == Arithmetic::kTruth;
  if (one_type || !allowed || bytes_of(wanted) < bytes_of(least)) {
    object.fail("accumulator",
                one_type ? "must be " + std::string(name(fallback)) + ", is " + std::string(name(wanted))
                         : "must be " + std::string(is_float ? "f32 or f64" : "i32 or i64") +
                               " and at least as wide as " + std::string(name(least)) + ", is " +
                               std::string(name(wanted)));
  }
  return wanted;
}

int read_ddof(JsonObject& object, ReduceOp op) {
  if (!object.has("ddof")) return 0;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t ddof = object.get_int("ddof", 0);
  if (!has_ddof(op)) object.fail("ddof", "belongs to var and std, op is " + std::string(name(op)));
  if (ddof < 0 || ddof > kMost) {
    object.fail("ddof", "must be 0 to " + std::to_string(kMost) + ", is " + std::to_string(ddof));
  }
  return static_cast<int>(ddof);
}

void check_empty(const JsonObject& object, ReduceOp op, const Tensor& input, const Tensor& output,
                 const std::vector<int>& axes) {
  if (info(op).nothing != OfNothing::kError || output.elements() == 0) return;
  for (int axis : axes) {
    if (input.shape[static_cast<std::size_t>(axis)] != 0) continue;
    object.fail("shape", "has no elements along axis " + std::to_string(axis) + ", and " +
                             std::string(name(op)) +
                             " of nothing has no answer; reduce a non-empty axis or use sum or prod");
  }
}

std::int64_t integer_of(const JsonObject& object, const Json& value, DType dtype, const std::string& where) {
  if (dtype == DType::kBool && value.is_boolean()) return value.get<bool>() ? 1 : 0;
  const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{kMaxCount};
  if (!value.is_number_integer() || too_large) {
    object.fail(where, "must be an integer of 64 bits for dtype " + std::string(name(dtype)) + ", is " +
                           value.dump());
  }
  const std::int64_t number = value.get<std::int64_t>();
  const bool is_signed = dtype != DType::kBool && dtype != DType::kU8;
  const int bits = dtype == DType::kBool ? 1 : 8 * bytes_of(dtype);
  const std::int64_t high = is_signed ? kMaxCount >> (64 - bits) : (std::int64_t{1} << bits) - 1;
  const std::int64_t low = is_signed ? -high - 1 : 0;
  if (number < low || number > high) {
    object.fail(where, "is " + std::to_string(number) + ", dtype " + std::string(name(dtype)) + " holds " +
                           std::to_string(low) + " to " + std::to_string(high));
  }
  return number;
}

}  // namespace

InlineData read_data(JsonObject& object, const Tensor& input) {
  const bool strided = object.has("strides") || object.has("offset");
  const Json& values = object.get("data");
  if (!values.is_array()) object.fail("data", "must be a flat array of the storage's values");
  const auto count = static_cast<std::int64_t>(values.size());
  const std::int64_t needed = input.storage_elements();
  // A view may be cut out of a larger storage; a dense tensor that does not match its shape is a slip.
  if (count < needed || (!strided && count > needed)) {
    object.fail("data", "must hold " + std::to_string(needed) +
                            " values (what shape, strides and offset reach), holds " + std::to_string(count));
  }
  InlineData data;
  for (const Json& value : values) {
    const std::string where = "data[" + std::to_string(data.numbers.size() + data.integers.size()) + "]";
    if (!info(input.dtype).is_float) {
      data.integers.push_back(integer_of(object, value, input.dtype, where));
      continue;
    }
    const std::optional<double> number = number_of_json(value);
    if (!number) object.fail(where, R"(must be a number or "nan", "inf", "-inf", is )" + value.dump());
    data.numbers.push_back(*number);
  }
  return data;
}

Json data_json(const InlineData& data) {
  Json values = Json::array();
  for (double number : data.numbers) values.push_back(json_number(number));
  for (std::int64_t number : data.integers) values.push_back(number);
  return values;
}

Operator parse_operator(const Json& json, const std::string& origin) {
  if (is_mindspore(json)) return parse_mindspore(json, origin);
  if (json.is_object() && (json.contains("compute") || json.contains("inputs"))) return parse_graph_operator(json, origin);
  JsonObject object(json, origin);
  Operator op;
  op.name = object.get_string("name", "");
  ReduceStatement statement;
  statement.op = parse_word(object, "op", parse_reduce_op);
  const Tensor input = read_input(object, "in");
  statement.axes = read_axes(object, static_cast<std::int64_t>(input.shape.size()));
  statement.accumulator = read_accumulator(object, statement, input);
  statement.ddof = read_ddof(object, statement.op);
  op.keepdims = object.get_bool("keepdims", false);
  if (object.has("determinism")) op.determinism = parse_word(object, "determinism", parse_determinism);
  const DType result = read_result(object, statement, input);
  const Tensor output = make_output(object, input, statement.axes, op.keepdims, result);
  check_empty(object, statement.op, input, output, statement.axes);
  if (object.has("data")) op.data = read_data(object, input);
  object.finish();
  statement.input = input.name;
  statement.output = output.name;
  op.inputs = {input};
  op.outputs = {output};
  op.statements = {statement};
  return op;
}

Operator read_operator_file(const std::string& path) { return parse_operator(read_json_file(path), path); }

Json to_json(const Operator& op) {
  if (op.graph) return graph_to_json(op);
  const Tensor& in = op.input();
  const ReduceStatement& statement = op.reduction();
  Json json = Json::object();
  if (!op.name.empty()) json["name"] = op.name;
  json["op"] = name(statement.op);
  json["shape"] = in.shape;
  json["axes"] = statement.axes;
  json["dtype"] = name(in.dtype);
  json["out"] = name(op.output().dtype);
  const DType accumulator = statement.accumulator;
  if (accumulator != default_accumulator(statement, in)) json["accumulator"] = name(accumulator);
  if (statement.ddof != 0) json["ddof"] = statement.ddof;
  if (in.strides != row_major_strides(in.shape)) json["strides"] = in.strides;
  if (in.offset != 0) json["offset"] = in.offset;
  if (op.keepdims) json["keepdims"] = true;
  if (op.determinism != Determinism::kNotGuaranteed) json["determinism"] = name(op.determinism);
  if (op.data) {
    Json values = data_json(*op.data);
    // A dense view of a longer storage says where it starts, so that its length is not taken for a slip.
    const auto count = static_cast<std::int64_t>(values.size());
    if (count > in.storage_elements()) json["strides"] = in.strides;
    json["data"] = std::move(values);
  }
  return json;
}

}  // namespace redtune
