#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>

#include "codegen/codegen.h"
#include "space/graph.h"
#include "space/heuristic.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/verbs.h"
#include "tuner/cli/verify_configs.h"
#include "tuner/cli/verify_options.h"
#include "tuner/verification.h"

namespace redtune {
namespace {

struct VerifyVerbArguments {
  OperatorArguments operators;
  VerifyArguments how;
  std::string mapping;
  std::size_t sample = 4;
  bool all = false, json = false;
  VerifyConfigsArguments configs;
};

std::string pattern_names(const Operator& op) {
  std::vector<std::string> names;
  for (const InputPattern& pattern : input_patterns()) {
    if (applies(pattern, op)) names.emplace_back(pattern.name);
  }
  return join(names, ", ");
}

std::int64_t reductions_of(const Operator& op) {
  if (!op.graph) return 1;
  return std::count_if(op.graph->statements.begin(), op.graph->statements.end(), [](const GraphStatement& s) { return s.reduce.has_value(); });
}

struct Verified {
  VerifyTally tally;
  std::size_t chosen = 0;
  double seconds = 0;
  bool stopped = false;
};

Verified verify_one(Verifier& verifier, const Task& task, const VerifyVerbArguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  const std::atomic<bool>& stop = stop_on_signals();
  Rng rng(arguments.how.seed());
  const SearchSpace space(task, filter_of(arguments.mapping));
  space.need_schedules();
  const std::vector<Schedule> schedules = schedules_by_mapping(
      space, arguments.all ? std::nullopt : std::optional<std::size_t>(arguments.sample), rng);
  Verified verified{VerifyTally(arguments.how.seed()), schedules.size()};
  verifier.verify(
      task, schedules,
      [&](const ScheduleVerdict& verdict) { verified.tally.add(task, schedules[verdict.index], verdict); },
      [&] { return stop.load(); });
  verified.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  verified.stopped = stop;
  return verified;
}

void print(const Task& task, const std::string& device, const Verified& verified, std::uint64_t seed) {
  constexpr std::size_t kShown = 10;
  const MappingTally total = verified.tally.total();
  std::cout << "operator " << task.op.title() << "  (" << task.op.key() << ")\n"
            << "device   " << device << "\n"
            << "inputs   " << pattern_names(task.op) << " (seed " << seed << ")\n"
            << verified.tally.table() << verified.tally.failure_text(kShown)
            << fmt::format("{} of {} schedules checked in {}, {:.0f} a minute\n", total.schedules,
                           verified.chosen, format_seconds(verified.seconds),
                           60.0 * static_cast<double>(total.schedules) / std::max(verified.seconds, 1e-9));
}

ExitCode run_verify(const VerifyVerbArguments& arguments) {
  if (arguments.sample == 0) throw UserError("--sample 0 checks nothing; give 1 or more, or --all-schedules");
  if (arguments.all && arguments.sample != VerifyVerbArguments{}.sample) {
    throw UserError("give one of --all-schedules and --sample");
  }
  if (!arguments.configs.directory.empty()) {
    if (arguments.all || !arguments.mapping.empty())
      throw UserError("--configs checks the schedules that are stored: without --all-schedules and --mapping");
    VerifyConfigsArguments configs = arguments.configs;
    configs.json = arguments.json;
    return verify_configs(configs, arguments.operators, arguments.how);
  }
  const std::vector<Operator> operators = arguments.operators.read();
  const DeviceInfo device = arguments.how.pick();
  Verifier verifier(device, arguments.how.options());
  Json results = Json::array();
  bool good = true, stopped = false;
  for (const Operator& op : operators) {
    const Task task = make_task(op, device.target);
    const Verified verified = verify_one(verifier, task, arguments);
    good = good && verified.tally.failures().empty();
    stopped = verified.stopped;
    if (!arguments.json) print(task, arguments.how.device_text(device), verified, arguments.how.seed());
    Json json = verified.tally.json();
    json["operator"] = op.key();
    json["groups"] = task.groups ? task.groups->size() : 1;
    json["kernels"] = generate(task, default_schedule(task)).launches.size();
    json["reductions"] = reductions_of(op);
    json["device"] = arguments.how.device_text(device);
    json["seed"] = arguments.how.seed();
    json["seconds"] = verified.seconds;
    results.push_back(std::move(json));
    if (stopped) break;
  }
  if (arguments.json) std::cout << Json{{"results", results}}.dump(2) << "\n";
  if (!good) return ExitCode::kInternal;  // a legal schedule that is wrong is a bug of redtune
  return stopped ? ExitCode::kStoppedEarly : ExitCode::kDone;
}

}  // namespace

VerbAction declare_verify(CLI::App& app) {
  const auto arguments = std::make_shared<VerifyVerbArguments>();
  VerifyVerbArguments& a = *arguments;
  a.operators.declare(app, true);
  app.add_flag("--all-schedules", a.all, "every schedule of the space");
  app.add_option("--sample", a.sample, "N schedules of each mapping, drawn by the seed (default 4)")
      ->option_text("N");
  app.add_option("--mapping", a.mapping, "only these: tree, atomic, hybrid, a combine, or block+grid");
  app.add_option("--configs", a.configs.directory,
                 "check the configs of this store instead: numbers and times; exit code 3 when one no longer holds")
      ->option_text("DIR");
  app.add_option("--tolerance", a.configs.tolerance,
                 "with --configs: share beyond the stored interval that counts as slower (default 0.1)");
  app.add_flag("--numbers-only", a.configs.numbers_only, "with --configs: no times");
  app.add_flag("--transfers", a.configs.transfers,
               "with --configs: measure what each config's nearest neighbour would lose in its place, and keep it");
  a.how.declare(app);
  app.add_flag("--json", a.json, "one JSON document");
  return [arguments] { return run_verify(*arguments); };
}

}  // namespace redtune
