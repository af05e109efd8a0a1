#include "tuner/logged_task.h"

#include "space/heuristic.h"
#include "space/operator.h"
#include "space/target.h"
#include "tuner/trials.h"

namespace redtune {

Task task_of_run(const Json& run, const std::string& path) {
  JsonObject fields(run, path);
  const Operator op = parse_operator(fields.get("operator"), path + ": operator");
  const Target target = fields.has("target_facts")
                            ? parse_target(fields.get("target_facts"), path + ": target_facts")
                            : load_target(fields.get_string("target"));
  return make_task(op, target);
}

TuneResult result_of_records(const std::vector<Record>& records, const Task& task, const DeviceInfo& device) {
  TuneResult result;
  result.task = task;
  result.device = device;
  result.default_schedule = default_schedule(task);
  TrialBook book(result.trials);
  // The default leads, as in a run.
  for (const bool lead : {true, false}) {
    for (const Record& record : records) {
      if ((record.schedule == result.default_schedule) == lead) book.add(record, true);
    }
  }
  const std::vector<bool> all(result.trials.size(), true);
  const auto base = result.default_trial();
  result.best = pick_winner(task, result.trials, all, pick_finalists(result.trials, all, base), base);
  return result;
}

}  // namespace redtune
