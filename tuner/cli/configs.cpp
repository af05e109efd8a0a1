#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "configs/config_schema.h"
#include "configs/store_tools.h"
#include "support/text.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct ConfigsArguments {
  std::string age = "1h";
  std::vector<std::string> directories;
  bool dry_run = false, json = false;
};

ExitCode run_merge(const ConfigsArguments& arguments) {
  const std::string& into = arguments.directories.front();
  for (std::size_t i = 1; i < arguments.directories.size(); ++i) {
    const MergeReport report = merge_store(arguments.directories[i], into);
    std::cout << fmt::format("{}: {} added, {} replaced by a better time, {} kept\n",
                             arguments.directories[i], report.added, report.replaced, report.kept);
  }
  return ExitCode::kDone;
}

Json diff_json(const std::vector<StoreDifference>& differences) {
  Json json = Json::array();
  for (const StoreDifference& d : differences) {
    Json entry = Json::object();
    if (d.kind != StoreDifference::Kind::kOnlyRight) entry["left"] = to_json(d.left);
    if (d.kind != StoreDifference::Kind::kOnlyLeft) entry["right"] = to_json(d.right);
    json.push_back(std::move(entry));
  }
  return json;
}

ExitCode run_diff(const ConfigsArguments& arguments) {
  const auto differences = diff_stores(arguments.directories[0], arguments.directories[1]);
  std::cout << (arguments.json ? readable_json(diff_json(differences)) : diff_text(differences));
  if (!arguments.json && differences.empty()) std::cout << "no difference\n";
  return ExitCode::kDone;
}

ExitCode run_check(const ConfigsArguments& arguments) {
  std::size_t count = 0;
  for (const std::string& directory : arguments.directories) {
    const std::vector<std::string> problems = check_store(directory);
    for (const std::string& problem : problems) std::cout << problem << "\n";
    if (problems.empty()) {
      std::cout << directory << ": " << ConfigStore(directory).list().size() << " configs, all good"
                << (has_schema_check() ? "" : " (built without valijson: not checked against the schema)")
                << "\n";
    }
    count += problems.size();
  }
  if (count > 0) throw UserError(fmt::format("{} {} found", count, count == 1 ? "problem" : "problems"));
  return ExitCode::kDone;
}

ExitCode run_prune(const ConfigsArguments& arguments) {
  const double age = parse_duration(arguments.age, "--age");
  for (const std::string& directory : arguments.directories) {
    const PruneReport report = prune_store(directory, age, arguments.dry_run);
    for (const std::string& file : report.removed) std::cout << file << "\n";
    std::cout << fmt::format("{}: {} files, {} {}\n", directory, report.removed.size(),
                             format_bytes(static_cast<double>(report.bytes)),
                             arguments.dry_run ? "would go" : "removed");
  }
  return ExitCode::kDone;
}

struct ConfigsAction {
  const char *name, *summary;
  std::size_t least, most;  // directories
  ExitCode (*run)(const ConfigsArguments& arguments);
};

constexpr std::size_t kAny = 1000;
constexpr ConfigsAction kActions[] = {
    {"merge", "take the configs of other stores into the first; of two times of one key the better stays", 2,
     kAny, run_merge},
    {"diff", "what the second store has other than the first, a line each", 2, 2, run_diff},
    {"check", "schema, keys, places and kernels; exit code 2 when anything is wrong", 1, kAny, run_check},
    {"prune", "remove kernels that no config names, and files of writers that died", 1, kAny, run_prune},
};

}  // namespace

VerbAction declare_configs(CLI::App& app) {
  const auto arguments = std::make_shared<ConfigsArguments>();
  const auto chosen = std::make_shared<const ConfigsAction*>(nullptr);
  app.require_subcommand(1);
  for (const ConfigsAction& action : kActions) {
    CLI::App& sub = *app.add_subcommand(action.name, action.summary);
    sub.add_option("directory", arguments->directories, "config stores")->option_text("DIR...")->required();
    if (action.run == run_prune) {
      sub.add_option("--age", arguments->age, "leave what is younger (default 1h)")->option_text("TIME");
      sub.add_flag("--dry-run", arguments->dry_run, "say what would go and leave it");
    }
    if (action.run == run_diff)
      sub.add_flag("--json", arguments->json, "both entries of each difference as JSON");
    sub.callback([chosen, &action] { *chosen = &action; });
  }
  return [arguments, chosen] {
    const ConfigsAction& action = **chosen;
    const std::size_t count = arguments->directories.size();
    if (count < action.least || count > action.most) {
      throw UserError(fmt::format("configs {}: {} directories given, {}{} needed", action.name, count,
                                  action.most > action.least ? "at least " : "", action.least));
    }
    return action.run(*arguments);
  };
}

}  // namespace redtune
