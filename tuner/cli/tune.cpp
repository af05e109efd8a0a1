#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cost_model/learned_model.h"
#include "space/operator_key.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/explain_report.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/terminal.h"
#include "tuner/cli/tune_report.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct TuneArguments {
  OperatorArguments operators;
  TuneOptions options;
  std::string device, mapping, only, time, trials = "64", patience, log;
  bool json = false, hot = false, explain = false;
};

std::string strategy_help() {
  std::string text = "how to search:";
  for (const StrategyEntry& entry : strategies()) {
    text +=
        (text.back() == ':' ? " " : "; ") + std::string(entry.name) + " (" + std::string(entry.summary) + ")";
  }
  return text;
}

class TuneVerb {
 public:
  explicit TuneVerb(TuneArguments& arguments)
      : arguments_(arguments), out_(arguments.json ? std::cerr : std::cout) {}

  ExitCode run() {
    const std::vector<Operator> operators = arguments_.operators.read();
    prepare();
    const DeviceInfo device = pick_device(arguments_.device);
    const std::atomic<bool>& stop = stop_on_signals();
    ExitCode code = ExitCode::kDone;
    for (const Operator& op : operators) {
      if (stop) break;
      if (&op != &operators.front()) out_ << "\n";
      const ExitCode one = tune_one(op, device, stop, operators.size() > 1);
      if (code == ExitCode::kDone) code = one;
    }
    if (arguments_.json) {
      Json document = Json::object();
      document["results"] = results_;
      std::cout << document.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    }
    return code;
  }

 private:
  void prepare() {
    TuneOptions& options = arguments_.options;
    find_strategy(options.strategy);
    options.filter = filter_of(arguments_.mapping, arguments_.only);
    if (!options.model_path.empty()) LearnedModel::load(options.model_path);  // before anything is measured
    options.max_trials = static_cast<std::size_t>(parse_count(arguments_.trials, "--trials"));
    if (!arguments_.patience.empty()) {
      options.patience = static_cast<std::size_t>(parse_count(arguments_.patience, "--patience"));
    }
    if (!arguments_.time.empty()) options.max_seconds = parse_duration(arguments_.time, "--time");
    options.measure.cold = !arguments_.hot;
    options.command_line = command_line();
  }

  ExitCode tune_one(const Operator& op, const DeviceInfo& device, const std::atomic<bool>& stop,
                    bool several) {
    TuneOptions options = arguments_.options;
    options.log_path =
        arguments_.log.empty() ? "redtune-out/" + operator_slug(op) + ".jsonl" : arguments_.log;
    ProgressLine line;
    try {
      const TuneResult result = tune(
          op, device, options, [&](const Progress& progress) { line.show(progress); }, stop,
          [&](const TuneStart& start) { out_ << tune_header(start, device) << std::flush; });
      line.clear();
      for (const std::string& warning : result.warnings) std::cerr << "redtune: warning: " << warning << "\n";
      out_ << tune_report(result) << std::flush;
      results_.push_back(tune_json(result));
      if (arguments_.explain && result.best) {
        const RunExplanation explanation = explain_run(result);
        out_ << "\n" << explain_text(explanation) << std::flush;
        results_.back()["explanation"] = explain_json(explanation);
      }
      return result.best ? ExitCode::kDone : ExitCode::kStoppedEarly;
    } catch (const NoValidSchedule& error) {
      line.clear();
      if (!several) throw;
      return hopeless(op, error, ExitCode::kNoValidSchedule);
    } catch (const UserError& error) {
      line.clear();
      if (!several) throw;
      return hopeless(op, error, ExitCode::kUsage);
    }
  }

  // One of several operators that cannot be tuned (no schedule, too large) does not take the others down.
  ExitCode hopeless(const Operator& op, const std::exception& error, ExitCode code) {
    std::cerr << "redtune: " << error.what() << "\n";
    results_.push_back({{"operator", op.key()}, {"error", error.what()}});
    return code;
  }

  TuneArguments& arguments_;
  std::ostream& out_;
  Json results_ = Json::array();
};

}  // namespace

VerbAction declare_tune(CLI::App& app) {
  const auto arguments = std::make_shared<TuneArguments>();
  TuneArguments& a = *arguments;
  a.options.config_directory = "redtune-out/configs";
  a.operators.declare(app, true);
  app.add_option("--device", a.device,
                 "device to tune on, as `redtune devices` names it (default: the best)");
  app.add_option("--trials", a.trials, "schedules to try for each operator, those in the log included (default 64)");
  app.add_option("--time", a.time, "time limit for each operator, as 90s or 15m");
  app.add_option("--patience", a.patience, "end after N trials in a row without a new best (default: never)")
      ->option_text("N");
  app.add_option("--strategy", a.options.strategy, strategy_help());
  app.add_option("--model", a.options.model_path,
                 "model of `redtune train` that guesses before anything is measured (default: analytic)");
  app.add_option("--seed", a.options.seed, "seed of the search (default 1)");
  app.add_option("--mapping", a.mapping, "only these: tree, atomic, hybrid, a combine, or block+grid");
  app.add_option("--only", a.only, "only these sizes, as \"vec=4|16 rows=1 walk=chunked\"");
  app.add_option("--log", a.log,
                 "log file (default redtune-out/OPERATOR.jsonl); what it holds is not repeated");
  app.add_option("--configs", a.options.config_directory, "config store (default redtune-out/configs)");
  app.add_flag("--explain", a.explain, "say at the end why the winner won");
  app.add_flag("--hot", a.hot, "time with warm caches instead of cold ones");
  app.add_flag("--retry-crashed", a.options.retry_crashed, "try again what an earlier run died on");
  app.add_flag("--force", a.options.force_log,
               "move a log file that is not redtune's aside instead of refusing");
  app.add_flag("--json", a.json, "one JSON document on stdout, the rest on stderr");
  return [arguments] { return TuneVerb(*arguments).run(); };
}

}  // namespace redtune
