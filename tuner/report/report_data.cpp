#include "tuner/report/report_data.h"

#include <algorithm>
#include <map>
#include <set>

#include "space/mappings.h"
#include "support/error.h"
#include "tuner/logged_task.h"
#include "tuner/trials.h"

namespace redtune {
namespace {

// The header of the last run of a task, and how many runs there were.
struct ReportSource {
  Task task;
  Json run = Json::object();
  std::string log;
  std::size_t runs = 0;
};

// Records by task, device and clock, in the order in which each first appears.
class ReportCollector {
 public:
  void add(const std::string& path, Report& report) {
    const LogContents log = read_existing_log(path);
    report.warnings.insert(report.warnings.end(), log.warnings.begin(), log.warnings.end());
    for (const Json& run : log.runs) {
      try {
        const Task task = task_of_run(run, path);
        // A later header of the same task tells the newer facts.
        ReportSource& source = sources_[task.key() + "\n" + JsonObject(run, path).get_string("device", "")];
        source = {task, run, path, source.runs + 1};
      } catch (const UserError& error) {
        report.warnings.push_back(std::string(error.what()) + "; its run is left out");
      }
    }
    if (log.records.empty()) report.warnings.push_back(path + ": holds no trial");
    for (const Record& record : log.records) {
      const std::string key = record.key.task + "\n" + record.key.device + "\n" + record.key.timing;
      if (records_.find(key) == records_.end()) order_.push_back(key);
      records_[key].push_back(record);
    }
  }

  void finish(Report& report) const {
    std::set<std::string> unknown;
    for (const std::string& key : order_) {
      const std::vector<Record>& records = records_.at(key);
      const auto source = sources_.find(records.front().key.task + "\n" + records.front().key.device);
      if (source == sources_.end()) {
        unknown.insert(records.front().key.task);
      } else {
        report.tasks.push_back(task_of(source->second, records));
      }
    }
    for (const std::string& task : unknown) {
      report.warnings.push_back("no run header tells the operator of task " + task + "; left out");
    }
  }

 private:
  static ReportTask task_of(const ReportSource& source, const std::vector<Record>& records) {
    JsonObject run(source.run, source.log);
    ReportTask task;
    task.task = source.task;
    task.device = records.front().key.device;
    task.timing = records.front().key.timing;
    task.driver = run.get_string("driver", "");
    task.default_schedule = run.get_string("default_schedule", "");
    task.log = source.log;
    task.command_line = run.get_string("command_line", "");
    task.strategy = run.get_string("strategy", "");
    task.version = run.get_string("version", "");
    task.host = run.get_string("host", "");
    task.time = run.get_string("time", "");
    task.seed = static_cast<std::uint64_t>(run.get_int("seed", 0));
    task.space_size = static_cast<std::size_t>(run.get_int("space_size", 0));
    task.runs = source.runs;
    std::map<std::string, std::string> latest;
    for (const Record& record : records) latest[record.schedule.text()] = record.program_hash;
    TrialBook book(task.trials);
    for (const Record& record : records) {
      if (latest[record.schedule.text()] == record.program_hash) {
        book.add(record, false);
      } else {
        ++task.older_texts;
      }
    }
    decide(task);
    return task;
  }

  static void decide(ReportTask& task) {
    std::vector<bool> eligible;
    for (std::size_t i = 0; i < task.trials.size(); ++i) {
      const Trial& trial = task.trials[i];
      if (trial.schedule.text() == task.default_schedule) task.base = i;
      eligible.push_back(trial.outcome.timed() &&
                         (task.task.op.determinism == Determinism::kNotGuaranteed ||
                          determinism_of(task.task, trial.schedule) == Determinism::kRunToRun));
    }
    const auto finalists = pick_finalists(task.trials, eligible, task.base);
    task.best = pick_winner(task.task, task.trials, eligible, finalists, task.base);
  }

  std::map<std::string, ReportSource> sources_;
  std::map<std::string, std::vector<Record>> records_;
  std::vector<std::string> order_;
};

}  // namespace

Report read_report(const std::vector<std::string>& paths) {
  Report report;
  ReportCollector collector;
  for (const std::string& path : paths) collector.add(path, report);
  collector.finish(report);
  if (report.tasks.empty()) {
    std::string message = "no trial to report in";
    for (const std::string& path : paths) message += " " + path;
    for (const std::string& warning : report.warnings) message += "\n  " + warning;
    throw UserError(message);
  }
  return report;
}

std::vector<ReportKernel> kernels_of(const ReportTask& task) {
  std::vector<std::size_t> wanted;
  if (task.best) wanted.push_back(*task.best);
  if (task.base) wanted.push_back(*task.base);
  std::map<std::string, std::size_t> best;
  for (std::size_t i = 0; i < task.trials.size(); ++i) {
    const Trial& trial = task.trials[i];
    if (!trial.outcome.timed()) continue;
    const auto [at, added] = best.emplace(trial.schedule.mapping(), i);
    if (!added && trial.outcome.median_seconds < task.trials[at->second].outcome.median_seconds) {
      at->second = i;
    }
  }
  for (const auto& [mapping, index] : best) wanted.push_back(index);
  std::vector<ReportKernel> kernels;
  std::set<std::size_t> seen;
  for (const std::size_t index : wanted) {
    if (!seen.insert(index).second) continue;
    const Trial& trial = task.trials[index];
    try {
      const GeneratedProgram program = generate_program(task.task, trial.schedule);
      kernels.push_back({trial.schedule.text(), program.program.text,
                         program.hash == trial.program_hash ? ""
                                                            : "this redtune generates another text than "
                                                              "the one that was measured"});
    } catch (const std::exception& error) {
      kernels.push_back({trial.schedule.text(), "", error.what()});
    }
  }
  return kernels;
}

}  // namespace redtune
