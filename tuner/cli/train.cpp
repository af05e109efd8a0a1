#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "support/text.h"
#include "tuner/cli/verbs.h"
#include "tuner/training.h"

namespace redtune {
namespace {

struct TrainArguments {
  std::vector<std::string> logs;
  std::string output, objective = "regression";
  TreeOptions options;
};

ExitCode train(TrainArguments& arguments) {
  arguments.options.objective = parse_objective(arguments.objective);
  std::vector<std::string> warnings;
  const std::vector<TaskSamples> samples = samples_of_logs(arguments.logs, warnings);
  for (const std::string& warning : warnings) std::cerr << "redtune: warning: " << warning << "\n";
  TrainingReport report;
  const LearnedModel model = LearnedModel::train(samples, arguments.options, &report);
  model.save(arguments.output);
  std::cout << fmt::format("{} schedules of {} tasks, {} trees",
                           format_count(static_cast<std::int64_t>(report.rows)), report.tasks, report.rounds);
  if (report.held_out_accuracy > 0) {
    std::cout << fmt::format("; {:.1f} % of pairs in the right order on {}, held out",
                             100 * report.held_out_accuracy, report.held_out);
  }
  std::cout << "\nmodel: " << arguments.output << "\n";
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_train(CLI::App& app) {
  const auto arguments = std::make_shared<TrainArguments>();
  TrainArguments& a = *arguments;
  app.add_option("LOG", a.logs, "logs of `redtune tune`")->required();
  app.add_option("-o,--output", a.output, "file for the model")->required();
  app.add_option("--objective", a.objective, "regression or ranking (default regression)");
  app.add_option("--seed", a.options.seed, "seed of the training (default 1)");
  return [arguments] { return train(*arguments); };
}

}  // namespace redtune
