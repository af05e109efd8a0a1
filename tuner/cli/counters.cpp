// The verb `counters`.
#include "measure/counters.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>

#include "support/json.h"
#include "support/text.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

ExitCode run_counters(const std::string& target_name, bool as_json) {
  const Target target = load_target(target_name);
  const ChipCounters chip = counters_of(target);
  Json json = {
      {"target", target.name}, {"chip", chip.chip}, {"passes", chip.passes}, {"counters", Json::array()}};
  TextTable table;
  table.row({"counter", "metric of the profiler", "unit", "tells"});
  for (const CounterOfChip& row : chip.counters) {
    table.row({std::string(row.counter.name), std::string(row.counter.metric),
               row.available ? row.unit : "not on this chip", std::string(row.counter.meaning)});
    json["counters"].push_back({{"name", row.counter.name},
                                {"metric", row.counter.metric},
                                {"available", row.available},
                                {"unit", row.unit},
                                {"description", row.description}});
  }
  if (as_json) {
    std::cout << json.dump(2) << "\n";
  } else {
    std::cout << target.name << ", chip " << chip.chip << ": " << chip.passes
              << " passes over a kernel collect all\n\n"
              << table.str();
  }
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_counters(CLI::App& app) {
  const auto target = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  app.add_option("--target", *target, "CUDA architecture, as sm_90")->required();
  app.add_flag("--json", *json, "one JSON document");
  return [target, json] { return run_counters(*target, *json); };
}

}  // namespace redtune
