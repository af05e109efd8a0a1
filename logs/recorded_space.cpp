#include "logs/recorded_space.h"

#include <algorithm>
#include <filesystem>

#include "logs/recorded_points.h"
#include "logs/task_records.h"
#include "support/error.h"
#include "support/files.h"
#include "support/gzip.h"

namespace redtune {
namespace {

RecordedPoint point_of(const std::vector<const Record*>& rounds) {
  const Outcome outcome = joined_rounds(rounds);
  RecordedPoint point;
  point.cost_seconds = outcome.compile_seconds + outcome.measure_seconds;
  point.value = outcome.median_seconds;
  if (!outcome.timed()) point.failure = std::string(name(outcome.kind));
  return point;
}

RecordedSpace space_of(const TaskRecords& task, const std::string& origin) {
  RecordedSpace space;
  space.name = task.key.task + " on " + task.key.device + " " + task.key.timing;
  space.objective = "time";
  space.unit_seconds = 1;
  RecordedPoints points;
  for (const auto& rounds : task.schedules) {
    points.add(configuration_of(rounds.front()->schedule), origin, "schedule", point_of(rounds));
  }
  points.finish(space);
  return space;
}

}  // namespace

double RecordedSpace::optimum() const {
  double best = 0;
  for (const RecordedPoint& point : points) {
    if (!point.failed() && (best == 0 || point.value < best)) best = point.value;
  }
  return best;
}

std::size_t RecordedSpace::failures() const {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const RecordedPoint& point) { return point.failed(); }));
}

std::vector<RecordedSpace> recorded_spaces_of_log(const LogContents& log, const std::string& origin) {
  std::vector<RecordedSpace> spaces;
  for (const TaskRecords& task : task_records(log)) spaces.push_back(space_of(task, origin));
  return spaces;
}

std::vector<RecordedSpace> read_recorded_spaces(const std::string& path) {
  const std::string text = read_maybe_gzip(path);
  std::vector<RecordedSpace> spaces;
  if (text.starts_with(kLogPrefix)) {
    spaces = recorded_spaces_of_log(parse_log(text, path), path);
  } else if (text.find("\"tune_params_keys\"") != std::string::npos) {
    spaces = {parse_cachefile(text, path)};
  } else {
    const Json document = parse_json(text, path);
    if (!document.is_object() || !document.contains("results")) {
      throw UserError(path +
                      ": is no recorded space: neither a redtune log, nor a Kernel Tuner cachefile (field "
                      "'cache'), nor a T4 file (field 'results')");
    }
    spaces = {parse_t4(document, std::filesystem::path(path).filename().string())};
  }
  for (const RecordedSpace& space : spaces) {
    if (space.points.size() == space.failures()) {
      throw UserError(path + ": " + space.name + ": holds no configuration that was measured");
    }
  }
  if (spaces.empty()) throw UserError(path + ": holds no trial");
  return spaces;
}

}  // namespace redtune
