#include "logs/task_records.h"

#include <tuple>

#include "support/stats.h"

namespace redtune {

std::vector<TaskRecords> task_records(const LogContents& log) {
  std::vector<TaskRecords> tasks;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> index_of;
  for (const Record& record : log.records) {
    const auto [place, fresh] =
        index_of.try_emplace({record.key.task, record.key.device, record.key.timing}, tasks.size());
    if (fresh) tasks.push_back({record.key, {}, {}});
    TaskRecords& task = tasks[place->second];
    const auto [row, first] = task.index_of.try_emplace(record.schedule.text(), task.schedules.size());
    if (first) task.schedules.emplace_back();
    task.schedules[row->second].push_back(&record);
  }
  return tasks;
}

Json configuration_of(const Schedule& schedule) {
  Json configuration{
      {"block", name(schedule.block)}, {"grid", name(schedule.grid)}, {"walk", name(schedule.walk)}};
  for (const ScheduleSize& size : schedule_sizes())
    configuration[std::string(size.name)] = schedule.*(size.member);
  return configuration;
}

Outcome joined_rounds(const std::vector<const Record*>& rounds) {
  Outcome all;
  all.kind = OutcomeKind::kTimed;
  for (const Record* record : rounds) {
    const Outcome& outcome = record->outcome;
    all.compile_seconds += outcome.compile_seconds;
    all.measure_seconds += outcome.measure_seconds;
    if (!outcome.timed() || !(outcome.median_seconds > 0)) {
      all.kind = outcome.timed() ? OutcomeKind::kUnmeasured : outcome.kind;
      all.detail = outcome.detail;
    } else if (outcome.seconds.empty()) {
      all.seconds.push_back(outcome.median_seconds);
    } else {
      all.seconds.insert(all.seconds.end(), outcome.seconds.begin(), outcome.seconds.end());
    }
  }
  if (!all.timed()) all.seconds.clear();
  if (all.timed()) all.median_seconds = median(all.seconds);
  return all;
}

}  // namespace redtune
