// Tuned schedules on the CPU beside the default schedule, the best of each class and an OpenMP loop: all in
// one process, in turns, every sample on input that has left the caches.
//
//     bench_cpu_table [--only TEXT] [--trials 64] [--strategy bayes] [--rounds 7] [--md]
//
// A second run resumes the tuning from its logs and measures again.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "bench/baselines/host_baseline.h"
#include "space/operator_key.h"
#include "support/error.h"
#include "support/stats.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/terminal.h"
#include "tuner/tuning.h"

namespace redtune {
namespace {

struct Shape {
  const char* text;  // brackets around reduced extents
  const char* dtype = "f32";
};

constexpr Shape kShapes[] = {
    {"[65536]"},           {"[1024,1024]"},  {"[21128,768]"},         {"768,[768]"},
    {"768,[21128]"},       {"16384,[128]"},  {"384000,[49]"},         {"[768],768"},
    {"[21128],768"},       {"[768],21128"},  {"[8192],768"},          {"[32],64,[57,57]"},
    {"[128],192,[71,71]"}, {"8000,[39],80"}, {"1024,[32768]", "f16"}, {"[32768],1024", "f16"},
};

constexpr MappingClass kClasses[] = {MappingClass::kTree, MappingClass::kAtomic, MappingClass::kHybrid};
constexpr double kLargeBytes = 16e6;
constexpr int kSamplesPerRound = 3;

struct Settings {
  TuneOptions tuning;
  std::string device = "cpu", only, log_directory = "redtune-out/bench";
  int rounds = 7, threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  bool markdown = false;
};

Operator operator_of(const Shape& shape) {
  ShortForm form;
  form.dtype = shape.dtype;
  form.out = "f32";
  bool reduced = false;
  int axis = 0;
  for (const char* c = shape.text; *c != '\0'; ++c) {
    if (*c == '[') reduced = true;
    const bool first = c == shape.text || c[-1] == ',' || c[-1] == '[';
    if (first && *c != '[') {
      if (reduced) form.axes += (form.axes.empty() ? "" : ",") + std::to_string(axis);
      ++axis;
    }
    if (*c == ']') reduced = false;
    if (*c == ',') form.shape += 'x';
    if (*c >= '0' && *c <= '9') form.shape += *c;
  }
  return operator_from_short_form(form);
}

/// Schedules by role; one that has several roles is measured once.
struct Contestants {
  std::vector<Candidate> candidates;
  std::size_t by_default = 0, tuned = 0;
  std::optional<std::size_t> best[std::size(kClasses)];

  std::size_t add(const Task& task, const Schedule& schedule) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].schedule == schedule) return i;
    }
    candidates.push_back({schedule, generate_program(task, schedule).program});
    return candidates.size() - 1;
  }
};

Contestants contestants_of(const TuneResult& result) {
  Contestants all;
  all.by_default = all.add(result.task, result.default_schedule);
  all.tuned = all.add(result.task, result.trials[*result.best].schedule);
  for (std::size_t c = 0; c < std::size(kClasses); ++c) {
    const std::optional<std::size_t> trial = result.best_of(kClasses[c]);
    if (trial) all.best[c] = all.add(result.task, result.trials[*trial].schedule);
  }
  return all;
}

struct Row {
  std::string title;
  int preempted = 0, loop_samples = 0;
  double bytes = 0, by_default = 0, tuned = 0, openmp = 0;  // median seconds
  std::optional<double> best[std::size(kClasses)];

  double against_openmp() const { return tuned / openmp; }
  double gain() const { return by_default / tuned; }
};

// One round: every candidate, then the loop.
void measure_round(Evaluator& evaluator, const Contestants& all, HostContestant& loop,
                   std::vector<std::vector<double>>& device_seconds, std::vector<double>& loop_seconds,
                   int& preempted) {
  const auto done = [&](std::size_t index, const Outcome& outcome) {
    if (!outcome.timed()) {
      throw UserError(all.candidates[index].schedule.text() + ": " + std::string(name(outcome.kind)) + ": " +
                      outcome.detail);
    }
    std::vector<double>& seconds = device_seconds[index];
    seconds.insert(seconds.end(), outcome.seconds.begin(), outcome.seconds.end());
  };
  evaluator.evaluate(all.candidates, {.starting = {}, .done = done, .stop = {}});
  loop.sample();  // a warm-up, as the device has one
  for (int i = 0; i < kSamplesPerRound; ++i) {
    loop_seconds.push_back(loop.sample());
    preempted += loop.preempted() ? 1 : 0;
  }
  wait_for_sleeping_team();
}

Row measure(const TuneResult& result, const Settings& settings, const std::atomic<bool>& stop) {
  const Contestants all = contestants_of(result);
  MeasureOptions options = settings.tuning.measure;
  options.min_samples = options.max_samples = kSamplesPerRound;
  HostContestant loop(find_host_baseline("openmp"), result.task, options.data_seed, options.cold,
                      settings.threads);
  wait_for_sleeping_team();
  const std::unique_ptr<Evaluator> evaluator = make_device_evaluator(result.device, result.task, options);
  std::vector<std::vector<double>> device_seconds(all.candidates.size());
  std::vector<double> loop_seconds;
  Row row;
  for (int round = 0; round < settings.rounds && (round == 0 || !stop); ++round) {
    measure_round(*evaluator, all, loop, device_seconds, loop_seconds, row.preempted);
  }
  row.title = result.task.op.title();
  row.bytes = result.task.compulsory_bytes();
  row.by_default = median(device_seconds[all.by_default]);
  row.tuned = median(device_seconds[all.tuned]);
  row.openmp = median(loop_seconds);
  row.loop_samples = static_cast<int>(loop_seconds.size());
  for (std::size_t c = 0; c < std::size(kClasses); ++c) {
    if (all.best[c]) row.best[c] = median(device_seconds[*all.best[c]]);
  }
  return row;
}

std::optional<Row> tune_and_measure(const Operator& op, const DeviceInfo& device, const Settings& settings,
                                    const std::atomic<bool>& stop) {
  TuneOptions options = settings.tuning;
  options.log_path = settings.log_directory + "/" + operator_slug(op) + ".jsonl";
  std::cerr << op.title() << "\n";
  try {
    ProgressLine line;
    const TuneResult result = tune(
        op, device, options, [&](const Progress& progress) { line.show(progress); }, stop);
    line.clear();
    if (!result.best || stop) return std::nullopt;
    return measure(result, settings, stop);
  } catch (const NoValidSchedule& error) {
    std::cerr << op.title() << " is left out: " << error.what() << "\n";
    return std::nullopt;
  }
}

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::vector<std::string> cells(const Row& row) {
  const auto rate = [&](double seconds) { return number("%.1f", row.bytes / seconds * 1e-9); };
  std::vector<std::string> line{row.title, format_bytes(row.bytes), format_seconds(row.by_default),
                                format_seconds(row.tuned), rate(row.tuned)};
  for (const std::optional<double>& best : row.best) line.push_back(best ? format_seconds(*best) : "-");
  line.insert(line.end(), {format_seconds(row.openmp), rate(row.openmp), number("%.2f", row.against_openmp()),
                           number("%.2f", row.gain())});
  return line;
}

std::string table_of(const std::vector<Row>& rows, bool markdown) {
  const std::vector<std::string> header{"shape",  "bytes", "default",      "tuned",
                                        "GB/s",   "tree",  "atomic",       "hybrid",
                                        "OpenMP", "GB/s",  "tuned/OpenMP", "default/tuned"};
  if (!markdown) {
    TextTable table;
    table.row(header);
    for (const Row& row : rows) table.row(cells(row));
    return table.str();
  }
  const auto line = [](const std::vector<std::string>& parts) { return "| " + join(parts, " | ") + " |\n"; };
  std::vector<std::string> rule(header.size(), "---:");
  rule[0] = "---";
  std::string text = line(header) + line(rule);
  for (const Row& row : rows) text += line(cells(row));
  return text;
}

std::string summary_of(const std::vector<Row>& rows) {
  std::vector<double> large, gains;
  const Row* worst = nullptr;
  int preempted = 0, samples = 0;
  for (const Row& row : rows) {
    gains.push_back(row.gain());
    preempted += row.preempted;
    samples += row.loop_samples;
    if (row.bytes >= kLargeBytes) {
      large.push_back(row.against_openmp());
    } else if (worst == nullptr || row.against_openmp() > worst->against_openmp()) {
      worst = &row;
    }
  }
  std::string text;
  if (!large.empty()) {
    text += "tuned/OpenMP, time, from 16 MB on: geometric mean " + number("%.3f", geometric_mean(large)) +
            " (" + std::to_string(large.size()) + " shapes)\n";
  }
  if (worst != nullptr) {
    text += "tuned/OpenMP, time, below 16 MB: at most " + number("%.3f", worst->against_openmp()) + " (" +
            worst->title + ")\n";
  }
  if (!gains.empty()) {
    text += "default/tuned, time, all: geometric mean " + number("%.3f", geometric_mean(gains)) + "\n";
  }
  if (preempted * 20 > samples) {
    text += "warning: other programs ran during " + std::to_string(preempted) + " of " +
            std::to_string(samples) + " OpenMP samples: do not trust the comparison\n";
  }
  return text;
}

int run(const Settings& settings) {
  const DeviceInfo device = pick_device(settings.device);
  const std::atomic<bool>& stop = stop_on_signals();
  std::filesystem::create_directories(settings.log_directory);
  std::vector<Row> rows;
  for (const Shape& shape : kShapes) {
    const Operator op = operator_of(shape);
    if (stop || op.title().find(settings.only) == std::string::npos) continue;
    if (const std::optional<Row> row = tune_and_measure(op, device, settings, stop)) rows.push_back(*row);
  }
  if (rows.empty()) {
    std::cerr << "nothing was measured\n";
    return static_cast<int>(stop ? ExitCode::kStoppedEarly : ExitCode::kUsage);
  }
  const std::string gap = settings.markdown ? "\n" : "";
  std::cout << device.name << ", " << settings.threads << " OpenMP threads, " << settings.tuning.max_trials
            << " trials (" << settings.tuning.strategy << "), cold inputs, medians of "
            << settings.rounds * kSamplesPerRound << " samples in turns\n"
            << gap << table_of(rows, settings.markdown) << gap << summary_of(rows);
  return 0;
}

void declare(CLI::App& app, Settings& settings) {
  settings.tuning.command_line = "bench_cpu_table";
  app.add_option("--only", settings.only, "shapes whose title holds this text, as 768,[768] or f16")
      ->allow_extra_args(false);
  app.add_option("--trials", settings.tuning.max_trials, "schedules to try per shape (default 64)");
  app.add_option("--strategy", settings.tuning.strategy, "how to search (default bayes)");
  app.add_option("--rounds", settings.rounds, "turns of 3 samples each (default 7)")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", settings.threads, "threads of the OpenMP loops (default: all cores)")
      ->check(CLI::PositiveNumber);
  app.add_option("--device", settings.device, "device to tune on (default cpu)");
  app.add_option("--log-dir", settings.log_directory, "logs to resume from (default redtune-out/bench)");
  app.add_flag("--md", settings.markdown, "a Markdown table");
}

}  // namespace
}  // namespace redtune

int main(int argc, char** argv) {
  CLI::App app{"Tuned schedules on the CPU beside OpenMP loops"};
  redtune::Settings settings;
  redtune::declare(app, settings);
  CLI11_PARSE(app, argc, argv);
  try {
    return redtune::run(settings);
  } catch (const std::exception& error) {
    std::cerr << "bench_cpu_table: " << error.what() << "\n";
    return 1;
  }
}
