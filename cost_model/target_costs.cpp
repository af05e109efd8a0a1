#include "cost_model/target_costs.h"

#include <algorithm>
#include <vector>

#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

struct CostField {
  const char* name;
  double TargetCosts::*member;
  bool may_be_zero;
};

constexpr CostField kFields[] = {
    {"launch_seconds", &TargetCosts::launch_seconds, false},
    {"block_seconds", &TargetCosts::block_seconds, false},
    {"load_latency_seconds", &TargetCosts::load_latency_seconds, true},
    {"barrier_seconds", &TargetCosts::barrier_seconds, false},
    {"step_seconds", &TargetCosts::step_seconds, false},
    {"atomic_seconds", &TargetCosts::atomic_seconds, false},
    {"atomic_same_address_seconds", &TargetCosts::atomic_same_address_seconds, false},
    {"core_operations_per_second", &TargetCosts::core_operations_per_second, false},
    {"core_bytes_per_second", &TargetCosts::core_bytes_per_second, false},
};

std::string nearest_shipped(const Target& target) {
  const std::vector<std::string> known = known_targets();
  if (std::find(known.begin(), known.end(), target.name) != known.end()) return target.name;
  if (target.kind == TargetKind::kOpenClCpu) return "cpu";
  std::string nearest;
  int best = 0, oldest = 0;
  std::string oldest_name;
  for (const std::string& name : known) {
    const Target shipped = load_target(name);
    if (shipped.kind != TargetKind::kCuda) continue;
    if (shipped.compute_capability <= target.compute_capability && shipped.compute_capability > best) {
      best = shipped.compute_capability;
      nearest = name;
    }
    if (oldest == 0 || shipped.compute_capability < oldest) {
      oldest = shipped.compute_capability;
      oldest_name = name;
    }
  }
  return nearest.empty() ? oldest_name : nearest;
}

}  // namespace

TargetCosts parse_target_costs(const Json& json, const std::string& origin) {
  JsonObject file(json, origin);
  JsonObject costs = file.get_object("costs");
  TargetCosts result;
  for (const CostField& field : kFields) {
    const double value = costs.get_number(field.name);
    if (value < 0 || (value == 0 && !field.may_be_zero)) costs.fail(field.name, "must be above 0");
    result.*(field.member) = value;
  }
  costs.finish();
  return result;
}

TargetCosts costs_of(const Target& target) {
  const std::string path = data_directory() + "/targets/" + nearest_shipped(target) + ".json";
  return parse_target_costs(read_json_file(path), path);
}

}  // namespace redtune
