#include "codegen/program.h"

namespace redtune {
namespace {

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
  json["buffers"] = Json::array();
  for (const BufferSpec& buffer : program.buffers) json["buffers"].push_back(to_json(buffer));
  json["launches"] = Json::array();
  for (const KernelLaunch& launch : program.launches) json["launches"].push_back(to_json(launch));
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
