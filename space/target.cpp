#include "space/target.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>

#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;

constexpr std::array kKinds{TargetKind::kCuda, TargetKind::kOpenClCpu, TargetKind::kOpenClGpu};

TargetKind parse_kind(JsonObject& object) {
  const std::string word = object.get_string("kind");
  std::vector<std::string> known;
  for (TargetKind kind : kKinds) {
    if (name(kind) == word) return kind;
    known.emplace_back(name(kind));
  }
  object.fail("kind", "has an " + unknown_word_message("kind", word, known));
}

template <typename Integer>
void read_count(JsonObject& object, const char* key, std::int64_t low, Integer& value) {
  const std::int64_t read = object.get_int(key, value);
  if (read < low || read > std::numeric_limits<Integer>::max()) {
    object.fail(key, "must be " + std::to_string(low) + " to " +
                         std::to_string(std::numeric_limits<Integer>::max()) + ", is " +
                         std::to_string(read));
  }
  value = static_cast<Integer>(read);
}

void read_power_of_two(JsonObject& object, const char* key, int& value) {
  read_count(object, key, 1, value);
  if ((value & (value - 1)) != 0) object.fail(key, "must be a power of two, is " + std::to_string(value));
}

std::string target_directory() { return data_directory() + "/targets"; }

}  // namespace

std::string_view name(TargetKind k) {
  switch (k) {
    case TargetKind::kCuda:
      return "cuda";
    case TargetKind::kOpenClCpu:
      return "opencl_cpu";
    case TargetKind::kOpenClGpu:
      return "opencl_gpu";
  }
  RT_CHECK(false, "target kind without a name");
}

bool has_warp_reductions(const Target& t) { return t.kind == TargetKind::kCuda && t.compute_capability >= 80; }
bool has_cooperative_launch(const Target& t) { return t.kind == TargetKind::kCuda && t.compute_capability >= 70; }
bool has_clusters(const Target& t) { return t.kind == TargetKind::kCuda && t.compute_capability >= 90; }

Target parse_target(const Json& json, const std::string& origin) {
  JsonObject object(json, origin);
  Target t;
  t.name = object.get_string("name");
  t.kind = parse_kind(object);
  read_count(object, "compute_capability", t.kind == TargetKind::kCuda ? 10 : 0, t.compute_capability);
  read_count(object, "units", 1, t.units);
  read_power_of_two(object, "warp", t.warp);
  read_count(object, "max_threads_per_block", 1, t.max_threads_per_block);
  read_count(object, "max_blocks_per_unit", 1, t.max_blocks_per_unit);
  read_count(object, "max_threads_per_unit", 1, t.max_threads_per_unit);
  read_count(object, "registers_per_unit", 1, t.registers_per_unit);
  read_count(object, "max_registers_per_thread", 1, t.max_registers_per_thread);
  read_count(object, "shared_bytes_per_block", 0, t.shared_bytes_per_block);
  t.shared_bytes_per_block_optin = t.shared_bytes_per_block;
  read_count(object, "shared_bytes_per_block_optin", t.shared_bytes_per_block,
             t.shared_bytes_per_block_optin);
  read_count(object, "max_grid_x", 1, t.max_grid_x);
  read_count(object, "max_grid_yz", 1, t.max_grid_yz);
  read_power_of_two(object, "vector_bytes", t.vector_bytes);
  read_count(object, "last_level_cache_bytes", 0, t.last_level_cache_bytes);
  t.memory_bytes_per_second = object.get_number("memory_bytes_per_second", 0);
  if (t.memory_bytes_per_second < 0) object.fail("memory_bytes_per_second", "must be 0 (unknown) or more");
  t.atomic_f32_add = object.get_bool("atomic_f32_add", t.atomic_f32_add);
  t.atomic_f64_add = object.get_bool("atomic_f64_add", t.atomic_f64_add);
  t.atomic_i64 = object.get_bool("atomic_i64", t.atomic_i64);
  t.aligned_vectors = object.get_bool("aligned_vectors", t.aligned_vectors);
  object.has("costs");  // read by cost_model/target_costs
  object.finish();
  return t;
}

Json to_json(const Target& t) {
  Json json = Json::object();
  json["name"] = t.name;
  json["kind"] = name(t.kind);
  json["compute_capability"] = t.compute_capability;
  json["units"] = t.units;
  json["warp"] = t.warp;
  json["max_threads_per_block"] = t.max_threads_per_block;
  json["max_blocks_per_unit"] = t.max_blocks_per_unit;
  json["max_threads_per_unit"] = t.max_threads_per_unit;
  json["registers_per_unit"] = t.registers_per_unit;
  json["max_registers_per_thread"] = t.max_registers_per_thread;
  json["shared_bytes_per_block"] = t.shared_bytes_per_block;
  json["shared_bytes_per_block_optin"] = t.shared_bytes_per_block_optin;
  json["max_grid_x"] = t.max_grid_x;
  json["max_grid_yz"] = t.max_grid_yz;
  json["vector_bytes"] = t.vector_bytes;
  json["last_level_cache_bytes"] = t.last_level_cache_bytes;
  json["memory_bytes_per_second"] = t.memory_bytes_per_second;
  json["atomic_f32_add"] = t.atomic_f32_add;
  json["atomic_f64_add"] = t.atomic_f64_add;
  json["atomic_i64"] = t.atomic_i64;
  json["aligned_vectors"] = t.aligned_vectors;
  return json;
}

std::vector<std::string> known_targets() {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(target_directory(), error)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Target load_target(const std::string& name) {
  const std::vector<std::string> known = known_targets();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    throw UserError(unknown_word_message("target", name, known));
  }
  const std::string path = target_directory() + "/" + name + ".json";
  Target target = parse_target(read_json_file(path), path);
  if (target.name != name)
    throw UserError(path + ": field 'name' must be \"" + name + "\", as the file is called");
  return target;
}

}  // namespace redtune
