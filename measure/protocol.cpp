#include "measure/protocol.h"

namespace redtune {

Json to_json(const DeviceInfo& device) {
  Json json = Json::object();
  json["id"] = device.id;
  json["name"] = device.name;
  json["driver"] = device.driver;
  json["target"] = to_json(device.target);
  json["clock"] = device.clock;
  json["facts"] = device.facts;
  return json;
}

DeviceInfo parse_device_info(JsonObject json) {
  DeviceInfo device;
  device.id = json.get_string("id");
  device.name = json.get_string("name");
  device.driver = json.get_string("driver");
  device.target = parse_target(json.get("target"), json.origin());
  device.clock = json.get_string("clock");
  device.facts = json.get("facts");
  json.finish();
  return device;
}

Json to_json(const DeviceLimits& limits) {
  Json json = Json::object();
  json["memory_bytes"] = limits.memory_bytes;
  json["buffer_bytes"] = limits.buffer_bytes;
  json["block_threads"] = limits.block_threads;
  json["shared_bytes"] = limits.shared_bytes;
  return json;
}

DeviceLimits parse_device_limits(JsonObject json) {
  DeviceLimits limits;
  limits.memory_bytes = json.get_int("memory_bytes");
  limits.buffer_bytes = json.get_int("buffer_bytes");
  limits.block_threads = json.get_int("block_threads");
  limits.shared_bytes = json.get_int("shared_bytes");
  json.finish();
  return limits;
}

Json to_json(const MemoryAddress& address) {
  Json json = Json::object();
  json["path"] = address.path;
  json["bytes"] = address.bytes;
  return json;
}

MemoryAddress parse_memory_address(JsonObject json) {
  MemoryAddress address{json.get_string("path"), json.get_int("bytes")};
  json.finish();
  return address;
}

Json to_json(const ArenaLayout& layout) {
  Json json = Json::object();
  json["input_bytes"] = layout.input_bytes;
  json["stride_bytes"] = layout.stride_bytes;
  json["copies"] = layout.copies;
  return json;
}

ArenaLayout parse_arena_layout(JsonObject json) {
  ArenaLayout layout{json.get_int("input_bytes"), json.get_int("stride_bytes"), json.get_int("copies")};
  json.finish();
  return layout;
}

Json to_json(const SamplingRules& rules) {
  Json json = Json::object();
  json["min_samples"] = rules.min_samples;
  json["max_samples"] = rules.max_samples;
  json["target_spread"] = rules.target_spread;
  json["max_seconds"] = rules.max_seconds;
  json["best_seconds"] = rules.best_seconds;
  json["least_seconds"] = rules.least_seconds;
  return json;
}

SamplingRules parse_sampling_rules(JsonObject json) {
  SamplingRules rules;
  rules.min_samples = static_cast<int>(json.get_int("min_samples"));
  rules.max_samples = static_cast<int>(json.get_int("max_samples"));
  rules.target_spread = json.get_number("target_spread");
  rules.max_seconds = json.get_number("max_seconds");
  rules.best_seconds = json.get_number("best_seconds");
  rules.least_seconds = json.get_number("least_seconds");
  json.finish();
  return rules;
}

}  // namespace redtune
