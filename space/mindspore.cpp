// MindSpore composite sub-graphs: every operation becomes one compute string of the general form.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "space/graph.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

struct TypeName {
  std::string_view mindspore;
  DType dtype;
};
constexpr std::array<TypeName, 10> kTypeNames{{{"float32", DType::kF32},
                                               {"float16", DType::kF16},
                                               {"bfloat16", DType::kBF16},
                                               {"float64", DType::kF64},
                                               {"int32", DType::kI32},
                                               {"int64", DType::kI64},
                                               {"int8", DType::kI8},
                                               {"uint8", DType::kU8},
                                               {"bool", DType::kBool},
                                               {"float", DType::kF32}}};

/// `form`: the compute string, with $0, $1, $2 for the operands.
struct Elementwise {
  std::string_view name, form;
};
constexpr std::array<Elementwise, 30> kElementwise{{{"Add", "$0 + $1"},
                                                    {"TensorAdd", "$0 + $1"},
                                                    {"Sub", "$0 - $1"},
                                                    {"Mul", "$0 * $1"},
                                                    {"RealDiv", "$0 / $1"},
                                                    {"Div", "$0 / $1"},
                                                    {"Neg", "-$0"},
                                                    {"Abs", "abs($0)"},
                                                    {"Exp", "exp($0)"},
                                                    {"Log", "log($0)"},
                                                    {"Sqrt", "sqrt($0)"},
                                                    {"Rsqrt", "rsqrt($0)"},
                                                    {"Reciprocal", "1 / $0"},
                                                    {"Tanh", "tanh($0)"},
                                                    {"Erf", "erf($0)"},
                                                    {"Sigmoid", "sigmoid($0)"},
                                                    {"Square", "$0 * $0"},
                                                    {"Pow", "pow($0, $1)"},
                                                    {"Maximum", "max($0, $1)"},
                                                    {"Minimum", "min($0, $1)"},
                                                    {"Select", "select($0, $1, $2)"},
                                                    {"Greater", "$0 > $1"},
                                                    {"GreaterEqual", "$0 >= $1"},
                                                    {"Less", "$0 < $1"},
                                                    {"LessEqual", "$0 <= $1"},
                                                    {"Equal", "$0 == $1"},
                                                    {"NotEqual", "$0 != $1"},
                                                    {"LogicalAnd", "$0 && $1"},
                                                    {"LogicalOr", "$0 || $1"},
                                                    {"LogicalNot", "!$0"}}};

struct Reduction {
  std::string_view name, op;
};
constexpr std::array<Reduction, 8> kReductions{{{"ReduceSum", "sum"},
                                                {"ReduceMax", "max"},
                                                {"ReduceMin", "min"},
                                                {"ReduceProd", "prod"},
                                                {"ReduceAll", "all"},
                                                {"ReduceAny", "any"},
                                                {"ReduceMean", "mean"},
                                                {"ReduceAnd", "all"}}};

std::string sizes_text(const std::vector<std::int64_t>& shape) {
  std::vector<std::string> words;
  for (const std::int64_t extent : shape) words.push_back(std::to_string(extent));
  return "[" + join(words, ",") + "]";
}

struct Operand {
  std::string name;
  std::vector<std::int64_t> shape;
  DType dtype = DType::kF32;
  const Json* value = nullptr;  // a constant
};

class Importer {
 public:
  Importer(const Json& json, const std::string& origin) : json_(json), origin_(origin) {}

  Operator run() {
    for (const Operand& input : tensors_of(member(json_, "input_desc"), "input_desc"))
      inputs_[input.name] = input;
    const Json& operations = member(json_, "op_desc");
    if (!operations.is_array()) fail("'op_desc' must be an array");
    for (std::size_t i = 0; i < operations.size(); ++i) {
      place_ = "op_desc[" + std::to_string(i) + "]";
      const Json& name = member(operations[i], "name");
      if (!name.is_string()) fail(place_ + ".name must be a string");
      place_ += " (" + name.get<std::string>() + ")";
      operation(operations[i], name.get<std::string>());
    }
    place_.clear();
    find_outputs();
    if (graph_.outputs.empty()) fail("computes no output");
    if (graph_.inputs.empty()) fail("reads no input");
    Operator op = operator_of(std::move(graph_));
    if (json_.contains("op") && json_.at("op").is_string()) op.name = json_.at("op").get<std::string>();
    return op;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(origin_ + ": " + (place_.empty() ? "" : place_ + ": ") + what);
  }

  const Json& member(const Json& object, const std::string& key) const {
    if (!object.is_object() || !object.contains(key)) fail("member '" + key + "' is missing");
    return object.at(key);
  }

  Operand tensor_of(const Json& json, const std::string& where) const {
    Operand operand;
    const Json &name = member(json, "tensor_name"), &type = member(json, "data_type"),
               &shape = member(json, "shape");
    if (!name.is_string() || !type.is_string() || !shape.is_array())
      fail(where + ": tensor_name, data_type and shape must be text, text and an array");
    operand.name = name.get<std::string>();
    for (const Json& extent : shape) {
      if (!extent.is_number_integer())
        fail(where + ": tensor " + operand.name +
             " has a shape that is not made of integers: " + shape.dump());
      operand.shape.push_back(extent.get<std::int64_t>());
      if (operand.shape.back() < 0) {
        fail(where + ": axis " + std::to_string(operand.shape.size() - 1) + " of tensor " + operand.name +
             " is dynamic (shape " + shape.dump() +
             "); redtune tunes fixed sizes: export the graph with this axis fixed");
      }
    }
    const auto known = std::find_if(kTypeNames.begin(), kTypeNames.end(), [&](const TypeName& row) {
      return row.mindspore == type.get<std::string>();
    });
    if (known == kTypeNames.end()) {
      std::vector<std::string> words;
      for (const TypeName& row : kTypeNames) words.emplace_back(row.mindspore);
      fail(where + ": tensor " + operand.name + ": " +
           unknown_word_message("data_type", type.get<std::string>(), words));
    }
    operand.dtype = known->dtype;
    if (json.contains("value")) operand.value = &json.at("value");
    return operand;
  }

  /// Tensors of a list of lists, or of a list.
  std::vector<Operand> tensors_of(const Json& list, const std::string& where) const {
    std::vector<Operand> operands;
    if (list.is_null()) return operands;
    if (!list.is_array()) fail("'" + where + "' must be an array");
    for (const Json& item : list) {
      if (item.is_array()) {
        for (const Json& tensor : item) operands.push_back(tensor_of(tensor, where));
      } else {
        operands.push_back(tensor_of(item, where));
      }
    }
    return operands;
  }

  const Json* attribute(const Json& operation, const std::string& name) const {
    if (!operation.contains("attr") || !operation.at("attr").is_array()) return nullptr;
    for (const Json& attribute : operation.at("attr")) {
      if (attribute.value("name", "") == name && attribute.contains("value")) return &attribute.at("value");
    }
    return nullptr;
  }

  std::vector<std::int64_t> integers(const Json& value, const std::string& what) const {
    std::vector<std::int64_t> list;
    if (value.is_number_integer()) return {value.get<std::int64_t>()};
    if (!value.is_array()) fail(what + " must be an integer or a list of them, is " + value.dump());
    for (const Json& item : value) {
      if (!item.is_number_integer()) fail(what + " must hold integers, is " + value.dump());
      list.push_back(item.get<std::int64_t>());
    }
    return list;
  }

  /// The tensor that a name stands for, after assignments; inputs enter the graph where they are read.
  Tensor resolve(const Operand& operand) {
    std::string name = operand.name;
    while (aliases_.contains(name)) name = aliases_.at(name);
    if (const Tensor* known = graph_.find(name)) return *known;
    const auto input = inputs_.find(name);
    const Operand& from = input == inputs_.end() ? operand : input->second;
    if (input == inputs_.end()) fail("tensor " + name + " is neither an input nor computed before");
    Tensor tensor;
    tensor.name = name;
    tensor.shape = from.shape;
    tensor.strides = row_major_strides(from.shape);
    tensor.dtype = from.dtype;
    graph_.inputs.push_back(tensor);
    return tensor;
  }

  std::string constant(const Operand& operand) const {
    const Json& value = *operand.value;
    const std::string type(redtune::name(operand.dtype));
    const Json& number = value.is_array() && value.size() == 1 ? value.front() : value;
    if (number.is_boolean()) return type + "(" + (number.get<bool>() ? "1" : "0") + ")";
    if (number.is_number_integer()) return type + "(" + number.dump() + ")";
    if (!number.is_number())
      fail("tensor " + operand.name + ": the constant " + value.dump() + " is no number");
    std::array<char, 40> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number.get<double>()).ptr;
    std::string text(buffer.data(), end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return type + "(" + text + ")";
  }

  static std::string iterator(std::size_t axis) { return "i" + std::to_string(axis); }

  /// `operand` read at the iterators of a result of `shape`, broadcast as NumPy does.
  std::string read(const Operand& operand, const std::vector<std::int64_t>& shape) {
    if (operand.value != nullptr) return constant(operand);
    const Tensor tensor = resolve(operand);
    std::vector<std::string> indices;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      const std::size_t behind = tensor.shape.size() - i;  // axes from the right
      const std::int64_t extent = tensor.shape[i];
      if (extent == 1) {
        indices.emplace_back("0");
      } else if (behind <= shape.size() && shape[shape.size() - behind] == extent) {
        indices.push_back(iterator(shape.size() - behind));
      } else {
        fail("tensor " + tensor.name + " of shape " + sizes_text(tensor.shape) + " does not broadcast to " +
             sizes_text(shape));
      }
    }
    return access(tensor.name, indices);
  }

  static std::string access(const std::string& name, const std::vector<std::string>& indices) {
    return indices.empty() ? name : name + "[" + join(indices, ",") + "]";
  }

  std::string left(const Operand& result) const {
    std::vector<std::string> indices;
    for (std::size_t i = 0; i < result.shape.size(); ++i)
      indices.push_back(result.shape[i] == 1 ? "0" : iterator(i));
    return access(result.name, indices) + " = ";
  }

  void statement(const Operand& result, const std::string& text) {
    parse_statement(graph_, text, origin_ + ": " + place_, result.shape);
    const Tensor& made = graph_.statements.back().result;
    if (made.dtype != result.dtype) {
      fail("computes " + std::string(redtune::name(made.dtype)) + ", the file says " +
           std::string(redtune::name(result.dtype)));
    }
  }

  void operation(const Json& json, const std::string& name) {
    const std::vector<Operand> operands = tensors_of(member(json, "input_desc"), "input_desc");
    const std::vector<Operand> results = tensors_of(member(json, "output_desc"), "output_desc");
    if (results.size() != 1) fail("has " + std::to_string(results.size()) + " results; one is understood");
    const Operand& result = results.front();
    if (name == "InplaceAssign") return assign(json, operands, result);
    if (name == "Reshape") return reshape(operands, result);
    if (name == "Transpose") return transpose(json, operands, result);
    if (name == "BroadcastTo" || name == "AddN" || name == "Cast") return variadic(name, operands, result);
    for (const Reduction& row : kReductions) {
      if (row.name == name) return reduce(json, std::string(row.op), operands, result);
    }
    for (const Elementwise& row : kElementwise) {
      if (row.name == name) return elementwise(row, operands, result);
    }
    std::vector<std::string> known{"InplaceAssign", "Reshape", "Transpose", "BroadcastTo", "AddN", "Cast"};
    for (const Reduction& row : kReductions) known.emplace_back(row.name);
    for (const Elementwise& row : kElementwise) known.emplace_back(row.name);
    fail(unknown_word_message("operation", name, known));
  }

  void elementwise(const Elementwise& row, const std::vector<Operand>& operands, const Operand& result) {
    std::string text;
    std::size_t most = 0;
    for (std::size_t i = 0; i < row.form.size(); ++i) {
      if (row.form[i] != '$') {
        text += row.form[i];
        continue;
      }
      const auto place = static_cast<std::size_t>(row.form[++i] - '0');
      most = std::max(most, place + 1);
      if (place >= operands.size())
        fail("has " + std::to_string(operands.size()) + " operands, needs " + std::to_string(place + 1));
      text += read(operands[place], result.shape);
    }
    if (most != operands.size())
      fail("has " + std::to_string(operands.size()) + " operands, " + std::to_string(most) +
           " are understood");
    statement(result, left(result) + text);
  }

  void variadic(const std::string& name, const std::vector<Operand>& operands, const Operand& result) {
    if (operands.empty()) fail("has no operand");
    std::vector<std::string> terms;
    for (const Operand& operand : operands) terms.push_back(read(operand, result.shape));
    if (name == "AddN") return statement(result, left(result) + join(terms, " + "));
    const std::string cast(redtune::name(result.dtype));
    statement(result, left(result) + (name == "Cast" ? cast + "(" + terms[0] + ")" : terms[0]));
  }

  const Operand& only(const std::vector<Operand>& operands) const {
    if (operands.empty() || operands.front().value != nullptr) fail("needs a tensor");
    return operands.front();
  }

  void reshape(const std::vector<Operand>& operands, const Operand& result) {
    const Tensor from = resolve(only(operands));
    Index flat;
    std::int64_t step = 1;
    for (std::size_t i = result.shape.size(); i-- > 0;) {
      flat = flat + Index::iterator(static_cast<int>(i), result.shape[i]) * step;
      step *= result.shape[i];
    }
    if (step != from.elements())
      fail("reshapes " + sizes_text(from.shape) + " to " + sizes_text(result.shape) +
           ", of another number of elements");
    std::vector<std::string> indices;
    for (std::size_t i = 0; i < from.shape.size(); ++i) {
      const Index index = flat.div(from.strides[i]).mod(std::max<std::int64_t>(1, from.shape[i]));
      indices.push_back(index.text([](int axis) { return iterator(static_cast<std::size_t>(axis)); }));
    }
    statement(result, left(result) + access(from.name, indices));
  }

  void transpose(const Json& json, const std::vector<Operand>& operands, const Operand& result) {
    const Tensor from = resolve(only(operands));
    const Json* perm = attribute(json, "perm");
    const std::vector<std::int64_t> order =
        perm == nullptr
            ? integers(operands.size() > 1 && operands[1].value ? *operands[1].value : Json(), "perm")
            : integers(*perm, "perm");
    std::vector<std::string> indices(from.shape.size());
    if (order.size() != from.shape.size())
      fail("perm has " + std::to_string(order.size()) + " entries, the tensor " +
           std::to_string(from.shape.size()) + " axes");
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::int64_t axis = order[i] < 0 ? order[i] + static_cast<std::int64_t>(order.size()) : order[i];
      if (axis < 0 || axis >= static_cast<std::int64_t>(order.size()))
        fail("perm names axis " + std::to_string(order[i]));
      indices[static_cast<std::size_t>(axis)] = result.shape[i] == 1 ? "0" : iterator(i);
    }
    statement(result, left(result) + access(from.name, indices));
  }

  void reduce(const Json& json, const std::string& op, const std::vector<Operand>& operands,
              const Operand& result) {
    const Tensor from = resolve(only(operands));
    const auto rank = static_cast<std::int64_t>(from.shape.size());
    std::vector<std::int64_t> axes;
    const Json* attribute_axes = attribute(json, "axis");
    if (attribute_axes != nullptr)
      axes = integers(*attribute_axes, "axis");
    else if (operands.size() > 1 && operands[1].value != nullptr)
      axes = integers(*operands[1].value, "axis");
    std::vector<bool> reduced(from.shape.size(), axes.empty());
    for (const std::int64_t axis : axes) {
      const std::int64_t normal = axis < 0 ? axis + rank : axis;
      if (normal < 0 || normal >= rank)
        fail("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
      reduced[static_cast<std::size_t>(normal)] = true;
    }
    std::vector<std::string> to, at, over;
    std::vector<std::int64_t> kept_shape, kept_dims_shape;
    for (std::size_t i = 0; i < from.shape.size(); ++i) {
      kept_dims_shape.push_back(reduced[i] ? 1 : from.shape[i]);
      if (!reduced[i]) kept_shape.push_back(from.shape[i]);
      at.push_back(from.shape[i] == 1 ? "0" : iterator(i));
      if (reduced[i] && from.shape[i] != 1) over.push_back(iterator(i));
    }
    // The result may hold unit axes for reduced ones, or one for all of them.
    const bool keeps = result.shape == kept_dims_shape;
    const bool ones = kept_shape.empty() && std::all_of(result.shape.begin(), result.shape.end(),
                                                        [](std::int64_t e) { return e == 1; });
    if (!keeps && !ones && result.shape != kept_shape)
      fail("the result has shape " + sizes_text(result.shape) + ", should have " + sizes_text(kept_shape));
    if (ones) to.assign(result.shape.size(), "0");
    for (std::size_t i = 0; i < from.shape.size() && !ones; ++i) {
      if (reduced[i] && keeps) to.emplace_back("0");
      if (!reduced[i]) to.push_back(from.shape[i] == 1 ? "0" : iterator(i));
    }
    std::string value = access(from.name, at);
    if (!over.empty()) value = op + "(" + join(over, ",") + ") " + value;
    const bool narrow = !info(result.dtype).is_float && !over.empty() && result.dtype != DType::kI64 &&
                        result.dtype != DType::kBool;
    statement(result, access(result.name, to) + " = " +
                          (narrow ? std::string(redtune::name(result.dtype)) + "(" + value + ")" : value));
  }

  /// destination, value, passed through: the value is an output of the graph, the result another name.
  void assign(const Json& json, const std::vector<Operand>& operands, const Operand& result) {
    if (operands.size() != 3) fail("has " + std::to_string(operands.size()) + " operands, needs 3");
    const Json* fake = attribute(json, "fake_output");
    const bool stands_for_buffer = fake != nullptr && fake->is_boolean() && fake->get<bool>();
    aliases_[result.name] = stands_for_buffer ? operands[1].name : operands[2].name;
    assigned_.push_back(operands[1].name);
  }

  void find_outputs() {
    std::vector<std::string> wanted = assigned_;
    for (const Operand& output : tensors_of(member(json_, "output_desc"), "output_desc"))
      wanted.push_back(output.name);
    for (std::string name : wanted) {
      while (aliases_.contains(name)) name = aliases_.at(name);
      if (graph_.statement_of(name) == nullptr) {
        if (inputs_.contains(name)) continue;  // an input handed through: nothing to compute
        fail("output " + name + " is never computed");
      }
      if (!graph_.is_output(name)) graph_.outputs.push_back(name);
    }
  }

  const Json& json_;
  const std::string& origin_;
  std::string place_;
  std::map<std::string, Operand> inputs_;
  std::map<std::string, std::string> aliases_;
  std::vector<std::string> assigned_;
  Graph graph_;
};

}  // namespace

bool is_mindspore(const Json& json) { return json.is_object() && json.contains("op_desc"); }

Operator parse_mindspore(const Json& json, const std::string& origin) { return Importer(json, origin).run(); }

}  // namespace redtune
