// A config as JSON and back. The field names are published in configs/config.schema.json; a test holds both
// together.
#include <array>
#include <utility>

#include "configs/config_store.h"
#include "support/error.h"

namespace redtune {
namespace {

constexpr std::array<std::pair<BufferKind, const char*>, 4> kBufferKinds{{
    {BufferKind::kInput, "input"},
    {BufferKind::kOutput, "output"},
    {BufferKind::kScratch, "scratch"},
    {BufferKind::kCounter, "counter"},
}};

// Runs a parser of a word; its complaint is told with file and field.
template <typename Parse>
auto word(JsonObject& fields, const char* key, Parse parse) {
  const std::string text = fields.get_string(key);
  try {
    return parse(text);
  } catch (const UserError& error) {
    fields.fail(key, std::string("is not usable: ") + error.what());
  }
}

BufferKind parse_buffer_kind(const std::string& text) {
  std::vector<std::string> known;
  for (const auto& [kind, name] : kBufferKinds) {
    if (text == name) return kind;
    known.emplace_back(name);
  }
  throw UserError(unknown_word_message("buffer kind", text, known));
}

const Json& array_of(JsonObject& fields, const char* key) {
  const Json& value = fields.get(key);
  if (!value.is_array()) fields.fail(key, "must be an array");
  return value;
}

// Three positive sizes.
template <typename T>
std::array<T, 3> sizes_of(JsonObject& fields, const char* key) {
  const std::vector<std::int64_t> values = fields.get_ints(key);
  if (values.size() != 3) fields.fail(key, "must be an array of 3 integers");
  std::array<T, 3> result{};
  for (std::size_t i = 0; i < 3; ++i) {
    result[i] = static_cast<T>(values[i]);
    if (values[i] < 1 || result[i] != values[i]) fields.fail(key, "must hold positive sizes");
  }
  return result;
}

Json launch_json(const KernelLaunch& launch) {
  Json json = Json::object();
  json["entry"] = launch.entry;
  json["grid"] = launch.grid;
  json["block"] = launch.block;
  json["shared_bytes"] = launch.shared_bytes;
  json["arguments"] = launch.arguments;
  return json;
}

KernelLaunch parse_launch(JsonObject fields, std::size_t buffers) {
  KernelLaunch launch;
  launch.entry = fields.get_string("entry");
  launch.grid = sizes_of<std::int64_t>(fields, "grid");
  launch.block = sizes_of<std::int32_t>(fields, "block");
  launch.shared_bytes = fields.get_int("shared_bytes");
  if (launch.shared_bytes < 0) fields.fail("shared_bytes", "must not be negative");
  for (std::int64_t argument : fields.get_ints("arguments")) {
    if (argument < 0 || argument >= static_cast<std::int64_t>(buffers)) {
      fields.fail("arguments", "names buffer " + std::to_string(argument) + " of " + std::to_string(buffers));
    }
    launch.arguments.push_back(static_cast<int>(argument));
  }
  fields.finish();
  return launch;
}

Json buffer_json(const BufferSpec& buffer) {
  Json json = Json::object();
  json["name"] = buffer.name;
  json["kind"] = kBufferKinds[static_cast<std::size_t>(buffer.kind)].second;
  json["dtype"] = std::string(name(buffer.dtype));
  json["elements"] = buffer.elements;
  json["bytes"] = buffer.bytes();
  return json;
}

BufferSpec parse_buffer(JsonObject fields) {
  BufferSpec buffer;
  buffer.name = fields.get_string("name");
  buffer.kind = word(fields, "kind", parse_buffer_kind);
  buffer.dtype = word(fields, "dtype", parse_dtype);
  buffer.elements = fields.get_int("elements");
  if (buffer.elements < 0) fields.fail("elements", "must not be negative");
  if (fields.get_int("bytes") != buffer.bytes())
    fields.fail("bytes", "does not agree with elements and dtype");
  fields.finish();
  return buffer;
}

double positive(JsonObject& fields, const char* key) {
  const double value = fields.get_number(key);
  if (!(value > 0)) fields.fail(key, "must be a positive number");
  return value;
}

std::string item(const std::string& path, const char* array, std::size_t i) {
  return (path.empty() ? "" : path + ".") + array + "[" + std::to_string(i) + "]";
}

void parse_times(JsonObject& fields, Config& config) {
  config.seconds = positive(fields, "seconds");
  config.low_seconds = positive(fields, "low_seconds");
  config.high_seconds = positive(fields, "high_seconds");
  // The default may have failed where another schedule works: then there is no time to tell.
  if (fields.has("default_seconds")) config.default_seconds = positive(fields, "default_seconds");
}

}  // namespace

Json to_json(const Config& config) {
  Json json = Json::object();
  json["key"] = config.op.key();
  json["operator"] = to_json(config.op);
  json["device"] = config.device;
  json["driver"] = config.driver;
  json["target"] = config.target;
  json["determinism"] = std::string(name(config.determinism));
  json["schedule"] = config.schedule.text();
  json["mapping"] = config.schedule.mapping();
  json["seconds"] = config.seconds;
  json["low_seconds"] = config.low_seconds;
  json["high_seconds"] = config.high_seconds;
  json["default_schedule"] = config.default_schedule.text();
  if (config.default_seconds > 0) json["default_seconds"] = config.default_seconds;
  json["launches"] = Json::array();
  for (const KernelLaunch& launch : config.launches) json["launches"].push_back(launch_json(launch));
  json["buffers"] = Json::array();
  for (const BufferSpec& buffer : config.buffers) json["buffers"].push_back(buffer_json(buffer));
  json["program_hash"] = config.program_hash;
  json["log_hash"] = config.log_hash;
  json["time"] = config.time;
  json["version"] = config.version;
  return json;
}

Config parse_config(const Json& json, const std::string& origin, const std::string& path) {
  JsonObject fields(json, origin, path);
  Config config;
  config.op =
      parse_operator(fields.get("operator"), origin + ": " + (path.empty() ? "" : path + ".") + "operator");
  if (fields.get_string("key") != config.op.key()) {
    fields.fail("key", "does not agree with the operator, whose key is \"" + config.op.key() + "\"");
  }
  config.device = fields.get_string("device");
  config.driver = fields.get_string("driver");
  config.target = fields.get_string("target");
  config.determinism = word(fields, "determinism", parse_determinism);
  config.schedule = word(fields, "schedule", parse_schedule);
  config.default_schedule = word(fields, "default_schedule", parse_schedule);
  if (fields.get_string("mapping") != config.schedule.mapping()) {
    fields.fail("mapping", "does not agree with the schedule, whose mapping is " + config.schedule.mapping());
  }
  parse_times(fields, config);
  const Json& buffers = array_of(fields, "buffers");
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    config.buffers.push_back(parse_buffer(JsonObject(buffers[i], origin, item(path, "buffers", i))));
  }
  const Json& launches = array_of(fields, "launches");
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const JsonObject launch(launches[i], origin, item(path, "launches", i));
    config.launches.push_back(parse_launch(launch, buffers.size()));
  }
  config.program_hash = fields.get_string("program_hash");
  config.log_hash = fields.get_string("log_hash");
  config.time = fields.get_string("time");
  config.version = fields.get_string("version");
  fields.finish();
  return config;
}

}  // namespace redtune
