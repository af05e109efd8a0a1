#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>

#include "support/error.h"
#include "tuner/cli/explain_report.h"
#include "tuner/cli/verbs.h"
#include "tuner/logged_task.h"
#include "tuner/training.h"

namespace redtune {
namespace {

struct ExplainArguments {
  std::vector<std::string> logs;
  bool json = false;
};

TuneResult result_of(const LogContents& log, const Task& task, const TrialKey& key) {
  std::vector<Record> records;
  for (const Record& record : log.records) {
    if (record.key == key) records.push_back(record);
  }
  TuneResult result = result_of_records(records, task, {});
  result.device.name = key.device;
  return result;
}

ExitCode explain_logs(const ExplainArguments& arguments) {
  Json results = Json::array();
  bool any = false;
  for (const std::string& path : arguments.logs) {
    const LogContents log = read_existing_log(path);
    std::vector<std::string> warnings = log.warnings;
    const std::map<std::string, Task> tasks = tasks_of_log(log, path, warnings);
    for (const std::string& warning : warnings) std::cerr << "redtune: warning: " << warning << "\n";
    std::vector<TrialKey> keys;
    for (const Record& record : log.records) {
      if (std::find(keys.begin(), keys.end(), record.key) == keys.end()) keys.push_back(record.key);
    }
    for (const TrialKey& key : keys) {
      const auto task = tasks.find(key.task);
      if (task == tasks.end()) {
        std::cerr << "redtune: warning: " << path << ": no run header tells the operator of task " << key.task
                  << "; left out\n";
        continue;
      }
      const TuneResult result = result_of(log, task->second, key);
      if (!result.best) continue;
      any = true;
      const RunExplanation explanation = explain_run(result);
      if (arguments.json) {
        Json one = explain_json(explanation);
        one["task"] = key.task;
        one["device"] = key.device;
        results.push_back(std::move(one));
      } else {
        std::cout << key.task << " on " << key.device << " (" << key.timing << ")\n" << explain_text(explanation) << "\n";
      }
    }
  }
  if (!any) throw NoValidSchedule("no task of these logs has a schedule with a time");
  if (arguments.json) {
    std::cout << Json{{"results", results}}.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  }
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_explain(CLI::App& app) {
  const auto arguments = std::make_shared<ExplainArguments>();
  ExplainArguments& a = *arguments;
  app.add_option("LOG", a.logs, "logs of `redtune tune`, plain or gzip")->required();
  app.add_flag("--json", a.json, "one JSON document on stdout");
  return [arguments] { return explain_logs(*arguments); };
}

}  // namespace redtune
