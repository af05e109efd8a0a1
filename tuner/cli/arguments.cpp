#include "tuner/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <limits>

#include "space/heuristic.h"
#include "space/mappings.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/text.h"

namespace redtune {

void OperatorArguments::declare(CLI::App& app, bool several) {
  several_ = several;
  app.add_option("operator", files_, several ? "operator files (JSON)" : "operator file (JSON)")
      ->option_text("OP");
  const std::string group = "One reduction without a file";
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

bool OperatorArguments::given() const { return !files_.empty() || !form_.shape.empty(); }

std::vector<Operator> OperatorArguments::read() const {
  if (!files_.empty() && !form_.shape.empty()) {
    throw UserError("give operator files or --op with --shape, not both");
  }
  if (!given())
    throw UserError("no operator: name an operator file, or use --op NAME --shape SIZES --axes AXES");
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
    if (!json.is_object() || !json.contains("operators")) {
      operators.push_back(parse_operator(json, file));
      continue;
    }
    // A suite: a list of operators under one name.
    const Json& list = json.at("operators");
    if (!list.is_array()) throw UserError(file + ": field 'operators' must be an array");
    if (list.size() > 1 && !several_) throw UserError("one operator at a time: " + file + " holds " + std::to_string(list.size()));
    for (std::size_t i = 0; i < list.size(); ++i) {
      operators.push_back(parse_operator(list[i], file + ": operators[" + std::to_string(i) + "]"));
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

SpaceFilter filter_of(const std::string& mapping) {
  return mapping.empty() ? SpaceFilter{} : parse_mapping_filter(mapping);
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

Schedule default_in(const SearchSpace& space) {
  const Task& task = space.task();
  const Schedule start = default_schedule(task);
  if (space.find(start)) return start;
  if (space.size() == 0) {
    std::string reasons;
    for (const MappingInfo& mapping : mappings()) {
      const auto rejection = reject_mapping(task, mapping.block, mapping.grid);
      if (rejection) reasons += "\n  " + std::string(mapping.name) + ": " + rejection->detail;
    }
    throw UserError("no legal schedule for " + task.op.title() + " on " + task.target.name + reasons);
  }
  std::size_t best = 0;
  double best_distance = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < space.size(); ++i) {
    const double distance = squared_distance(start, space.at(i));
    if (distance < best_distance) best = i, best_distance = distance;
  }
  return space.at(best);
}

std::string operator_slug(const Operator& op) {
  const std::string key = op.key();
  std::string result;
  for (char c : key) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (plain)
      result += c;
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  constexpr std::size_t kLongest = 80;
  if (result.size() > kLongest) result = result.substr(0, kLongest - 17) + "-" + hex64(hash64(key));
  return result;
}

}  // namespace redtune
