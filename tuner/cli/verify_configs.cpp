#include "tuner/cli/verify_configs.h"

#include <algorithm>
#include <atomic>
#include <iostream>
#include <optional>
#include <span>

#include "configs/config_index.h"
#include "space/constraints.h"
#include "space/device_name.h"
#include "support/text.h"
#include "tuner/cli/signals.h"
#include "tuner/reverification.h"
#include "tuner/tuning.h"
#include "tuner/verification.h"

namespace redtune {
namespace {

constexpr int kMostRounds = 3;

std::vector<Config> chosen_configs(const VerifyConfigsArguments& arguments,
                                   const OperatorArguments& operators, const DeviceInfo& device) {
  std::vector<std::string> keys;
  if (operators.given()) {
    for (const Operator& op : operators.read()) keys.push_back(op.key());
  }
  std::vector<Config> chosen;
  for (Config& config : ConfigStore(arguments.directory).list()) {
    const bool wanted =
        !operators.given() || std::find(keys.begin(), keys.end(), config.op.key()) != keys.end();
    if (wanted && device_model(config.device) == device_model(device.name))
      chosen.push_back(std::move(config));
  }
  if (chosen.empty()) {
    throw NoValidSchedule(arguments.directory + ": no config to verify on " + device.name +
                          "; `redtune best --configs " + arguments.directory + "` lists what there is");
  }
  return chosen;
}

// The first kind of input on which the answer is wrong; "" when all are right.
std::string wrong_numbers(Verifier& verifier, const Task& task, const Schedule& schedule,
                          std::uint64_t seed) {
  VerifyTally tally(seed);
  verifier.verify(task, std::span<const Schedule>(&schedule, 1),
                  [&](const ScheduleVerdict& verdict) { tally.add(task, schedule, verdict); });
  if (tally.failures().empty()) return "";
  const VerifyFailure& failure = tally.failures().front();
  return failure.pattern + ": " + failure.kind + ": " + failure.detail;
}

Outcome measure_once(Evaluator& evaluator, const Candidate& candidate) {
  std::optional<Outcome> outcome;
  Evaluator::Callbacks callbacks;
  callbacks.starting = [](std::size_t) {};
  callbacks.done = [&](std::size_t, const Outcome& one) { outcome = one; };
  callbacks.stop = [] { return false; };
  evaluator.evaluate({&candidate, 1}, callbacks);
  RT_CHECK(outcome.has_value(), "no outcome of a candidate");
  return *outcome;
}

ConfigCheck check_config(const Config& config, const DeviceInfo& device,
                         const VerifyConfigsArguments& arguments, Verifier& verifier, std::uint64_t seed) {
  if (std::string why = why_stale(config, device); !why.empty())
    return {Standing::kStale, 0, 0, 0, std::move(why)};
  const Task task = make_task(config.op, device.target);
  if (output_bytes(task.op) == 0) return {};
  if (std::string wrong = wrong_numbers(verifier, task, config.schedule, seed); !wrong.empty())
    return {Standing::kWrong, 0, 0, 0, std::move(wrong)};
  if (arguments.numbers_only) return {};
  MeasureOptions options;
  options.data_seed = seed;
  const auto evaluator = make_device_evaluator(device, task, options);
  const Candidate candidate{config.schedule, generate_program(task, config.schedule).program};
  return recheck(config, arguments.tolerance, kMostRounds,
                 [&] { return measure_once(*evaluator, candidate); });
}

// What the config's task takes by the schedule that a lookup would take if the config were not there.
void measure_transfer(const Config& config, double best_seconds, const DeviceInfo& device,
                      const ConfigIndex& index, const VerifyConfigsArguments& arguments, std::uint64_t seed) {
  const Task task = make_task(config.op, device.target);
  LookupOptions options;
  options.lowest = Grade::kNearest;
  options.refuse = [&](const Config& other) {
    // A schedule of a portfolio has its own measured regrets.
    const bool itself = other.op.key() == config.op.key() || other.range;
    return itself || why_not(task, {}, other.schedule) ? std::string("not this one") : std::string();
  };
  const Answer neighbour = index.find(config.op, device.name, options);
  if (!neighbour.config || neighbour.same_function) return;
  const Schedule& schedule = neighbour.config->schedule;
  double seconds = best_seconds;
  if (!(schedule == config.schedule)) {
    MeasureOptions measure;
    measure.data_seed = seed;
    const Outcome outcome = measure_once(*make_device_evaluator(device, task, measure),
                                         {schedule, generate_program(task, schedule).program});
    if (!outcome.timed()) return;
    seconds = outcome.median_seconds;
  }
  const Config& from = *neighbour.config;
  ConfigStore(arguments.directory)
      .add_transfer(from.op, from.device, schedule, {config.op.key(), seconds, best_seconds});
}

Json json_of(const Config& config, const ConfigCheck& check) {
  Json json = {{"operator", config.op.key()},
               {"standing", std::string(name(check.standing))},
               {"schedule", config.schedule.text()},
               {"stored_seconds", {config.low_seconds, config.seconds, config.high_seconds}}};
  if (check.seconds > 0) json["seconds"] = {check.low_seconds, check.seconds, check.high_seconds};
  if (!check.detail.empty()) json["detail"] = check.detail;
  return json;
}

}  // namespace

ExitCode verify_configs(const VerifyConfigsArguments& arguments, const OperatorArguments& operators,
                        const VerifyArguments& how) {
  if (arguments.transfers && arguments.numbers_only)
    throw UserError("--transfers measures: without --numbers-only");
  if (arguments.tolerance < 0) throw UserError("--tolerance must be 0 or more");
  const DeviceInfo device = how.pick();
  const std::vector<Config> configs = chosen_configs(arguments, operators, device);
  const std::atomic<bool>& stop = stop_on_signals();
  Verifier verifier(device, how.options());
  const ConfigIndex index = ConfigIndex::load(arguments.directory);
  TextTable table;
  table.row({"operator", "standing", "stored", "now", "detail"});
  Json results = Json::array();
  bool good = true, wrong = false;
  for (const Config& config : configs) {
    if (stop) return ExitCode::kStoppedEarly;
    const ConfigCheck check = check_config(config, device, arguments, verifier, how.seed());
    good = good && is_good(check.standing);
    if (arguments.transfers && check.seconds > 0 && !config.range)
      measure_transfer(config, check.seconds, device, index, arguments, how.seed());
    wrong = wrong || check.standing == Standing::kWrong;
    table.row({config.op.key(), std::string(name(check.standing)), format_seconds(config.seconds),
               check.seconds > 0 ? format_seconds(check.seconds) : "-", check.detail});
    results.push_back(json_of(config, check));
  }
  if (arguments.json) {
    std::cout << readable_json({{"device", device.name}, {"results", results}});
  } else {
    std::cout << "device   " << device.name << "\n" << table.str();
  }
  if (wrong) return ExitCode::kInternal;  // a stored winner that is wrong is a bug of redtune
  return good ? ExitCode::kDone : ExitCode::kNoValidSchedule;
}

}  // namespace redtune
