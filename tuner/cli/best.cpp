#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <set>

#include "configs/config_index.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/verbs.h"
#include "tuner/predicting.h"

namespace redtune {
namespace {

struct BestArguments {
  OperatorArguments operators;
  std::string configs = "redtune-out/configs", device, grade;
  bool json = false;
};

// The first thing in which an entry is another case than the one asked for; "" when only the device differs.
std::string difference(const Operator& wanted, const Operator& stored) {
  const auto sizes = [](const std::vector<std::int64_t>& values) {
    std::vector<std::string> parts;
    for (std::int64_t value : values) parts.push_back(std::to_string(value));
    return "[" + join(parts, ",") + "]";
  };
  const auto axes = [](const Operator& op) {
    std::vector<std::string> parts;
    for (int axis : op.reduction().axes) parts.push_back(std::to_string(axis));
    return "[" + join(parts, ",") + "]";
  };
  const Tensor &a = wanted.input(), &b = stored.input();
  const auto differs = [](const std::string& what, auto asked, auto held) {
    return fmt::format("{}: asked {}, stored {}", what, asked, held);
  };
  if (wanted.graph || stored.graph) return differs("operator", wanted.key(), stored.key());
  if (wanted.reduction().op != stored.reduction().op) {
    return differs("op", name(wanted.reduction().op), name(stored.reduction().op));
  }
  if (a.dtype != b.dtype) return differs("dtype", name(a.dtype), name(b.dtype));
  if (wanted.output().dtype != stored.output().dtype) {
    return differs("out", name(wanted.output().dtype), name(stored.output().dtype));
  }
  if (a.shape != b.shape) return differs("shape", sizes(a.shape), sizes(b.shape));
  if (wanted.reduction().axes != stored.reduction().axes) return differs("axes", axes(wanted), axes(stored));
  if (a.strides != b.strides) return differs("strides", sizes(a.strides), sizes(b.strides));
  if (a.offset != b.offset) return differs("offset", a.offset, b.offset);
  if (wanted.determinism != stored.determinism) {
    return differs("determinism", name(wanted.determinism), name(stored.determinism));
  }
  return wanted.key() == stored.key() ? "" : differs("key", wanted.key(), stored.key());
}

std::string miss_message(const BestArguments& arguments, const Operator& op, const std::vector<Config>& all) {
  std::string message = arguments.configs + ": no config for " + op.key();
  if (!arguments.device.empty()) message += " on " + arguments.device;
  for (const Config& config : all) {
    const bool other_form = static_cast<bool>(config.op.graph) != static_cast<bool>(op.graph);
    if (other_form || config.op.reduction().op != op.reduction().op) continue;
    const std::string what = difference(op, config.op);
    message +=
        "\n  " + config.op.key() + " on " + config.device + (what.empty() ? "" : "  differs in " + what);
  }
  return message;
}

void print_table(const std::vector<Config>& configs) {
  TextTable table;
  table.row({"operator", "time", "vs default", "determinism", "device", "schedule"});
  for (const Config& config : configs) {
    table.row(
        {config.op.key(), config.predicted ? "predicted" : format_seconds(config.seconds),
         config.default_seconds > 0 ? fmt::format("{:.2f}x", config.default_seconds / config.seconds) : "-",
         std::string(name(config.determinism)), config.device,
         config.schedule.text() + (config.range ? "  (portfolio " + config.range->portfolio + ")" : "")});
  }
  std::cout << table.str();
}

// The one device that --device names, by its full name; its configs tell it.
std::string device_meant(const BestArguments& arguments, const std::vector<Config>& all) {
  std::string meant;
  for (const Config& config : all) {
    if (config.device.find(arguments.device) == std::string::npos || config.device == meant) continue;
    if (!meant.empty()) {
      throw UserError("--grade answers for one device; --device " + arguments.device + " may be " + meant + " or " +
                      config.device);
    }
    meant = config.device;
  }
  return meant.empty() ? arguments.device : meant;
}

std::string regret_text(const Answer& answer) {
  if (!answer.regret) return "not measured";
  if (answer.worst_regret) {
    return fmt::format("{:.1f} % at the nearest shape, {:.1f} % at worst", 100 * *answer.regret,
                       100 * *answer.worst_regret);
  }
  return fmt::format("{:.1f} %", 100 * *answer.regret) +
         (answer.regret_samples > 0 ? fmt::format(" (median of {})", answer.regret_samples) : "");
}

Json answer_json(const Operator& op, const Answer& answer) {
  Json json = {{"operator", op.key()}, {"grade", std::string(name(answer.grade))}, {"note", answer.note}};
  json["regret"] = answer.regret ? Json(*answer.regret) : Json(nullptr);
  json["regret_samples"] = answer.regret_samples;
  if (answer.worst_regret) json["worst_regret"] = *answer.worst_regret;
  if (!answer.config) return json;
  json["same_function"] = answer.same_function;
  json["distance"] = answer.distance;
  json["config"] = to_json(*answer.config);
  return json;
}

// One graded answer per operator, as a deployed program on that device would get it.
ExitCode run_graded(const BestArguments& arguments, const std::vector<Config>& all) {
  LookupOptions options;
  options.lowest = parse_grade(arguments.grade);
  const std::string device = device_meant(arguments, all);
  const ConfigIndex index = ConfigIndex::load(arguments.configs);
  TextTable table;
  table.row({"operator", "grade", "regret", "distance", "schedule", "note"});
  Json json = Json::array();
  for (const Operator& op : arguments.operators.read()) {
    const Answer answer = index.find(op, device, options);
    if (answer.grade > options.lowest) throw NoValidSchedule(miss_message(arguments, op, all));
    table.row({op.key(), std::string(name(answer.grade)), regret_text(answer),
               answer.config ? fmt::format("{:.2f}", answer.distance) : "-",
               answer.config ? answer.config->schedule.text() : "-", answer.note});
    json.push_back(answer_json(op, answer));
  }
  std::cout << (arguments.json ? readable_json(json) : table.str());
  return ExitCode::kDone;
}

ExitCode run_best(const BestArguments& arguments) {
  std::vector<Config> all = ConfigStore(arguments.configs).list();
  if (!arguments.grade.empty()) return run_graded(arguments, all);
  for (Config& config : ConfigStore(predicted_store(arguments.configs)).list()) all.push_back(std::move(config));
  std::vector<Config> found;
  const bool any = !arguments.operators.given();
  const std::vector<Operator> operators = any ? std::vector<Operator>{} : arguments.operators.read();
  for (const Config& config : all) {
    // A device by its name or a part of it, so that no device need be present.
    if (config.device.find(arguments.device) == std::string::npos) continue;
    const bool wanted = any || std::any_of(operators.begin(), operators.end(),
                                           [&](const Operator& op) { return op.key() == config.op.key(); });
    if (wanted) found.push_back(config);
  }
  if (found.empty() && !any) throw NoValidSchedule(miss_message(arguments, operators.front(), all));
  if (arguments.json) {
    Json json = Json::array();
    for (const Config& config : found) json.push_back(to_json(config));
    std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else if (found.empty()) {
    std::set<std::string> devices;
    for (const Config& config : all) devices.insert(config.device);
    std::cout << arguments.configs
              << (all.empty() ? ": no configs yet; `redtune tune` writes them\n"
                              : ": none on a device like '" + arguments.device + "'; there are: " +
                                    join({devices.begin(), devices.end()}, "; ") + "\n");
  } else {
    print_table(found);
  }
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_best(CLI::App& app) {
  const auto arguments = std::make_shared<BestArguments>();
  BestArguments& a = *arguments;
  a.operators.declare(app, true);
  app.add_option("--configs,--config", a.configs, "config store (default redtune-out/configs)")
      ->option_text("DIR");
  app.add_option("--device", a.device, "only devices whose name holds this text");
  app.add_option("--grade", a.grade,
                 "answer for each operator, with grade, distance and measured regret; the lowest grade that counts: "
                 "exact, in_range, nearest, other_device, default");
  app.add_flag("--json", a.json, "the entries as JSON");
  return [arguments] { return run_best(*arguments); };
}

}  // namespace redtune
