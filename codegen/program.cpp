#include "codegen/program.h"

#include <algorithm>
#include <set>
#include <string_view>

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

/// Index of the buffer in `buffers`, which gets it when it is new.
int place_buffer(std::vector<BufferSpec>& buffers, BufferSpec spec, const std::string& suffix) {
  if (spec.kind == BufferKind::kInput) {
    const auto same = std::find(buffers.begin(), buffers.end(), spec);
    if (same != buffers.end()) return static_cast<int>(same - buffers.begin());
  } else {
    spec.name += suffix;
  }
  buffers.push_back(std::move(spec));
  return static_cast<int>(buffers.size() - 1);
}

/// The names that follow `keyword` in `text`, each up to one of `ends`.
std::set<std::string> names_after(std::string_view keyword, const char* ends, const std::string& text) {
  std::set<std::string> names;
  for (std::size_t at = text.find(keyword); at != std::string::npos; at = text.find(keyword, at)) {
    at += keyword.size();
    names.insert(text.substr(at, text.find_first_of(ends, at) - at));
  }
  return names;
}

/// Names that `text` defines as macros.
std::set<std::string> macros_of(const std::string& text) { return names_after("#define ", " (\n", text); }

/// Types and functions that `text` declares: RT_F_NAME(name).
std::set<std::string> declared_in(const std::string& text) { return names_after("RT_F_NAME(", ")", text); }

/// Appends `program`, all of whose names end in `suffix` from here on.
void append(Program& merged, const Program& program, const std::string& suffix) {
  std::vector<int> places;
  for (const BufferSpec& spec : program.buffers) places.push_back(place_buffer(merged.buffers, spec, suffix));
  std::set<std::string> macros = macros_of(program.text), entries;
  for (KernelLaunch launch : program.launches) {
    entries.insert(launch.entry);
    launch.entry += suffix;
    for (int& argument : launch.arguments) argument = places[static_cast<std::size_t>(argument)];
    merged.launches.push_back(std::move(launch));
  }
  for (const std::string& name : declared_in(program.text)) entries.insert(name);
  for (const std::string& entry : entries) merged.text += "#define " + entry + " " + entry + suffix + "\n";
  merged.text += program.text;
  macros.merge(entries);
  for (const std::string& macro : macros) merged.text += "#undef " + macro + "\n";
}

}  // namespace

Program merge(std::span<const Program> programs, std::size_t first) {
  Program merged;
  for (std::size_t i = 0; i < programs.size(); ++i)
    append(merged, programs[i], "_" + std::to_string(first + i));
  return merged;
}

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
