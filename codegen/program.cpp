#include "codegen/program.h"

#include <limits>
#include <utility>

#include "support/error.h"

namespace redtune {
namespace {

constexpr std::array<std::pair<BufferKind, std::string_view>, 4> kBufferKinds{{
    {BufferKind::kInput, "input"},
    {BufferKind::kOutput, "output"},
    {BufferKind::kScratch, "scratch"},
    {BufferKind::kCounter, "counter"},
}};

BufferKind parse_buffer_kind(std::string_view word) {
  std::vector<std::string> known;
  for (const auto& [kind, text] : kBufferKinds) {
    if (text == word) return kind;
    known.emplace_back(text);
  }
  throw UserError(unknown_word_message("buffer kind", word, known));
}

std::int64_t at_least(JsonObject& json, const std::string& key, std::int64_t lowest) {
  const std::int64_t value = json.get_int(key);
  if (value < lowest) json.fail(key, "must be at least " + std::to_string(lowest) + ", is " + std::to_string(value));
  return value;
}

template <typename Number>
void read_sizes(JsonObject& json, const std::string& key, std::array<Number, 3>& sizes) {
  const std::vector<std::int64_t> values = json.get_ints(key);
  if (values.size() != 3) json.fail(key, "must have 3 sizes, has " + std::to_string(values.size()));
  for (std::size_t i = 0; i < 3; ++i) {
    if (values[i] < 1 || values[i] > std::numeric_limits<Number>::max()) {
      json.fail(key, "has a size out of range: " + std::to_string(values[i]));
    }
    sizes[i] = static_cast<Number>(values[i]);
  }
}

BufferSpec parse_buffer(JsonObject json) {
  BufferSpec buffer;
  buffer.name = json.get_string("name");
  buffer.kind = parse_buffer_kind(json.get_string("kind"));
  buffer.dtype = parse_dtype(json.get_string("dtype"));
  buffer.elements = at_least(json, "elements", 0);
  json.finish();
  return buffer;
}

KernelLaunch parse_launch(JsonObject json, std::size_t buffers) {
  KernelLaunch launch;
  launch.entry = json.get_string("entry");
  read_sizes(json, "grid", launch.grid);
  read_sizes(json, "block", launch.block);
  launch.shared_bytes = at_least(json, "shared_bytes", 0);
  for (std::int64_t index : json.get_ints("arguments")) {
    if (index < 0 || index >= static_cast<std::int64_t>(buffers)) {
      json.fail("arguments", "names buffer " + std::to_string(index) + " of " + std::to_string(buffers));
    }
    launch.arguments.push_back(static_cast<int>(index));
  }
  json.finish();
  return launch;
}

const Json& array_member(JsonObject& json, const std::string& key) {
  const Json& value = json.get(key);
  if (!value.is_array()) json.fail(key, "must be an array");
  return value;
}

std::string element_path(const std::string& key, std::size_t index) {
  return key + "[" + std::to_string(index) + "]";
}

}  // namespace

Json to_json(const Program& program) {
  Json json = Json::object();
  json["text"] = program.text;
  Json& buffers = json["buffers"] = Json::array();
  for (const BufferSpec& buffer : program.buffers) {
    Json row = Json::object();
    row["name"] = buffer.name;
    row["kind"] = std::string(kBufferKinds[static_cast<std::size_t>(buffer.kind)].second);
    row["dtype"] = std::string(name(buffer.dtype));
    row["elements"] = buffer.elements;
    buffers.push_back(std::move(row));
  }
  Json& launches = json["launches"] = Json::array();
  for (const KernelLaunch& launch : program.launches) {
    Json row = Json::object();
    row["entry"] = launch.entry;
    row["grid"] = launch.grid;
    row["block"] = launch.block;
    row["shared_bytes"] = launch.shared_bytes;
    row["arguments"] = launch.arguments;
    launches.push_back(std::move(row));
  }
  return json;
}

Program parse_program(const Json& json, const std::string& origin) {
  JsonObject object(json, origin);
  Program program;
  program.text = object.get_string("text");
  const Json& buffers = array_member(object, "buffers");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    program.buffers.push_back(parse_buffer({buffers[i], origin, element_path("buffers", i)}));
  }
  const Json& launches = array_member(object, "launches");
  for (std::size_t i = 0; i < launches.size(); ++i) {
    program.launches.push_back(
        parse_launch({launches[i], origin, element_path("launches", i)}, program.buffers.size()));
  }
  object.finish();
  return program;
}

}  // namespace redtune
