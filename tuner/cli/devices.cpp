// The verbs `devices` and `targets`.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "measure/protocol.h"
#include "support/text.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

ExitCode run_devices(bool as_json) {
  std::vector<std::string> notes;
  const std::vector<DeviceInfo> devices = list_devices(&notes);
  if (as_json) {
    Json json = Json::object();
    json["devices"] = Json::array();
    for (const DeviceInfo& device : devices) json["devices"].push_back(to_json(device));
    json["notes"] = notes;
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else {
    TextTable table;
    table.row({"id", "name", "units", "clock", "driver"});
    for (const DeviceInfo& device : devices) {
      table.row({device.id, device.name, std::to_string(device.target.units), device.clock, device.driver});
    }
    if (!devices.empty()) std::cout << table.str();
    for (const std::string& note : notes) std::cout << note << "\n";
  }
  if (devices.empty()) throw NoDevice("no device to measure on; `redtune doctor` says how to get one");
  return ExitCode::kDone;
}

ExitCode run_targets(bool as_json) {
  Json json = Json::array();
  TextTable table;
  table.row({"target", "kind", "units", "warp", "threads/block", "shared/block", "vector"});
  for (const std::string& known : known_targets()) {
    const Target target = load_target(known);
    json.push_back(to_json(target));
    table.row({target.name, std::string(name(target.kind)), std::to_string(target.units),
               std::to_string(target.warp), std::to_string(target.max_threads_per_block),
               format_bytes(target.shared_bytes_per_block), format_bytes(std::int64_t{target.vector_bytes})});
  }
  std::cout << (as_json ? json.dump(2) + "\n" : table.str());
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_devices(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document");
  return [json] { return run_devices(*json); };
}

VerbAction declare_targets(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document");
  return [json] { return run_targets(*json); };
}

}  // namespace redtune
