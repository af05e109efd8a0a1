#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "support/files.h"
#include "support/text.h"
#include "tuner/cli/verbs.h"
#include "tuner/replay.h"

namespace redtune {
namespace {

struct ReplayArguments {
  std::vector<std::string> files;
  std::string strategy = "all", csv;
  ReplayOptions options;
  bool json = false;
};

class ReplayVerb {
 public:
  explicit ReplayVerb(ReplayArguments& arguments) : arguments_(arguments) {}

  ExitCode run() {
    if (arguments_.options.repeats == 0) throw UserError("--repeats must be at least 1");
    if (arguments_.options.batch == 0) throw UserError("--batch must be at least 1");
    std::vector<const StrategyEntry*> chosen;
    if (arguments_.strategy == "all") {
      for (const StrategyEntry& entry : strategies()) chosen.push_back(&entry);
    } else {
      for (const std::string& name : split(arguments_.strategy, ',')) chosen.push_back(&find_strategy(name));
    }
    std::vector<ReplaySpace> spaces;
    for (const std::string& file : arguments_.files) {
      for (RecordedSpace& space : read_recorded_spaces(file)) spaces.emplace_back(std::move(space));
    }
    for (const ReplaySpace& space : spaces) describe(space);
    for (const StrategyEntry* entry : chosen) {
      std::vector<ReplayResult> results;
      for (const ReplaySpace& space : spaces) results.push_back(replay(space, *entry, arguments_.options));
      if (results.size() > 1) results.push_back(together(results));
      results_.insert(results_.end(), results.begin(), results.end());
    }
    if (!arguments_.csv.empty()) write_curves();
    if (arguments_.json) {
      std::cout << document().dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    } else {
      std::cout << table();
    }
    return ExitCode::kDone;
  }

 private:
  void describe(const ReplaySpace& space) const {
    constexpr std::size_t kTellingSize = 200;
    if (space.recorded().points.size() < kTellingSize) {
      std::cerr << fmt::format(
          "redtune: warning: {}: {} configurations are too few to judge strategies by; a log of `tune` holds "
          "only what its own search chose\n",
          space.recorded().name, space.recorded().points.size());
    }
    if (arguments_.json) return;
    const Baseline& b = space.baseline();
    std::cout << fmt::format(
        "{}: {} configurations, {} failed; optimum {:.6g}, median {:.6g}; budget {} evaluations\n",
        space.recorded().name, space.recorded().points.size(), space.recorded().failures(), b.optimum(),
        b.median(), b.budget());
  }

  std::string table() const {
    TextTable table;
    std::vector<std::string> head{"strategy", "space", "score", "published"};
    for (std::size_t at : kRatioPoints) head.push_back(fmt::format("@{}", at));
    for (double share : kSpeedShares) head.push_back(fmt::format("to {:.0f} %", 100 * share));
    head.insert(head.end(), {fmt::format("95 % by {}", kRatioPoints.back()), "seconds"});
    table.row(head);
    for (const ReplayResult& r : results_) {
      std::vector<std::string> row{r.strategy, r.space, fmt::format("{:+.3f}", r.score),
                                   fmt::format("{:+.3f}", r.score_published)};
      for (double ratio : r.ratios) row.push_back(fmt::format("{:.3f}", ratio));
      for (std::size_t n : r.median_reached) row.push_back(n == 0 ? "-" : std::to_string(n));
      row.insert(row.end(), {fmt::format("{:.0f} %", 100 * r.reached[1]), fmt::format("{:.3f}", r.seconds)});
      table.row(row);
    }
    return fmt::format(
               "\n{} repeats, seeds {} to {}, {} at a time. score: 0 as random, 1 optimum at once "
               "('published' takes the\n"
               "expected rank as an index); @n: best so far / optimum after n evaluations (mean; geometric "
               "over spaces);\n"
               "to x %: evaluations to x % of the optimum's speed in the median\n\n",
               arguments_.options.repeats, arguments_.options.first_seed,
               arguments_.options.first_seed + arguments_.options.repeats - 1, arguments_.options.batch) +
           table.str();
  }

  Json document() const {
    Json list = Json::array();
    for (const ReplayResult& r : results_) {
      Json one{{"strategy", r.strategy},
               {"space", r.space},
               {"budget", r.budget},
               {"score", r.score},
               {"score_published", r.score_published}};
      for (std::size_t k = 0; k < kRatioPoints.size(); ++k) {
        one["ratio"][std::to_string(kRatioPoints[k])] = r.ratios[k];
      }
      for (std::size_t k = 0; k < kSpeedShares.size(); ++k) {
        Json& share = one["evaluations"][fmt::format("{:.0f}%", 100 * kSpeedShares[k])];
        share["median"] = r.median_reached[k] == 0 ? Json() : Json(r.median_reached[k]);
        share["reached"] = r.reached[k];
      }
      one["seconds"] = r.seconds;
      list.push_back(one);
    }
    return {{"repeats", arguments_.options.repeats}, {"results", list}};
  }

  void write_curves() const {
    std::string text = "strategy,space,evaluation,performance,performance_published\n";
    for (const ReplayResult& r : results_) {
      std::string space = r.space;
      for (char& c : space) c = c == '"' ? '\'' : c;
      for (std::size_t m = 0; m < r.curve.size(); ++m) {
        text += fmt::format("{},\"{}\",{},{:.6g},{:.6g}\n", r.strategy, space, m + 1, r.curve[m],
                            r.curve_published[m]);
      }
    }
    make_directories(arguments_.csv);
    write_file_atomically((std::filesystem::path(arguments_.csv) / "curves.csv").string(), text);
  }

  ReplayArguments& arguments_;
  std::vector<ReplayResult> results_;
};

}  // namespace

VerbAction declare_replay(CLI::App& app) {
  const auto arguments = std::make_shared<ReplayArguments>();
  ReplayArguments& a = *arguments;
  app.add_option("FILE", a.files, "redtune logs, Kernel Tuner cachefiles or T4 files, plain or gzip")
      ->required();
  app.add_option("--strategy", a.strategy, "one or several, separated by commas, or all (default all)");
  app.add_option("--repeats", a.options.repeats, "runs with seeds of their own (default 50)");
  app.add_option("--seed", a.options.first_seed, "seed of the first run (default 1)");
  app.add_option("--batch", a.options.batch, "configurations that a strategy proposes at once (default 1)");
  app.add_option("--csv", a.csv, "directory for curves.csv: performance per evaluation");
  app.add_flag("--json", a.json, "one JSON document on stdout");
  return [arguments] { return ReplayVerb(*arguments).run(); };
}

}  // namespace redtune
