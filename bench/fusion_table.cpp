// Fused and tuned beside a tuned kernel per statement: what fusion is worth. Both compute the same outputs of
// the same inputs, temporaries through memory in the second, and are timed as a whole in turns.
//
//     bench_fusion_table FILE... [--trials 16] [--rounds 5] [--md]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>

#include "space/graph.h"
#include "space/operator_key.h"
#include "support/error.h"
#include "support/stats.h"
#include "support/text.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/terminal.h"
#include "tuner/tuning.h"

namespace redtune {
namespace {

struct Settings {
  std::vector<std::string> files;
  TuneOptions tuning;
  std::string device = "cpu", log_directory = "redtune-out/fusion";
  int rounds = 5;
  bool markdown = false;
};

struct Row {
  std::string title;
  std::size_t statements = 0, groups = 0;
  double by_default = 0, fused = 0, apart = 0;  // median seconds
};

// One statement as an operator of its own: what it reads are inputs.
Operator alone(const Graph& graph, const GraphStatement& statement) {
  Graph one;
  for (const GraphNode& node : statement.nodes) {
    if (node.kind == GraphNode::Kind::kAccess && one.find(node.tensor) == nullptr) {
      one.inputs.push_back(*graph.find(node.tensor));
    }
  }
  one.statements = {statement};
  one.outputs = {statement.result.name};
  return operator_of(std::move(one));
}

TuneResult tuned(const Operator& op, const DeviceInfo& device, const Settings& settings,
                 const std::atomic<bool>& stop) {
  TuneOptions options = settings.tuning;
  options.log_path = settings.log_directory + "/" + operator_slug(op) + ".jsonl";
  ProgressLine line;
  TuneResult result = tune(
      op, device, options, [&](const Progress& progress) { line.show(progress); }, stop);
  line.clear();
  if (!result.best) throw NoValidSchedule("stopped before " + op.title() + " had a schedule");
  return result;
}

// The program of a kernel per statement, each with the best schedule that its own search found.
Candidate tuned_apart(const Task& task, const DeviceInfo& device, const Settings& settings,
                      const std::atomic<bool>& stop) {
  auto schedules = std::make_shared<std::vector<Schedule>>(*task.group_schedules);
  for (std::size_t g = 0; g < task.groups->size(); ++g) {
    const FusedGroup& group = *(*task.groups)[g].fused;
    const FusedStore& store =
        group.body_stores.empty() ? group.tail_stores.front() : group.body_stores.front();
    const std::string& name = group.accesses[static_cast<std::size_t>(store.access)].tensor;
    const Operator op = alone(*task.op.graph, *task.op.graph->statement_of(name));
    if (op.inputs.empty()) continue;
    const TuneResult result = tuned(op, device, settings, stop);
    (*schedules)[g] = result.trials[*result.best].schedule;
  }
  Task whole = task;
  whole.group_schedules = schedules;
  const Schedule main = (*schedules)[whole.main_group];
  return {main, generate_program(whole, main).program};
}

void sample(Evaluator& evaluator, std::span<const Candidate> candidates,
            std::vector<std::vector<double>>& seconds) {
  const auto done = [&](std::size_t index, const Outcome& outcome) {
    if (!outcome.timed()) {
      throw UserError(candidates[index].schedule.text() + ": " + std::string(name(outcome.kind)) + ": " +
                      outcome.detail);
    }
    seconds[index].insert(seconds[index].end(), outcome.seconds.begin(), outcome.seconds.end());
  };
  evaluator.evaluate(candidates, {.starting = {}, .done = done, .stop = {}});
}

Row measure(const Operator& op, const DeviceInfo& device, const Settings& settings,
            const std::atomic<bool>& stop) {
  const TuneResult result = tuned(op, device, settings, stop);
  const Task apart = make_unfused_task(op, device.target);
  const Schedule best = result.trials[*result.best].schedule;
  const std::vector<Candidate> fused{
      {result.default_schedule, generate_program(result.task, result.default_schedule).program},
      {best, generate_program(result.task, best).program}};
  const std::vector<Candidate> unfused{tuned_apart(apart, device, settings, stop)};
  MeasureOptions options = settings.tuning.measure;
  options.min_samples = options.max_samples = 3;
  const std::unique_ptr<Evaluator> first = make_device_evaluator(device, result.task, options);
  const std::unique_ptr<Evaluator> second = make_device_evaluator(device, apart, options);
  std::vector<std::vector<double>> fused_seconds(2), unfused_seconds(1);
  for (int round = 0; round < settings.rounds && (round == 0 || !stop); ++round) {
    sample(*first, fused, fused_seconds);
    sample(*second, unfused, unfused_seconds);
  }
  Row row;
  row.title = op.title();
  row.statements = apart.groups->size();
  row.groups = result.task.groups->size();
  row.by_default = median(fused_seconds[0]);
  row.fused = median(fused_seconds[1]);
  row.apart = median(unfused_seconds[0]);
  return row;
}

std::string times(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string table_of(const std::vector<Row>& rows, bool markdown) {
  const std::vector<std::string> header{
      "sub-graph", "statements", "fused kernels", "default", "fused", "a kernel per statement", "ratio"};
  TextTable table;
  std::string text =
      "| " + join(header, " | ") + " |\n|---|" + std::string("---:|---:|---:|---:|---:|---:|\n");
  table.row(header);
  for (const Row& row : rows) {
    const std::vector<std::string> cells{row.title,
                                         std::to_string(row.statements),
                                         std::to_string(row.groups),
                                         format_seconds(row.by_default),
                                         format_seconds(row.fused),
                                         format_seconds(row.apart),
                                         times(row.apart / row.fused)};
    table.row(cells);
    text += "| " + join(cells, " | ") + " |\n";
  }
  return markdown ? text : table.str();
}

int run(const Settings& settings) {
  const DeviceInfo device = pick_device(settings.device);
  const std::atomic<bool>& stop = stop_on_signals();
  std::filesystem::create_directories(settings.log_directory);
  std::vector<Row> rows;
  for (const std::string& file : settings.files) {
    if (stop) break;
    try {
      Operator op = read_operator_file(file);
      if (!op.graph) throw UserError("is one reduction: nothing is fused");
      op.name = std::filesystem::path(file).stem().string();
      rows.push_back(measure(op, device, settings, stop));
      std::cerr << rows.back().title << ": " << times(rows.back().apart / rows.back().fused) << "\n";
    } catch (const std::exception& error) {
      std::cerr << file << " is left out: " << error.what() << "\n";
    }
  }
  if (rows.empty()) {
    std::cerr << "nothing was measured\n";
    return static_cast<int>(stop ? ExitCode::kStoppedEarly : ExitCode::kUsage);
  }
  std::vector<double> ratios;
  for (const Row& row : rows) ratios.push_back(row.apart / row.fused);
  std::cout << device.name << ", " << settings.tuning.max_trials << " trials (" << settings.tuning.strategy
            << ") for each kernel, cold inputs, medians of " << settings.rounds * 3 << " samples in turns\n\n"
            << table_of(rows, settings.markdown) << "\na kernel per statement/fused, time: geometric mean "
            << times(geometric_mean(ratios)) << " (" << rows.size() << " sub-graphs)\n";
  return 0;
}

}  // namespace
}  // namespace redtune

int main(int argc, char** argv) {
  CLI::App app{"Fused sub-graphs beside a kernel per statement, both tuned"};
  redtune::Settings settings;
  settings.tuning.command_line = "bench_fusion_table";
  settings.tuning.max_trials = 16;
  app.add_option("files", settings.files, "operator files, MindSpore sub-graphs")->required();
  app.add_option("--trials", settings.tuning.max_trials, "schedules to try per kernel (default 16)");
  app.add_option("--strategy", settings.tuning.strategy, "how to search (default bayes)");
  app.add_option("--rounds", settings.rounds, "turns of 3 samples each (default 5)")
      ->check(CLI::PositiveNumber);
  app.add_option("--device", settings.device, "device to tune on (default cpu)");
  app.add_option("--log-dir", settings.log_directory, "logs to resume from (default redtune-out/fusion)");
  app.add_flag("--md", settings.markdown, "a Markdown table");
  CLI11_PARSE(app, argc, argv);
  try {
    return redtune::run(settings);
  } catch (const std::exception& error) {
    std::cerr << "bench_fusion_table: " << error.what() << "\n";
    return 1;
  }
}
