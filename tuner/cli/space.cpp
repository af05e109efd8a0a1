#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>

#include "space/mappings.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct SpaceArguments {
  OperatorArguments operators;
  std::string target, mapping, why;
  std::size_t list = 0;
  bool count = false, isl = false, json = false;
};

struct MappingRow {
  const MappingInfo* mapping;
  std::size_t schedules;
  std::string reason;  // why there are none
};

std::vector<MappingRow> rows_of(const SearchSpace& space) {
  std::map<std::pair<BlockCombine, GridCombine>, std::size_t> counts;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Schedule schedule = space.at(i);
    ++counts[{schedule.block, schedule.grid}];
  }
  std::vector<MappingRow> rows;
  for (const MappingInfo& mapping : mappings()) {
    const auto rejection = reject_mapping(space.task(), mapping.block, mapping.grid);
    rows.push_back({&mapping, counts[{mapping.block, mapping.grid}],
                    rejection ? rejection->constraint + ": " + rejection->detail : ""});
  }
  return rows;
}

std::string note_of(const MappingRow& row) {
  if (row.schedules > 0) return std::string(row.mapping->summary);
  return row.reason.empty() ? "no tile sizes satisfy its constraints" : row.reason;
}

void print_table(const SearchSpace& space) {
  const Task& task = space.task();
  std::cout << "operator  " << task.op.title() << "  (" << task.op.key() << ")\n"
            << "canonical " << task.canonical.text() << "\n"
            << "target    " << task.target.name << "\n"
            << "space     " << format_count(static_cast<std::int64_t>(space.size())) << " schedules\n\n";
  TextTable table;
  table.row({"mapping", "class", "schedules", ""});
  for (const MappingRow& row : rows_of(space)) {
    table.row({std::string(row.mapping->name), std::string(name(row.mapping->mapping_class)),
               format_count(static_cast<std::int64_t>(row.schedules)), note_of(row)});
  }
  std::cout << table.str();
}

Json space_json(const SearchSpace& space, std::size_t list) {
  Json json = Json::object();
  json["operator"] = space.task().op.key();
  json["canonical"] = space.task().canonical.text();
  json["target"] = space.task().target.name;
  json["size"] = space.size();
  json["mappings"] = Json::array();
  for (const MappingRow& row : rows_of(space)) {
    Json entry = Json::object();
    entry["mapping"] = std::string(row.mapping->name);
    entry["class"] = std::string(name(row.mapping->mapping_class));
    entry["schedules"] = row.schedules;
    if (row.schedules == 0 && !row.reason.empty()) entry["reason"] = row.reason;
    json["mappings"].push_back(std::move(entry));
  }
  if (list > 0) json["schedules"] = Json::array();
  for (std::size_t i = 0; i < std::min(list, space.size()); ++i) {
    json["schedules"].push_back(space.at(i * space.size() / std::min(list, space.size())).text());
  }
  return json;
}

// With --json the answer is a document either way; without, a schedule that is not legal is an error.
ExitCode answer_why(const SearchSpace& space, const SpaceArguments& arguments) {
  if (!arguments.json) {
    const Schedule schedule = legal_schedule(space, arguments.why);  // throws the reason
    std::cout << "legal: " << schedule.text() << "  (" << schedule.mapping() << ", "
              << name(schedule.mapping_class()) << ", " << name(determinism_of(space.task(), schedule))
              << ")\n";
    return ExitCode::kDone;
  }
  const Schedule schedule = parse_schedule(arguments.why);
  const auto rejection = space.why_not(schedule);
  Json json = Json::object();
  json["schedule"] = schedule.text();
  json["mapping"] = schedule.mapping();
  json["class"] = std::string(name(schedule.mapping_class()));
  json["determinism"] = std::string(name(determinism_of(space.task(), schedule)));
  json["legal"] = !rejection;
  if (rejection) {
    json["constraint"] = rejection->constraint;
    json["reason"] = rejection->detail;
  }
  std::cout << json.dump(2) << "\n";
  return rejection ? ExitCode::kUsage : ExitCode::kDone;
}

ExitCode run_space(const SpaceArguments& arguments) {
  const Task task = make_task(arguments.operators.read_one(), target_of(arguments.target));
  const SearchSpace space(task, filter_of(arguments.mapping));
  if (!arguments.why.empty()) return answer_why(space, arguments);
  if (arguments.json) {
    std::cout << space_json(space, arguments.list).dump(2) << "\n";
  } else if (arguments.isl) {
    std::cout << space.isl_text() << "\n";
  } else if (arguments.list > 0) {
    // Spread over the whole space: its first ones differ in one size only.
    const std::size_t shown = std::min(arguments.list, space.size());
    for (std::size_t i = 0; i < shown; ++i) std::cout << space.at(i * space.size() / shown).text() << "\n";
  } else if (arguments.count) {
    std::cout << space.size() << "\n";
  } else {
    print_table(space);
  }
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_space(CLI::App& app) {
  const auto arguments = std::make_shared<SpaceArguments>();
  SpaceArguments& a = *arguments;
  a.operators.declare(app, false);
  app.add_option("--target", a.target, "target, as `redtune targets` names it (default: the best device's)");
  app.add_option("--mapping", a.mapping, "only these: tree, atomic, hybrid, a combine, or block+grid");
  CLI::Option* count = app.add_flag("--count", a.count, "print the number of schedules only");
  CLI::Option* list =
      app.add_option("--list", a.list, "print N schedules, spread over the space")->option_text("N");
  list->excludes(count);
  app.add_option("--why", a.why,
                 "say whether SCHEDULE is legal; exit code 2 with the broken constraint if not")
      ->option_text("SCHEDULE");
  CLI::Option* json = app.add_flag("--json", a.json, "one JSON document");
  app.add_flag("--isl", a.isl, "print the space as isl sets")
      ->excludes(json)
      ->excludes(count)
      ->excludes(list);
  return [arguments] { return run_space(*arguments); };
}

}  // namespace redtune
