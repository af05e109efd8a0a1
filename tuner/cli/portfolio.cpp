#include "tuner/portfolio/portfolio.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "configs/suite.h"
#include "support/error.h"
#include "support/text.h"
#include "tuner/cli/portfolio_report.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/terminal.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct PortfolioArguments {
  PortfolioOptions options;
  std::string suite, only, device, trials = "32", time = "30s";
  std::vector<std::string> logs;
  bool hot = false, dry_run = false, leave_out = false, json = false;
};

class PortfolioVerb {
 public:
  explicit PortfolioVerb(PortfolioArguments& arguments)
      : arguments_(arguments), options_(arguments.options), out_(arguments.json ? std::cerr : std::cout) {}

  ExitCode run() {
    prepare();
    const std::vector<Operator> operators = suite_operators();
    const std::atomic<bool>& stop = stop_on_signals();
    const ExitCode code = arguments_.logs.empty() ? measure(operators, stop) : recorded(operators);
    if (arguments_.leave_out) tell_leave_out();
    if (!arguments_.json) return code;
    Json document = {{"portfolios", portfolios_}};
    if (!arguments_.dry_run) document["configs"] = store_;
    if (arguments_.leave_out) document["leave_out"] = leave_out_;
    std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    return code;
  }

 private:
  void prepare() {
    if (arguments_.suite.empty() && arguments_.logs.empty())
      throw UserError("no shapes: name a suite (docs/formats.md), or logs by --log");
    find_strategy(options_.tuning.strategy);
    options_.tuning.max_trials = static_cast<std::size_t>(parse_count(arguments_.trials, "--trials"));
    options_.tuning.max_seconds = arguments_.time == "none" ? 0 : parse_duration(arguments_.time, "--time");
    options_.tuning.measure.cold = !arguments_.hot;
    options_.tuning.command_line = command_line();
    store_ = options_.tuning.config_directory;
    if (arguments_.dry_run) options_.tuning.config_directory.clear();
  }

  std::vector<Operator> suite_operators() {
    if (options_.name.empty()) options_.name = "logs";
    if (arguments_.suite.empty()) return {};
    const Suite suite = read_suite(arguments_.suite);
    if (options_.name == "logs") options_.name = suite.name;
    std::vector<Operator> operators;
    for (const SuiteEntry& entry : suite.entries) {
      if (mentions(entry, arguments_.only)) operators.push_back(entry.op);
    }
    if (operators.empty())
      throw UserError("suite " + suite.name + ": no entry has '" + arguments_.only +
                      "' in its id, title or group");
    return operators;
  }

  ExitCode measure(const std::vector<Operator>& operators, const std::atomic<bool>& stop) {
    const std::vector<ShapeGroup> groups = group_by_kind(operators);
    const DeviceInfo device = pick_device(arguments_.device);
    const TuningParts parts = device_parts(device, options_.tuning.measure);
    ProgressLine line;
    PortfolioCallbacks callbacks;
    callbacks.starting = [&](const std::string& what, const Operator& shape, std::size_t index,
                             std::size_t count) {
      line.clear();
      std::cerr << "[" << index + 1 << "/" << count << "] " << what << " " << shape.title() << "\n";
    };
    callbacks.progress = [&](const Progress& progress) { line.show(progress); };
    ExitCode code = ExitCode::kDone;
    for (const ShapeGroup& group : groups) {
      try {
        const std::optional<Portfolio> portfolio =
            measure_portfolio(group, device, options_, parts, callbacks, stop);
        line.clear();
        if (!portfolio) {
          std::cerr << "redtune: stopped early; the same command goes on from here\n";
          return ExitCode::kStoppedEarly;
        }
        finish(*portfolio, parts);
      } catch (const NoValidSchedule& error) {
        line.clear();
        if (groups.size() == 1) throw;
        // One of several kinds that has no schedule does not take the others down.
        std::cerr << "redtune: " << error.what() << "\n";
        code = ExitCode::kNoValidSchedule;
      }
    }
    return code;
  }

  ExitCode recorded(const std::vector<Operator>& operators) {
    RecordedShapes shapes = read_recorded_shapes(arguments_.logs, operators, arguments_.device);
    for (const std::string& warning : shapes.warnings) std::cerr << "redtune: warning: " << warning << "\n";
    TuningParts parts;
    parts.generate = generate_program;
    for (auto& [kind, measured] : shapes.kinds) {
      std::vector<std::vector<Schedule>> candidates;
      for (const MeasuredShape& shape : measured)
        candidates.push_back(best_schedules(shape.result, options_.candidates));
      finish(choose_portfolio(kind, std::move(measured), candidates, options_.kernels), parts);
    }
    return ExitCode::kDone;
  }

  // Prints and keeps one portfolio.
  void finish(const Portfolio& portfolio, const TuningParts& parts) {
    out_ << (portfolios_.empty() ? "" : "\n") << portfolio_text(portfolio) << std::flush;
    portfolios_.push_back(portfolio_json(portfolio));
    if (arguments_.leave_out) {
      const std::vector<LeftOutShape> rows = leave_each_out(portfolio.table, options_.kernels);
      if (!rows.empty()) out_ << leave_out_text(portfolio.table, rows);
      portfolios_.back()["leave_out"] = leave_out_json(portfolio.table, rows);
      left_out_.insert(left_out_.end(), rows.begin(), rows.end());
    }
    if (arguments_.dry_run) return;
    const std::string path =
        ConfigStore(store_).put_portfolio(portfolio_configs(portfolio, options_.name, store_, parts));
    out_ << "configs " << path << "\n";
    portfolios_.back()["config"] = path;
  }

  void tell_leave_out() {
    out_ << "\n" << leave_out_summary(left_out_, options_.kernels);
    for (const auto& [label, answer] :
         {std::pair("nearest", &LeftOutShape::nearest), std::pair("portfolio", &LeftOutShape::portfolio)})
      leave_out_[label] = summary_json(summary_of(left_out_, answer));
  }

  PortfolioArguments& arguments_;
  PortfolioOptions& options_;
  std::ostream& out_;
  std::string store_;
  std::vector<LeftOutShape> left_out_;
  Json portfolios_ = Json::array(), leave_out_ = Json::object();
};

}  // namespace

VerbAction declare_portfolio(CLI::App& app) {
  const auto arguments = std::make_shared<PortfolioArguments>();
  PortfolioArguments& a = *arguments;
  PortfolioOptions& o = a.options;
  o.directory = "redtune-out/portfolio";
  o.tuning.config_directory = "redtune-out/configs";
  app.add_option("suite", a.suite,
                 "a shipped suite or a file (docs/formats.md) of the shapes; each kind of operator in it "
                 "gets a portfolio");
  app.add_option("--kernels", o.kernels, "schedules of each portfolio, at most (default 4)")
      ->check(CLI::PositiveNumber);
  app.add_option("--only", a.only, "shapes whose id, title or group holds this text")
      ->allow_extra_args(false);
  app.add_option("--candidates", o.candidates,
                 "best schedules of each shape that are tried on all shapes (default 3)")
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", o.rounds, "turns in which the candidates are measured on each shape (default 3)")
      ->check(CLI::PositiveNumber);
  app.add_option("--log", a.logs,
                 "measure nothing: choose by these logs, of the suite's shapes or of all that they hold; a "
                 "schedule serves no "
                 "shape where the logs have no time of it")
      ->option_text("FILE");
  app.add_option(
      "--device", a.device,
      "device to measure on (default: the best); with --log, only devices whose name holds this text");
  app.add_option("--trials", a.trials, "schedules to try per shape (default 32)");
  app.add_option("--time", a.time, "time limit of the search of each shape (default 30s; none: no limit)");
  app.add_option("--strategy", o.tuning.strategy, "how to search, as in tune");
  app.add_option("--seed", o.tuning.seed, "seed of the search (default 1)");
  app.add_option("--name", o.name,
                 "name of the portfolio in the store, where it replaces one of that name (default: that of "
                 "the suite, or logs)");
  app.add_option("--log-dir", o.directory, "logs to resume from (default redtune-out/portfolio)");
  app.add_option("--configs", o.tuning.config_directory, "config store (default redtune-out/configs)")
      ->option_text("DIR");
  app.add_flag("--leave-out", a.leave_out,
               "also tell what each shape would lose without itself: by the nearest config and by a "
               "portfolio of the others");
  app.add_flag("--hot", a.hot, "time with warm caches instead of cold ones");
  app.add_flag("--dry-run", a.dry_run, "write no configs");
  app.add_flag("--json", a.json, "one JSON document on stdout, the rest on stderr");
  return [arguments] { return PortfolioVerb(*arguments).run(); };
}

}  // namespace redtune
