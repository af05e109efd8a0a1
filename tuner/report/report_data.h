// What the logs of tuning runs hold, put together for people: the numbers behind every chart of the report.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "support/json.h"
#include "tuner/tuning.h"

namespace redtune {

/// One task on one device by one clock, from one log or several.
struct ReportTask {
  Task task;
  std::string device, driver, timing, default_schedule;
  std::string log, command_line, strategy, version, host, time;  // of the last run of it
  std::uint64_t seed = 0;
  std::size_t space_size = 0, runs = 0;
  std::vector<Trial> trials;        // in the order they were first measured
  std::optional<std::size_t> best;  // as tune decides it: a tie may go to the default
  std::optional<std::size_t> base;  // the default's trial
  std::size_t older_texts = 0;      // records left out: the generator's text has changed since
};

struct ReportKernel {
  std::string schedule, text, note;  // note: why the text may not be what ran; ""
};

struct Report {
  std::vector<ReportTask> tasks;      // in the order of the logs
  std::vector<std::string> warnings;  // of reading them
};

/// Reads logs of redtune. Records of one schedule count by their latest kernel text. Throws UserError for a
/// file that is not there or not a log, and when no trial is in any.
Report read_report(const std::vector<std::string>& paths);

/// Kernel texts worth showing: the best, the default, the best of each mapping; made again from the
/// schedules.
std::vector<ReportKernel> kernels_of(const ReportTask& task);

/// Everything, for the page and for programs. `with_kernels`: the texts too, up to about a megabyte.
Json to_json(const Report& report, bool with_kernels);
/// A line per trial.
std::string report_csv(const Report& report);

}  // namespace redtune
