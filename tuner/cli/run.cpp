#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
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
  std::string device, schedule, configs, grade = "exact", mapping, pattern;
  std::vector<std::string> inputs, outputs;
  std::uint64_t seed = 1;
  bool json = false;
};

// "X=file.npy" -> X: file.npy; the name must be that of a tensor, or of a lone tensor the `letter` that stands for it
// in the short form, which names none; a lone tensor needs none. The equals sign of a path alone is not one.
std::map<std::string, std::string> files_of(const std::vector<std::string>& texts,
                                            const std::vector<Tensor>& tensors, const std::string& letter,
                                            const std::string& option) {
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors) names.push_back(tensor.name);
  const bool lone = names.size() == 1;
  std::vector<std::string> known = names;
  if (lone && names.front() != letter) known.push_back(letter);
  std::map<std::string, std::string> files;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const bool named = equals != std::string::npos && text.find('/') > equals;
    if (!named && !lone) {
      throw UserError(option + " " + text + ": say of which tensor, as in " + names.front() + "=" + text);
    }
    std::string given = named ? text.substr(0, equals) : names.front();
    if (lone && given == letter) given = names.front();
    if (std::find(names.begin(), names.end(), given) == names.end()) {
      throw UserError(option + ": " + unknown_word_message("tensor", given, known));
    }
    if (files.contains(given)) throw UserError(option + ": two files for tensor " + given);
    files[given] = named ? text.substr(equals + 1) : text;
  }
  return files;
}

// The bytes of each output.
std::vector<std::vector<unsigned char>> parts_of(const Operator& op, const std::vector<unsigned char>& bytes) {
  std::vector<std::vector<unsigned char>> parts;
  std::ptrdiff_t at = 0;
  for (const Tensor& tensor : op.outputs) {
    const std::int64_t size = tensor.elements() * bytes_of(tensor.dtype);
    const auto end = std::min(static_cast<std::ptrdiff_t>(bytes.size()), at + static_cast<std::ptrdiff_t>(size));
    parts.emplace_back(bytes.begin() + at, bytes.begin() + end);
    at = end;
  }
  return parts;
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
  std::cout << task.op.title() << " on " << task.target.name << ", schedule \"" << schedule.text()
            << "\" (mapping " << schedule.mapping() << ")\n";
  constexpr std::size_t kShownValues = 8;
  const std::vector<std::vector<unsigned char>> parts = parts_of(task.op, bytes);
  for (std::size_t t = 0; t < parts.size(); ++t) {
    const Tensor& out = task.op.outputs[t];
    const auto item = static_cast<std::size_t>(bytes_of(out.dtype));
    std::vector<std::string> values;
    for (std::size_t i = 0; i + item <= parts[t].size() && values.size() < kShownValues; i += item) {
      values.push_back(element_text(out.dtype, parts[t].data() + i));
    }
    const bool more = parts[t].size() / item > kShownValues;
    std::cout << out.name << " = [" << join(values, ", ") << (more ? ", ..." : "") << "], "
              << format_count(out.elements()) << " " << name(out.dtype) << "\n";
  }
  if (output_bytes(task.op) == 0) return;  // nothing was launched
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
  const auto input_files = files_of(arguments.inputs, op.inputs, "X", "--input");
  const auto output_files = files_of(arguments.outputs, op.outputs, "Y", "--output");
  const DeviceInfo device = pick_device(arguments.device);
  const Task task = make_task(op, device.target);
  const SearchSpace space(task, filter_of(arguments.mapping));
  if (!input_files.empty() && !arguments.pattern.empty()) throw UserError("give one of --input and --pattern");
  const InputPattern* pattern = arguments.pattern.empty() ? nullptr : &parse_input_pattern(arguments.pattern);
  const auto input = [&] {
    return pattern ? make_input(op, *pattern, arguments.seed) : load_inputs(op, input_files, arguments.seed);
  };
  const Schedule schedule = schedule_for(arguments, space, device);
  RunResult result;
  if (output_bytes(op) == 0) {
    // Nothing to compute and nothing to launch.
    result.outcome.kind = OutcomeKind::kTimed;
  } else {
    MeasureOptions options;
    options.data_seed = arguments.seed;
    result = run_once(device, task, {schedule, generate(task, schedule)}, input, options);
    check_outcome(result.outcome, schedule);
  }
  const std::vector<std::vector<unsigned char>> parts = parts_of(op, result.output);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto file = output_files.find(op.outputs[i].name);
    if (file != output_files.end()) save_output(op.outputs[i], parts[i], file->second);
  }
  if (!arguments.json) {
    print_people(task, schedule, result.outcome, result.output);
    return ExitCode::kDone;
  }
  Json json = Json::object();
  json["outputs"] = Json::object();
  for (std::size_t i = 0; i < parts.size(); ++i) json["outputs"][op.outputs[i].name] = tensor_json(op.outputs[i], parts[i]);
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
  app.add_option("--input", a.inputs,
                 "values of an input (.npy); NAME is in or X for one reduction; else the operator's own, else generated")
      ->option_text("[NAME=]FILE");
  app.add_option("--pattern", a.pattern, "generate this kind of input: " + pattern_names())
      ->option_text("NAME");
  app.add_option("--output", a.outputs, "write an output here (.npy); NAME is out or Y for one reduction")
      ->option_text("[NAME=]FILE");
  app.add_option("--seed", a.seed, "seed of generated input (default 1)");
  app.add_flag("--json", a.json, "one JSON document with the output's values");
  return [arguments] { return run_run(*arguments); };
}

}  // namespace redtune
