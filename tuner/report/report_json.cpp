// The report as JSON and CSV: the same numbers that the page draws.
#include <fmt/format.h>

#include <algorithm>

#include "space/mappings.h"
#include "support/text.h"
#include "support/version.h"
#include "tuner/report/report_data.h"

namespace redtune {
namespace {

constexpr std::size_t kMostKernelBytes = 1'000'000;

// What repeats a trial: prints its kernel, or runs it.
std::string operator_words(const Operator& op) {
  const Json json = to_json(op);
  const auto list = [&](const char* key, const char* separator) {
    std::vector<std::string> words;
    for (const Json& value : json[key]) words.push_back(value.dump());
    return join(words, separator);
  };
  if (op.graph) return "<(echo '" + json.dump() + "')";
  std::string text = "--op " + json["op"].get<std::string>() + " --shape " + list("shape", "x");
  text += " --axes " + (json["axes"].empty() ? "none" : list("axes", ","));
  for (const char* key : {"dtype", "out"}) {
    if (json.contains(key)) text += std::string(" --") + key + " " + json[key].get<std::string>();
  }
  if (json.contains("strides")) text += " --strides " + list("strides", "x");
  if (json.contains("ddof")) text += " --ddof " + json["ddof"].dump();
  if (op.keepdims) text += " --keepdims";
  return text;
}

Json report_trial_json(const ReportTask& task, std::size_t index) {
  const Trial& trial = task.trials[index];
  const Outcome& outcome = trial.outcome;
  Json json = {{"n", index + 1},
               {"schedule", trial.schedule.text()},
               {"mapping", trial.schedule.mapping()},
               {"class", std::string(name(trial.schedule.mapping_class()))},
               {"outcome", std::string(name(outcome.kind))}};
  json["program"] = trial.program_hash;
  if (outcome.timed()) {
    json["seconds"] = outcome.median_seconds;
    json["low"] = outcome.low_seconds;
    json["high"] = outcome.high_seconds;
    json["spread"] = outcome.spread;
    json["samples"] = outcome.seconds.size();
    json["rounds"] = trial.rounds;
    json["max_error"] = json_number(outcome.max_error);
  } else {
    json["detail"] = outcome.detail;
  }
  json["compile_seconds"] = outcome.compile_seconds;
  json["measure_seconds"] = outcome.measure_seconds;
  return json;
}

Json report_failures_json(const ReportTask& task) {
  Json list = Json::array();
  for (const FailureCount& failure : failures_by_reason(task.trials)) {
    list.push_back({{"outcome", std::string(name(failure.kind))},
                    {"count", failure.count},
                    {"example", failure.example}});
  }
  return list;
}

Json report_task_json(const ReportTask& task) {
  Json json = {{"operator", task.task.op.key()},
               {"title", task.task.op.title()},
               {"form", task.task.canonical.text()},
               {"bytes", task.task.compulsory_bytes()},
               {"device", task.device},
               {"driver", task.driver},
               {"target", task.task.target.name},
               {"memory_bytes_per_second", task.task.target.memory_bytes_per_second},
               {"timing", task.timing},
               {"space_size", task.space_size},
               {"strategy", task.strategy},
               {"seed", task.seed},
               {"version", task.version},
               {"host", task.host},
               {"time", task.time},
               {"runs", task.runs},
               {"older_texts", task.older_texts},
               {"log", task.log},
               {"command", task.command_line},
               {"operator_words", operator_words(task.task.op)}};
  json["best"] = task.best ? Json(*task.best) : Json();
  json["default"] = task.base ? Json(*task.base) : Json();
  json["default_schedule"] = task.default_schedule;
  json["failures"] = report_failures_json(task);
  json["trials"] = Json::array();
  for (std::size_t i = 0; i < task.trials.size(); ++i) json["trials"].push_back(report_trial_json(task, i));
  return json;
}

void add_kernels(const Report& report, Json& tasks) {
  std::size_t bytes = 0;
  for (std::size_t t = 0; t < report.tasks.size() && bytes < kMostKernelBytes; ++t) {
    tasks[t]["kernels"] = Json::array();
    for (const ReportKernel& kernel : kernels_of(report.tasks[t])) {
      bytes += kernel.text.size();
      if (bytes >= kMostKernelBytes) break;
      tasks[t]["kernels"].push_back(
          {{"schedule", kernel.schedule}, {"text", kernel.text}, {"note", kernel.note}});
    }
  }
}

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

}  // namespace

Json to_json(const Report& report, bool with_kernels) {
  Json json = {{"redtune_report", 1}, {"version", kVersion}, {"tasks", Json::array()}};
  for (const ReportTask& task : report.tasks) json["tasks"].push_back(report_task_json(task));
  if (with_kernels) add_kernels(report, json["tasks"]);
  json["warnings"] = report.warnings;
  return json;
}

std::string report_csv(const Report& report) {
  std::string text =
      "operator,device,timing,n,schedule,mapping,class,outcome,best,default,seconds,low_seconds,high_seconds,"
      "spread,samples,bytes,bytes_per_second,compile_seconds,measure_seconds,detail\n";
  for (const ReportTask& task : report.tasks) {
    for (std::size_t i = 0; i < task.trials.size(); ++i) {
      const Trial& trial = task.trials[i];
      const Outcome& o = trial.outcome;
      const double bytes = task.task.compulsory_bytes();
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},", csv_quoted(task.task.op.key()),
                          csv_quoted(task.device), task.timing, i + 1, trial.schedule.text(),
                          trial.schedule.mapping(), name(trial.schedule.mapping_class()), name(o.kind),
                          task.best == i ? 1 : 0, task.base == i ? 1 : 0);
      if (o.timed()) {
        text += fmt::format("{:.9g},{:.9g},{:.9g},{:.4g},{},{:.9g},{:.9g},", o.median_seconds, o.low_seconds,
                            o.high_seconds, o.spread, o.seconds.size(), bytes, bytes / o.median_seconds);
      } else {
        text += fmt::format(",,,,,{:.9g},,", bytes);
      }
      text += fmt::format("{:.6g},{:.6g},{}\n", o.compile_seconds, o.measure_seconds,
                          csv_quoted(o.timed() ? "" : o.detail));
    }
  }
  return text;
}

}  // namespace redtune
