#include "tuner/training.h"

#include <map>
#include <set>
#include <tuple>

#include "cost_model/features.h"
#include "space/task.h"
#include "support/error.h"
#include "support/stats.h"
#include "tuner/logged_task.h"

namespace redtune {
namespace {

using Key = std::tuple<std::string, std::string, std::string>;  // task, device, timing

struct Rounds {
  Schedule schedule;
  std::vector<double> seconds;
  bool failed = false;
};

TaskSamples samples_of(const Task& task, const std::map<std::string, Rounds>& schedules) {
  TaskSamples samples{task.key(), {}, {}};
  std::vector<Schedule> timed;
  for (const auto& [text, rounds] : schedules) {
    if (rounds.failed || rounds.seconds.empty()) continue;
    timed.push_back(rounds.schedule);
    samples.seconds.push_back(median(rounds.seconds));
  }
  samples.features = feature_matrix(task, timed);
  return samples;
}

}  // namespace

std::map<std::string, Task> tasks_of_log(const LogContents& log, const std::string& path,
                                         std::vector<std::string>& warnings) {
  std::map<std::string, Task> tasks;
  for (const Json& run : log.runs) {
    try {
      const Task task = task_of_run(run, path);
      tasks.insert_or_assign(task.key(), task);
    } catch (const UserError& error) {
      warnings.push_back(std::string(error.what()) + "; its run is left out");
    }
  }
  return tasks;
}

std::vector<TaskSamples> samples_of_logs(const std::vector<std::string>& paths,
                                         std::vector<std::string>& warnings) {
  std::map<Key, std::map<std::string, Rounds>> measured;
  std::map<std::string, Task> tasks;
  for (const std::string& path : paths) {
    const LogContents log = read_existing_log(path);
    warnings.insert(warnings.end(), log.warnings.begin(), log.warnings.end());
    if (log.records.empty()) warnings.push_back(path + ": holds no trial");
    tasks.merge(tasks_of_log(log, path, warnings));
    for (const Record& record : log.records) {
      Rounds& rounds =
          measured[{record.key.task, record.key.device, record.key.timing}][record.schedule.text()];
      rounds.schedule = record.schedule;
      if (record.outcome.timed() && record.outcome.median_seconds > 0)
        rounds.seconds.push_back(record.outcome.median_seconds);
      else
        rounds.failed = true;
    }
  }
  std::vector<TaskSamples> samples;
  std::set<std::string> unknown;
  for (const auto& [key, schedules] : measured) {
    const auto task = tasks.find(std::get<0>(key));
    if (task == tasks.end()) {
      unknown.insert(std::get<0>(key));
      continue;
    }
    samples.push_back(samples_of(task->second, schedules));
  }
  for (const std::string& task : unknown)
    warnings.push_back("no run header tells the operator of task " + task + "; left out");
  return samples;
}

}  // namespace redtune
