#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "support/files.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/verbs.h"
#include "tuner/predicting.h"

namespace redtune {
namespace {

constexpr std::size_t kShown = 5;

struct PredictArguments {
  OperatorArguments operators;
  PredictOptions options;
  std::string targets, mapping, only, top = "32", configs = "redtune-out/configs";
  bool json = false, no_cache = false;
};

Json candidate_json(const Candidacy& c) {
  Json json{{"rank", c.rank + 1}, {"schedule", c.schedule.text()}, {"mapping", c.schedule.mapping()}};
  if (c.dropped.empty()) {
    json["registers"] = c.registers;
    json["shared_bytes"] = c.shared_bytes;
  } else {
    json["dropped"] = c.dropped;
  }
  return json;
}

Json result_json(const PredictResult& result, const std::string& path) {
  Json json{{"operator", result.task.op.key()},
            {"target", result.task.target.name},
            {"predicted", true},
            {"space_size", result.space_size},
            {"default_rank", result.default_in_space ? Json(result.default_rank + 1) : Json()},
            {"best", candidate_json(result.candidates[result.chosen])},
            {"config", path}};
  for (const Candidacy& c : result.candidates) json["candidates"].push_back(candidate_json(c));
  return json;
}

void print(const PredictResult& result, const PredictOptions& options, const std::string& path) {
  std::size_t dropped = 0;
  for (const Candidacy& c : result.candidates) dropped += c.dropped.empty() ? 0 : 1;
  std::cout << "operator  " << result.task.op.title() << "  (" << result.task.op.key() << ")\n"
            << "target    " << result.task.target.name << "\n"
            << fmt::format("space     {} schedules, ranked by {}; {} compiled, {} dropped\n",
                           format_count(static_cast<std::int64_t>(result.space_size)),
                           options.model_path.empty() ? "the analytic model" : options.model_path,
                           result.candidates.size(), dropped);
  if (result.default_in_space) std::cout << "default   ranks " << result.default_rank + 1 << "\n";
  TextTable table;
  table.row({"rank", "registers", "shared", "schedule", ""});
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    const Candidacy& c = result.candidates[i];
    if (i >= kShown && i != result.chosen) continue;
    table.row({std::to_string(c.rank + 1), c.dropped.empty() ? std::to_string(c.registers) : "-",
               c.dropped.empty() ? std::to_string(c.shared_bytes) : "-", c.schedule.text(),
               i == result.chosen ? "<- predicted best" : c.dropped});
  }
  std::cout << "\n" << table.str() << "\npredicted, not measured: nothing ran\nconfig    " << path << "\n";
}

ExitCode run_predict(PredictArguments& arguments) {
  const std::vector<Operator> operators = arguments.operators.read();
  PredictOptions& options = arguments.options;
  options.filter = filter_of(arguments.mapping, arguments.only);
  options.top = static_cast<std::size_t>(parse_count(arguments.top, "--top"));
  std::vector<Target> targets;
  for (const std::string& name : split(arguments.targets, ',')) targets.push_back(load_target(trim(name)));
  const std::string root = arguments.no_cache ? "" : user_cache_directory();
  KernelCache cache(root.empty() ? "" : root + "/kernels");
  Json results = Json::array();
  for (const Operator& op : operators) {
    for (const Target& target : targets) {
      const PredictResult result = predict(op, target, options, cache);
      const std::string path = keep_prediction(result, options, arguments.configs);
      if (arguments.json)
        results.push_back(result_json(result, path));
      else
        print(result, options, path);
    }
  }
  if (arguments.json) {
    std::cout << Json{{"results", results}}.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  }
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_predict(CLI::App& app) {
  const auto arguments = std::make_shared<PredictArguments>();
  PredictArguments& a = *arguments;
  a.operators.declare(app, true);
  app.add_option("--target", a.targets, "CUDA targets, as sm_80,sm_90")->required()->option_text("NAMES");
  app.add_option("--model", a.options.model_path, "model of `redtune train` (default: analytic)");
  app.add_option("--top", a.top, "best guesses that are compiled (default 32)")->option_text("N");
  app.add_option("--mapping", a.mapping, "only these: tree, atomic, hybrid, a combine, or block+grid");
  app.add_option("--only", a.only, "only these sizes, as \"vec=4|16 rows=1 walk=chunked\"");
  app.add_option("--configs", a.configs, "config store; predictions go to its folder predicted/ (default redtune-out/configs)");
  app.add_flag("--no-cache", a.no_cache, "compile even what the kernel cache holds");
  app.add_flag("--json", a.json, "one JSON document on stdout");
  return [arguments] { return run_predict(*arguments); };
}

}  // namespace redtune
