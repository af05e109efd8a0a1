#include "logs/write_recorded.h"

#include <algorithm>

#include "support/error.h"

namespace redtune {
namespace {

constexpr double kMilliseconds = 1e3;

// "2026-01-31T12:00:00Z" -> "2026-01-31 12:00:00.000000+00:00", which Python's datetime reads.
std::string timestamp_of(const Record& record) {
  std::string text = record.time;
  if (text.size() != 20 || text[10] != 'T' || text.back() != 'Z') return text;
  text[10] = ' ';
  text.pop_back();
  return text + ".000000+00:00";
}

// Kernel Tuner's three kinds of failure.
const char* error_of(OutcomeKind kind) {
  if (kind == OutcomeKind::kRejected) return "InvalidConfig";
  return kind == OutcomeKind::kCompileFailed ? "CompilationFailedConfig" : "RuntimeFailedConfig";
}

// T4's words.
const char* invalidity_of(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kTimed:
      return "correct";
    case OutcomeKind::kRejected:
      return "constraints";
    case OutcomeKind::kCompileFailed:
      return "compile";
    case OutcomeKind::kWrongResult:
      return "correctness";
    case OutcomeKind::kTimedOut:
      return "timeout";
    case OutcomeKind::kLaunchFailed:
    case OutcomeKind::kCrashed:
    case OutcomeKind::kUnmeasured:
      return "runtime";
  }
  throw_internal(__FILE__, __LINE__, "an outcome without a word");
}

Json milliseconds(const std::vector<double>& seconds) {
  Json list = Json::array();
  for (double value : seconds) list.push_back(value * kMilliseconds);
  return list;
}

// Every value that a parameter takes, numbers rising.
Json values_of(const std::vector<Json>& configurations, const std::string& name) {
  std::vector<Json> values;
  for (const Json& configuration : configurations) {
    const Json& value = configuration.at(name);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  return values;
}

Json cache_entry(const std::vector<const Record*>& rounds, Json entry) {
  const Outcome outcome = joined_rounds(rounds);
  if (outcome.timed()) {
    entry["time"] = outcome.median_seconds * kMilliseconds;
    entry["times"] = milliseconds(outcome.seconds);
  } else {
    // The older way to tell a failure and the newer one: readers know one of them.
    entry["time"] = error_of(outcome.kind);
    entry["__error__"] = error_of(outcome.kind);
  }
  entry["compile_time"] = outcome.compile_seconds * kMilliseconds;
  entry["verification_time"] = 0;  // in benchmark_time: the log keeps them together
  entry["benchmark_time"] = outcome.measure_seconds * kMilliseconds;
  entry["strategy_time"] = 0;
  entry["framework_time"] = 0;
  entry["timestamp"] = timestamp_of(*rounds.front());
  return entry;
}

}  // namespace

std::string cachefile_text(const TaskRecords& task, const std::string& kernel,
                           const std::vector<std::int64_t>& problem_size) {
  std::vector<Json> configurations;
  for (const auto& rounds : task.schedules)
    configurations.push_back(configuration_of(rounds.front()->schedule));
  Json head = Json::object();
  head["device_name"] = task.key.device;
  head["kernel_name"] = kernel;
  head["problem_size"] = problem_size;
  head["tune_params_keys"] = Json::array();
  head["tune_params"] = Json::object();
  const Json configuration = configuration_of(Schedule{});
  for (const auto& [name, unused] : configuration.items()) {
    head["tune_params_keys"].push_back(name);
    head["tune_params"][name] = values_of(configurations, name);
  }
  head["objective"] = "time";
  // As Kernel Tuner lays it out: a newline for each element of the head, then a line for each configuration.
  std::string text = head.dump(0, ' ', false, Json::error_handler_t::replace);
  text.resize(text.size() - 2);
  text += ",\n\"cache\": {";
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    std::string key;
    for (const auto& [unused, value] : configurations[i].items()) {
      key += (key.empty() ? "" : ",") + (value.is_string() ? value.get<std::string>() : value.dump());
    }
    text += (i == 0 ? "\n" : ",\n") + Json(key).dump() + ": " +
            cache_entry(task.schedules[i], configurations[i]).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text + "}\n}";
}

Json t4_document(const TaskRecords& task) {
  Json document = Json::object();
  document["schema_version"] = "1.0.0";
  document["metadata"] = {{"timeunit", "milliseconds"}};
  document["results"] = Json::array();
  for (const auto& rounds : task.schedules) {
    const Outcome outcome = joined_rounds(rounds);
    Json result = Json::object();
    result["timestamp"] = timestamp_of(*rounds.front());
    result["configuration"] = configuration_of(rounds.front()->schedule);
    result["objectives"] = {"time"};
    result["times"] = {{"compilation_time", outcome.compile_seconds * kMilliseconds},
                       {"benchmark", outcome.measure_seconds * kMilliseconds},
                       {"framework", 0},
                       {"search_algorithm", 0},
                       {"validation", 0},
                       {"runtimes", milliseconds(outcome.seconds)}};
    result["invalidity"] = invalidity_of(outcome.kind);
    result["correctness"] = outcome.timed() ? 1 : 0;
    result["measurements"] = Json::array();
    if (outcome.timed()) {
      result["measurements"].push_back(
          {{"name", "time"}, {"value", outcome.median_seconds * kMilliseconds}, {"unit", "ms"}});
    }
    document["results"].push_back(std::move(result));
  }
  return document;
}

}  // namespace redtune
