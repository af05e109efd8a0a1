#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "codegen/codegen.h"
#include "configs/config_index.h"
#include "measure/input_patterns.h"
#include "space/heuristic.h"
#include "space/mappings.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/tensor_io.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct RunArguments {
  OperatorArguments operators;
  std::string device, schedule, configs, grade = "exact", mapping, input, output, pattern;
  std::uint64_t seed = 1;
  bool json = false;
};

// "in=file.npy" -> "file.npy"; the name must be that of the tensor, or the letter that stands for it in the
// short form, which names none. The equals sign of a path alone is not one.
std::string file_of(const std::string& text, const std::string& tensor, const std::string& letter,
                    const std::string& option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.find('/') < equals) return text;
  const std::string given = text.substr(0, equals);
  if (given == tensor || given == letter) return text.substr(equals + 1);
  throw UserError(option + ": " + unknown_word_message("tensor", given, {tensor, letter}));
}

std::string pattern_names() {
  std::vector<std::string> names;
  for (const InputPattern& pattern : input_patterns()) names.emplace_back(pattern.name);
  return join(names, ", ");
}

Schedule schedule_for(const RunArguments& arguments, const SearchSpace& space, const DeviceInfo& device) {
  if (!arguments.schedule.empty()) return legal_schedule(space, arguments.schedule);
  if (arguments.configs.empty()) return default_in(space);
  LookupOptions options;
  options.lowest = parse_grade(arguments.grade);
  const ConfigIndex index = ConfigIndex::load(arguments.configs);
  for (const std::string& problem : index.problems()) std::cerr << "redtune: warning: " << problem << "\n";
  std::string refused;
  options.refuse = [&](const Config& config) {
    const auto rejection = space.why_not(config.schedule);
    if (!rejection) return std::string();
    const std::string why = rejection->constraint + ": " + rejection->detail;
    refused = "; its schedule is not in the space (" + why + ")";
    return why;
  };
  const Answer answer = index.find(space.task().op, device.name, options);
  if (answer.config) {
    if (answer.grade != Grade::kExact) {
      std::cerr << "redtune: warning: " << name(answer.grade) << ": " << answer.note << "\n";
    }
    return answer.config->schedule;
  }
  if (options.lowest < Grade::kDefault) {
    throw NoValidSchedule(arguments.configs + ": no config for " + space.task().op.key() + " on " + device.name + refused +
                    "; `redtune best --configs " + arguments.configs +
                    "` lists what there is, and --grade takes less than an exact one");
  }
  std::cerr << "redtune: warning: " << answer.note << "\n";
  return default_in(space);
}

void print_people(const Task& task, const Schedule& schedule, const Outcome& outcome,
                  const std::vector<unsigned char>& bytes) {
  const Tensor& out = task.op.output();
  const auto item = static_cast<std::size_t>(bytes_of(out.dtype));
  std::cout << task.op.title() << " on " << task.target.name << ", schedule \"" << schedule.text()
            << "\" (mapping " << schedule.mapping() << ")\n";
  constexpr std::size_t kValues = 8;
  std::vector<std::string> values;
  for (std::size_t i = 0; i + item <= bytes.size() && values.size() < kValues; i += item) {
    values.push_back(element_text(out.dtype, bytes.data() + i));
  }
  const bool more = bytes.size() / item > kValues;
  std::cout << out.name << " = [" << join(values, ", ") << (more ? ", ..." : "") << "], "
            << format_count(out.elements()) << " " << name(out.dtype) << "\n";
  if (out.elements() == 0) return;  // nothing was launched
  std::cout << "checked against the reference: worst error " << outcome.max_error << " of its bound\n";
}

void check_outcome(const Outcome& outcome, const Schedule& schedule) {
  if (outcome.timed()) return;
  throw NoValidSchedule("schedule \"" + schedule.text() + "\": " + std::string(name(outcome.kind)) + ": " +
                        outcome.detail);
}

ExitCode run_run(const RunArguments& arguments) {
  const int ways = !arguments.schedule.empty() + !arguments.configs.empty() + !arguments.mapping.empty();
  if (ways > 1) throw UserError("give one of --schedule, --config and --mapping");
  const Operator op = arguments.operators.read_one();
  const std::string input_file = file_of(arguments.input, op.input().name, "X", "--input");
  const std::string output_file = file_of(arguments.output, op.output().name, "Y", "--output");
  const DeviceInfo device = pick_device(arguments.device);
  const Task task = make_task(op, device.target);
  const SearchSpace space(task, filter_of(arguments.mapping));
  if (!input_file.empty() && !arguments.pattern.empty()) throw UserError("give one of --input and --pattern");
  const InputPattern* pattern = arguments.pattern.empty() ? nullptr : &parse_input_pattern(arguments.pattern);
  const auto input = [&] {
    return pattern ? make_input(op, *pattern, arguments.seed) : load_input(op, input_file, arguments.seed);
  };
  const Schedule schedule = schedule_for(arguments, space, device);
  RunResult result;
  if (op.output().elements() == 0) {
    // Nothing to compute and nothing to launch.
    result.outcome.kind = OutcomeKind::kTimed;
  } else {
    MeasureOptions options;
    options.data_seed = arguments.seed;
    result = run_once(device, task, {schedule, generate(task, schedule)}, input, options);
    check_outcome(result.outcome, schedule);
  }
  if (!output_file.empty()) save_output(op, result.output, output_file);
  if (!arguments.json) {
    print_people(task, schedule, result.outcome, result.output);
    return ExitCode::kDone;
  }
  Json json = Json::object();
  json["outputs"] = {{op.output().name, tensor_json(op.output(), result.output)}};
  json["schedule"] = schedule.text();
  json["mapping"] = schedule.mapping();
  json["class"] = std::string(name(schedule.mapping_class()));
  json["determinism"] = std::string(name(determinism_of(task, schedule)));
  json["operator"] = op.key();
  json["canonical"] = task.canonical.text();
  json["device"] = device.name;
  json["max_error"] = json_number(result.outcome.max_error);
  std::cout << json.dump() << "\n";
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_run(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  RunArguments& a = *arguments;
  a.operators.declare(app, false);
  app.add_option("--device", a.device, "device to run on (default: the best)");
  app.add_option("--schedule", a.schedule, "schedule to run (default: the task's default)");
  app.add_option("--config,--configs", a.configs, "run the best schedule of this config store or file")
      ->option_text("DIR");
  app.add_option("--grade", a.grade,
                 "with --config, the lowest that serves: exact (default), in_range, nearest, other_device, default");
  app.add_option("--mapping", a.mapping, "run the schedule of this mapping that is nearest to the default");
  app.add_option("--input", a.input,
                 "values of the input (.npy); NAME is in, or X; else the operator's own, else generated")
      ->option_text("[NAME=]FILE");
  app.add_option("--pattern", a.pattern, "generate this kind of input: " + pattern_names())
      ->option_text("NAME");
  app.add_option("--output", a.output, "write the output here (.npy); NAME is out, or Y")
      ->option_text("[NAME=]FILE");
  app.add_option("--seed", a.seed, "seed of generated input (default 1)");
  app.add_flag("--json", a.json, "one JSON document with the output's values");
  return [arguments] { return run_run(*arguments); };
}

}  // namespace redtune
