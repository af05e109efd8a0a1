#include "space/launch.h"

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

BufferKind get_buffer_kind(JsonObject& json, const std::string& key) {
  const std::string word = json.get_string(key);
  std::vector<std::string> known;
  for (const auto& [kind, text] : kBufferKinds) {
    if (text == word) return kind;
    known.emplace_back(text);
  }
  json.fail(key, "is not usable: " + unknown_word_message("buffer kind", word, known));
}

DType get_dtype(JsonObject& json, const std::string& key) {
  const std::string word = json.get_string(key);
  try {
    return parse_dtype(word);
  } catch (const UserError& error) {
    json.fail(key, std::string("is not usable: ") + error.what());
  }
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

}  // namespace

Json to_json(const BufferSpec& buffer) {
  Json json = Json::object();
  json["name"] = buffer.name;
  json["kind"] = std::string(kBufferKinds[static_cast<std::size_t>(buffer.kind)].second);
  json["dtype"] = std::string(name(buffer.dtype));
  json["elements"] = buffer.elements;
  json["bytes"] = buffer.bytes();
  if (buffer.begin != 0) json["begin"] = buffer.begin;
  return json;
}

Json to_json(const KernelLaunch& launch) {
  Json json = Json::object();
  json["entry"] = launch.entry;
  json["grid"] = launch.grid;
  json["block"] = launch.block;
  json["shared_bytes"] = launch.shared_bytes;
  json["arguments"] = launch.arguments;
  if (launch.dynamic_shared_bytes > 0) json["dynamic_shared_bytes"] = launch.dynamic_shared_bytes;
  if (launch.cooperative) json["cooperative"] = true;
  return json;
}

BufferSpec parse_buffer(JsonObject json) {
  BufferSpec buffer;
  buffer.name = json.get_string("name");
  buffer.kind = get_buffer_kind(json, "kind");
  buffer.dtype = get_dtype(json, "dtype");
  buffer.elements = at_least(json, "elements", 0);
  if (json.has("begin")) buffer.begin = at_least(json, "begin", 0);
  if (json.get_int("bytes") != buffer.bytes()) json.fail("bytes", "does not agree with elements and dtype");
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
  if (json.has("dynamic_shared_bytes")) launch.dynamic_shared_bytes = at_least(json, "dynamic_shared_bytes", 1);
  launch.cooperative = json.get_bool("cooperative", false);
  json.finish();
  return launch;
}

}  // namespace redtune
