// The general form in and out, its key and title.
#include <algorithm>
#include <map>

#include "space/graph.h"
#include "space/graph_text.h"
#include "space/operator_reading.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/text.h"

namespace redtune {
namespace {

std::string tensor_text(const Tensor& tensor) {
  std::vector<std::string> sizes;
  for (const std::int64_t extent : tensor.shape) sizes.push_back(std::to_string(extent));
  return std::string(name(tensor.dtype)) + "[" + join(sizes, ",") + "]";
}

std::vector<std::string> strings_of(JsonObject& object, const std::string& key) {
  const Json& list = object.get(key);
  if (!list.is_array()) object.fail(key, "must be an array of strings");
  std::vector<std::string> strings;
  for (const Json& item : list) {
    if (!item.is_string())
      object.fail(key + "[" + std::to_string(strings.size()) + "]", "must be a string, is " + item.dump());
    strings.push_back(item.get<std::string>());
  }
  return strings;
}

std::map<std::string, std::vector<std::int64_t>> read_shapes(JsonObject& object) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  if (!object.has("shapes")) return shapes;
  const Json& list = object.get("shapes");
  if (!list.is_object()) object.fail("shapes", "must be an object of arrays");
  JsonObject members = object.get_object("shapes");
  for (const auto& [tensor, shape] : list.items()) {
    shapes[tensor] = members.get_ints(tensor);
    for (const std::int64_t extent : shapes[tensor]) {
      if (extent < 0) members.fail(tensor, "must hold sizes of 0 or more");
    }
  }
  return shapes;
}

void check_name(const JsonObject& object, const std::string& tensor) {
  const auto plain = [](char c) {
    return (std::isalnum(static_cast<unsigned char>(c)) != 0) || c == '_' || c == '.';
  };
  if (tensor.empty() || std::isdigit(static_cast<unsigned char>(tensor.front())) != 0 ||
      !std::all_of(tensor.begin(), tensor.end(), plain)) {
    object.fail("inputs",
                "has a tensor '" + tensor + "'; names are letters, digits, '_' and '.', a letter first");
  }
}

void check_outputs(const JsonObject& object, const Graph& graph) {
  std::vector<std::string> known;
  for (const GraphStatement& statement : graph.statements) known.push_back(statement.result.name);
  if (graph.outputs.empty()) object.fail("outputs", "names no tensor; known: " + join(known, ", "));
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const std::string field = "outputs[" + std::to_string(i) + "]";
    if (graph.statement_of(graph.outputs[i]) == nullptr)
      object.fail(field, unknown_word_message("result", graph.outputs[i], known));
    if (std::count(graph.outputs.begin(), graph.outputs.end(), graph.outputs[i]) > 1)
      object.fail(field, "is named twice");
  }
}

}  // namespace

std::int64_t GraphStatement::instances() const {
  std::int64_t count = 1;
  for (const Iterator& iterator : iterators) count *= iterator.extent;
  return count;
}

const GraphStatement* Graph::statement_of(const std::string& tensor) const {
  for (const GraphStatement& statement : statements) {
    if (statement.result.name == tensor) return &statement;
  }
  return nullptr;
}

const Tensor* Graph::find(const std::string& tensor) const {
  for (const Tensor& input : inputs) {
    if (input.name == tensor) return &input;
  }
  const GraphStatement* statement = statement_of(tensor);
  return statement == nullptr ? nullptr : &statement->result;
}

bool Graph::is_output(const std::string& tensor) const {
  return std::find(outputs.begin(), outputs.end(), tensor) != outputs.end();
}

bool operator==(const GraphHandle& a, const GraphHandle& b) {
  if (!a || !b) return !a && !b;
  const auto same = [](const GraphStatement& x, const GraphStatement& y) {
    return x.text == y.text && x.result == y.result;
  };
  return a->inputs == b->inputs && a->outputs == b->outputs &&
         std::equal(a->statements.begin(), a->statements.end(), b->statements.begin(), b->statements.end(),
                    same);
}

Operator operator_of(Graph graph) {
  Operator op;
  op.inputs = graph.inputs;
  ReduceStatement family;
  family.op = ReduceOp::kMax;
  bool reduces = false;
  for (const GraphStatement& statement : graph.statements) {
    if (!statement.reduce || reduces) continue;
    family.op = *statement.reduce;
    family.accumulator = statement.accumulator;
    reduces = true;
  }
  for (const std::string& output : graph.outputs) op.outputs.push_back(graph.statement_of(output)->result);
  op.statements = {family};
  op.graph = std::make_shared<const Graph>(std::move(graph));
  return op;
}

Operator parse_graph_operator(const Json& json, const std::string& origin) {
  JsonObject object(json, origin);
  Graph graph;
  std::vector<std::optional<InlineData>> values;
  if (!object.get("inputs").is_object()) object.fail("inputs", "must be an object of tensors");
  JsonObject inputs = object.get_object("inputs");
  for (const auto& [tensor, unused] : json.at("inputs").items()) {
    check_name(object, tensor);
    JsonObject fields = inputs.get_object(tensor);
    graph.inputs.push_back(read_input(fields, tensor));
    values.emplace_back();
    if (fields.has("data")) values.back() = read_data(fields, graph.inputs.back());
    fields.finish();
  }
  if (graph.inputs.empty()) object.fail("inputs", "names no tensor");
  const auto shapes = read_shapes(object);
  const std::vector<std::string> compute = strings_of(object, "compute");
  for (std::size_t i = 0; i < compute.size(); ++i) {
    const std::string result = trim(compute[i].substr(0, compute[i].find_first_of("[=")));
    const auto shape = shapes.find(result);
    parse_statement(graph, compute[i], origin + ": field 'compute[" + std::to_string(i) + "]'",
                    shape == shapes.end() ? std::nullopt : std::optional(shape->second));
  }
  for (const auto& [tensor, shape] : shapes) {
    if (graph.statement_of(tensor) == nullptr) object.fail("shapes." + tensor, "is the shape of no result");
  }
  graph.outputs = strings_of(object, "outputs");
  check_outputs(object, graph);
  const std::string title = object.get_string("name", "");
  const std::string determinism = object.get_string("determinism", "");
  object.finish();
  Operator op = operator_of(std::move(graph));
  op.name = title;
  op.values = std::move(values);
  if (!determinism.empty()) op.determinism = parse_determinism(determinism);
  return op;
}

Json graph_to_json(const Operator& op) {
  const Graph& graph = *op.graph;
  Json json = Json::object();
  if (!op.name.empty()) json["name"] = op.name;
  json["inputs"] = Json::object();
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const Tensor& tensor = graph.inputs[i];
    Json& fields = json["inputs"][tensor.name];
    fields["shape"] = tensor.shape;
    fields["dtype"] = name(tensor.dtype);
    const bool has_data = i < op.values.size() && op.values[i].has_value();
    Json data = has_data ? data_json(*op.values[i]) : Json();
    const bool longer = has_data && static_cast<std::int64_t>(data.size()) > tensor.storage_elements();
    if (longer || tensor.strides != row_major_strides(tensor.shape)) fields["strides"] = tensor.strides;
    if (tensor.offset != 0) fields["offset"] = tensor.offset;
    if (has_data) fields["data"] = std::move(data);
  }
  json["compute"] = Json::array();
  Json shapes = Json::object();
  for (const GraphStatement& statement : graph.statements) {
    if (statement.text.empty()) continue;  // part of the next one
    json["compute"].push_back(statement.text);
    // Iterators that index no axis alone take their extent from the result's shape.
    shapes[statement.result.name] = statement.result.shape;
  }
  json["outputs"] = graph.outputs;
  json["shapes"] = std::move(shapes);
  if (op.determinism != Determinism::kNotGuaranteed) json["determinism"] = name(op.determinism);
  return json;
}

std::string graph_key(const Operator& op) {
  const Graph& graph = *op.graph;
  std::string all;
  std::vector<std::string> reductions;
  const Tensor* largest = nullptr;
  for (const Tensor& input : graph.inputs) {
    all += input.name + ":" + tensor_text(input);
    for (const std::int64_t stride : input.strides) all += "," + std::to_string(stride);
    all += ";" + std::to_string(input.offset) + "\n";
    if (largest == nullptr || input.elements() > largest->elements()) largest = &input;
  }
  for (const GraphStatement& statement : graph.statements) {
    all += statement.text + "->" + tensor_text(statement.result) + "\n";
    if (statement.reduce) reductions.emplace_back(name(*statement.reduce));
  }
  for (const std::string& output : graph.outputs) all += output + "\n";
  all += name(op.determinism);
  std::string key = "graph(" + (reductions.empty() ? "map" : join(reductions, ","));
  if (largest != nullptr) key += " " + tensor_text(*largest);
  return key + ";" + hex64(hash64(all)) + ")";
}

std::string graph_title(const Operator& op) {
  if (!op.name.empty()) return op.name;
  const std::string key = graph_key(op);
  return key.substr(0, key.find(';')) + ")";
}

}  // namespace redtune
