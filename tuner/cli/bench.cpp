#include "tuner/bench/bench.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <thread>

#include "support/files.h"
#include "support/text.h"
#include "tuner/bench/baseline_process.h"
#include "tuner/bench/bench_table.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/terminal.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct BenchArguments {
  BenchOptions options;
  std::string suite, device, baselines, format = "table", output, trials = "64", time = "30s", memory;
  std::string directory = "redtune-out/bench";
  bool list = false, hot = false;
};

int cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

void print_suites() {
  TextTable table;
  table.row({"suite", "rows", "holds"});
  for (const std::string& name : known_suites()) {
    const Suite suite = read_suite(name);
    const std::string first = suite.summary.substr(0, suite.summary.find(". "));
    table.row({name, std::to_string(suite.entries.size()), first});
  }
  std::cout << table.str();
}

void print_plan(const Suite& suite, const BenchOptions& options) {
  std::cout << suite.name << ": " << suite.summary << "\n\n";
  TextTable table;
  table.row({"row", "operator", "input", "made smaller"});
  for (const PlannedRow& row : plan_rows(suite, options)) {
    table.row({row.entry->id, row.op.key(), format_bytes(input_layout(row.op).bytes), row.scaled});
  }
  std::cout << table.str();
}

void prepare(BenchArguments& arguments) {
  BenchOptions& options = arguments.options;
  find_strategy(options.tuning.strategy);
  check_bench_format(arguments.format);
  options.tuning.max_trials = static_cast<std::size_t>(parse_count(arguments.trials, "--trials"));
  options.tuning.max_seconds = arguments.time == "none" ? 0 : parse_duration(arguments.time, "--time");
  options.tuning.command_line = command_line();
  options.tuning.measure.cold = !arguments.hot;
  options.directory = arguments.directory;
  if (!arguments.memory.empty()) {
    options.memory_bytes = static_cast<double>(parse_count(arguments.memory, "--memory"));
  }
  for (const std::string& word : split(arguments.baselines, ',')) {
    const std::string name = trim(word);
    if (name.empty() || name == "none") continue;
    check_baseline_name(name);
    options.baselines.push_back(name);
  }
}

ExitCode measure(const BenchArguments& arguments, const Suite& suite, BenchOptions options) {
  const DeviceInfo device = pick_device(arguments.device);
  if (arguments.baselines.empty()) options.baselines = usual_baselines(device);
  const std::atomic<bool>& stop = stop_on_signals();
  ProgressLine line;
  std::size_t resumed = 0;
  BenchCallbacks callbacks;
  callbacks.starting = [&](const PlannedRow& row, std::size_t index, std::size_t count) {
    line.clear();
    std::cerr << "[" << index + 1 << "/" << count << "] " << row.entry->id
              << (row.scaled.empty() ? "" : ", made smaller: " + row.scaled) << "\n";
  };
  callbacks.progress = [&](const Progress& progress) { line.show(progress); };
  callbacks.done = [&](const BenchRow& row, bool held) {
    line.clear();
    resumed += held ? 1 : 0;
    if (!row.ok()) std::cerr << row.id << ": " << row.error << "\n";
  };
  const BenchResult result = bench(suite, device, options, callbacks, stop);
  line.clear();
  for (const std::string& warning : result.warnings) std::cerr << "redtune: warning: " << warning << "\n";
  if (resumed > 0) std::cerr << resumed << " rows taken from earlier results\n";
  if (result.rows.empty()) {
    std::cerr << "redtune: nothing was measured\n";
    return stop ? ExitCode::kStoppedEarly : ExitCode::kNoValidSchedule;
  }
  if (stop) std::cerr << "stopped early; the same command goes on from here\n";
  const std::string text = format_bench(result, arguments.format);
  if (arguments.output.empty()) {
    std::cout << text;
  } else {
    write_file_atomically(arguments.output, text);
    std::cerr << "written: " << arguments.output << "\n";
  }
  return ExitCode::kDone;
}

ExitCode run_bench(BenchArguments& arguments) {
  if (arguments.suite.empty()) {
    print_suites();
    return ExitCode::kDone;
  }
  prepare(arguments);
  const Suite suite = read_suite(arguments.suite);
  if (arguments.list) {
    print_plan(suite, arguments.options);
    return ExitCode::kDone;
  }
  return measure(arguments, suite, arguments.options);
}

std::string baselines_help() {
  std::string text =
      "what stands beside the tuned schedule, with commas: default; no_atomic (best tree of the same "
      "search); "
      "naive_atomic (every thread adds to the output); best_MAPPING (any word of tune --mapping)";
  for (const ProgramBaseline& row : program_baselines()) {
    text += "; " + std::string(row.name) + " (" + std::string(row.summary) + ")";
  }
  return text + "; none. Default: all that fit the device and are built";
}

}  // namespace

VerbAction declare_bench(CLI::App& app) {
  const auto arguments = std::make_shared<BenchArguments>();
  BenchArguments& a = *arguments;
  a.options.threads = cores();
  app.add_option("suite", a.suite,
                 "a shipped suite or a file (docs/formats.md); missing: lists the shipped ones");
  app.add_option("--baselines", a.baselines, baselines_help());
  app.add_option("--format", a.format, "table (default), md, csv, json");
  app.add_option("-o,--output", a.output, "file for the result (default: stdout)");
  app.add_option("--only", a.options.only, "rows whose id, title or group holds this text")
      ->allow_extra_args(false);
  app.add_flag("--list", a.list, "print the rows as they would be measured, and measure nothing");
  app.add_option("--device", a.device, "device to measure on (default: the best)");
  app.add_option("--trials", a.trials, "schedules to try per row (default 64)");
  app.add_option("--time", a.time, "time limit of the search of each row (default 30s; none: no limit)");
  app.add_option("--strategy", a.options.tuning.strategy, "how to search, as in tune");
  app.add_option("--seed", a.options.tuning.seed, "seed of the search (default 1)");
  app.add_option("--rounds", a.options.rounds, "turns of 3 samples each (default 7)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--threads", a.options.threads, "threads of baselines on the CPU (default: all cores)")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--memory", a.memory, "bytes that a row may use, as 4Gi (default: 4/5 of what is free)");
  app.add_option("--peak-trials", a.options.peak_trials,
                 "schedules to try to find the device's read rate (default 32; 0: no share of peak)");
  app.add_option("--log-dir", a.directory, "logs and results to resume from (default redtune-out/bench)");
  app.add_flag("--hot", a.hot, "time with warm caches instead of cold ones");
  app.add_flag("--fresh", a.options.fresh, "measure rows again that the results hold");
  return [arguments] { return run_bench(*arguments); };
}

}  // namespace redtune
