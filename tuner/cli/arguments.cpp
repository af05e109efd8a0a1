#include "tuner/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "configs/suite.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

constexpr const char* kShortFormGroup = "One reduction without a file";

}  // namespace

void OperatorArguments::declare(CLI::App& app, bool several) {
  several_ = several;
  app_ = &app;
  app.add_option("operator", files_, several ? "operator files (JSON)" : "operator file (JSON)")
      ->option_text("OP");
  const std::string group = kShortFormGroup;
  std::vector<std::string> names;
  for (const ReduceOpInfo& row : kReduceOps) names.emplace_back(row.name);
  app.add_option("--op", form_.op, join(names, ", ") + " (default sum)")->option_text("NAME")->group(group);
  app.add_option("--shape", form_.shape, "sizes, as 4096x1024")->option_text("SIZES")->group(group);
  app.add_option("--axes", form_.axes, "reduced axes, as 0,2; missing: all; none: no axis")
      ->option_text("AXES")
      ->group(group);
  app.add_option("--dtype", form_.dtype, "element type of the input (default f32)")
      ->option_text("TYPE")
      ->group(group);
  app.add_option("--out", form_.out, "type of the result")->option_text("TYPE")->group(group);
  app.add_option("--strides", form_.strides, "strides of the input in elements, as 2048x1")
      ->option_text("SIZES")
      ->group(group);
  app.add_option("--ddof", form_.ddof, "var and std divide by count - DDOF (default 0)")
      ->option_text("DDOF")
      ->group(group);
  app.add_flag("--keepdims", form_.keepdims, "keep reduced axes with size 1")->group(group);
  app.add_option("--determinism", determinism_,
                 "run_to_run: only schedules that give the same bits in every run")
      ->option_text("CLASS");
}

std::string OperatorArguments::short_form_option() const {
  for (const CLI::Option* option : app_->get_options()) {
    if (option->get_group() == kShortFormGroup && option->count() > 0) return option->get_name();
  }
  return "";
}

bool OperatorArguments::given() const { return !files_.empty() || !short_form_option().empty(); }

std::vector<Operator> OperatorArguments::read() const {
  const std::string option = short_form_option();
  if (!files_.empty() && !option.empty()) {
    throw UserError("give operator files or --op with --shape, not both: " + option + " stands beside " +
                    files_.front());
  }
  if (!given())
    throw UserError("no operator: name an operator file, or use --op NAME --shape SIZES --axes AXES");
  if (files_.empty() && form_.shape.empty()) {
    throw UserError("no shape beside " + option + ": use --op NAME --shape SIZES --axes AXES");
  }
  if (files_.size() > 1 && !several_)
    throw UserError("one operator at a time: " + files_[1] + " is too much");
  std::vector<Operator> operators;
  for (const std::string& file : files_) {
    const bool is_name =
        std::any_of(kReduceOps.begin(), kReduceOps.end(), [&](auto& row) { return row.name == file; });
    if (is_name && !std::filesystem::exists(file)) {
      throw UserError("no operator file called " + file + "; for one reduction use --op " + file +
                      " --shape SIZES");
    }
    const Json json = read_json_file(file);
    if (!is_suite(json)) {
      operators.push_back(parse_operator(json, file));
      continue;
    }
    Suite suite = parse_suite(json, file, file);
    if (suite.entries.size() > 1 && !several_) {
      throw UserError("one operator at a time: suite " + file + " holds " + std::to_string(suite.entries.size()));
    }
    for (SuiteEntry& entry : suite.entries) {
      if (entry.op.name.empty()) entry.op.name = entry.id;
      operators.push_back(std::move(entry.op));
    }
  }
  if (files_.empty()) operators.push_back(operator_from_short_form(form_));
  for (Operator& op : operators) {
    if (!determinism_.empty()) op.determinism = parse_determinism(determinism_);
  }
  return operators;
}

Operator OperatorArguments::read_one() const { return read().front(); }

Target target_of(const std::string& name) {
  if (!name.empty()) return load_target(name);
  const std::vector<DeviceInfo> devices = list_devices();
  return devices.empty() ? load_target("cpu") : devices.front().target;
}

SpaceFilter filter_of(const std::string& mapping, const std::string& only) {
  SpaceFilter filter = mapping.empty() ? SpaceFilter{} : parse_mapping_filter(mapping);
  filter.sizes = parse_size_choices(only);
  return filter;
}

Schedule legal_schedule(const SearchSpace& space, const std::string& text) {
  const Schedule schedule = parse_schedule(text);
  if (const auto rejection = space.why_not(schedule)) {
    throw UserError("schedule \"" + schedule.text() + "\" is not legal for " + space.task().op.title() +
                    " on " + space.task().target.name + ": " + rejection->constraint + ": " +
                    rejection->detail);
  }
  return schedule;
}

}  // namespace redtune
