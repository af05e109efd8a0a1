#include "tuner/cli/tune_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "space/mappings.h"
#include "support/text.h"
#include "tuner/cli/terminal.h"

namespace redtune {
namespace {

constexpr std::array<MappingClass, 3> kClasses{MappingClass::kTree, MappingClass::kAtomic,
                                               MappingClass::kHybrid};

struct Row {
  std::string label;
  std::optional<std::size_t> trial;
};

std::vector<Row> rows_of(const TuneResult& result) {
  std::vector<Row> rows{{"default", result.default_trial()}, {"best", result.best}};
  for (const MappingClass c : kClasses) rows.push_back({"best " + std::string(name(c)), result.best_of(c)});
  return rows;
}

double default_seconds(const TuneResult& result) {
  const auto trial = result.default_trial();
  return trial ? result.trials[*trial].outcome.median_seconds : 0;
}

std::vector<std::string> cells_of(const TuneResult& result, const Row& row) {
  if (!row.trial) return {row.label, "-", "", "", "", row.label == "best" ? "none valid" : "none measured"};
  const Trial& trial = result.trials[*row.trial];
  if (!trial.outcome.timed()) return {row.label, "-", "", "", "", std::string(name(trial.outcome.kind))};
  const double seconds = trial.outcome.median_seconds;
  const double base = default_seconds(result);
  return {row.label,
          format_seconds(seconds),
          fmt::format("{:.1f} %", trial.outcome.spread * 100),
          fmt::format("{:.1f}", result.task.compulsory_bytes() / seconds / 1e9),
          base > 0 ? fmt::format("{:.2f}x", base / seconds) : "-",
          trial.schedule.text()};
}

std::string table_text(const TuneResult& result) {
  TextTable table;
  table.row({"", "time", "spread", "GB/s", "vs default", "schedule"});
  for (const Row& row : rows_of(result)) table.row(cells_of(result, row));
  std::string text;
  for (const std::string& line : split(table.str(), '\n')) {
    if (!line.empty()) text += (line.starts_with("best  ") ? bold(line) : line) + "\n";
  }
  return text;
}

std::string failures_text(const TuneResult& result) {
  std::string text;
  for (const FailureCount& failure : failures_by_reason(result.trials)) {
    text += fmt::format("failed: {} {}, as {}\n", failure.count, name(failure.kind), failure.example);
  }
  return text;
}

std::string split_text(const TuneResult& result) {
  const double wall = result.wall_seconds;
  const auto part = [&](const char* label, double seconds) {
    return fmt::format("{} {:.2f} s ({:.1f} %)", label, seconds, wall > 0 ? 100 * seconds / wall : 0);
  };
  return fmt::format("wall {:.2f} s: {}, {}, {}\n", wall, part("compiling", result.split.compiling),
                     part("measuring", result.split.measuring), part("other", result.split.other));
}

std::string verdict_text(const TuneResult& result) {
  const auto base = result.default_trial();
  if (result.best && base == result.best) return "no schedule was clearly faster than the default\n";
  for (const Row& row : rows_of(result)) {
    if (!result.best || !row.trial || !result.trials[*row.trial].outcome.timed()) continue;
    if (result.trials[*row.trial].outcome.median_seconds >=
        result.trials[*result.best].outcome.median_seconds)
      continue;
    return row.label + " is not clearly faster than the best, which is more deterministic or simpler\n";
  }
  return "";
}

// Spread from which the table says that its times are doubtful; on a machine left alone it stays below.
constexpr double kDoubtfulSpread = 0.2;

std::string noise_text(const TuneResult& result) {
  double spread = 0;
  for (const auto& trial : {result.default_trial(), result.best}) {
    if (trial) spread = std::max(spread, result.trials[*trial].outcome.spread);
  }
  if (spread < kDoubtfulSpread) return "";
  return fmt::format(
      "times spread by {:.1f} %: something else used the device meanwhile; tune again when it is quiet, with "
      "another --log\n",
      spread * 100);
}

std::string end_text(const std::string& reason) {
  if (reason == "trials") return "trial limit";
  if (reason == "time") return "time limit";
  return reason == "exhausted" ? "whole space tried" : reason;
}

std::string device_text(const DeviceInfo& device) {
  const bool named = device.name.starts_with(device.id + ":");
  return (named ? "" : device.id + ": ") + device.name +
         (device.name.ends_with(device.driver) ? "" : " (" + device.driver + ")");
}

Json trial_json(const TuneResult& result, std::size_t index) {
  const Trial& trial = result.trials[index];
  Json json = Json::object();
  json["schedule"] = trial.schedule.text();
  json["mapping"] = trial.schedule.mapping();
  json["class"] = std::string(name(trial.schedule.mapping_class()));
  json["determinism"] = std::string(name(determinism_of(result.task, trial.schedule)));
  json["outcome"] = std::string(name(trial.outcome.kind));
  if (!trial.outcome.timed()) {
    json["detail"] = trial.outcome.detail;
    return json;
  }
  const double seconds = trial.outcome.median_seconds;
  json["seconds"] = seconds;
  json["low_seconds"] = trial.outcome.low_seconds;
  json["high_seconds"] = trial.outcome.high_seconds;
  json["spread"] = trial.outcome.spread;
  json["samples"] = trial.outcome.seconds.size();
  json["bytes_per_second"] = result.task.compulsory_bytes() / seconds;
  const double base = default_seconds(result);
  if (base > 0) json["speedup"] = base / seconds;
  return json;
}

Json failures_json(const TuneResult& result) {
  Json failures = Json::array();
  for (const FailureCount& failure : failures_by_reason(result.trials)) {
    Json row = Json::object();
    row["outcome"] = std::string(name(failure.kind));
    row["count"] = failure.count;
    row["example"] = failure.example;
    failures.push_back(std::move(row));
  }
  return failures;
}

}  // namespace

std::string tune_header(const TuneStart& start, const DeviceInfo& device) {
  const Task& task = start.task;
  std::string text = "device    " + device_text(device) + "\n";
  text += "operator  " + task.op.title() + "  (" + task.op.key() + ")\n";
  text += "canonical " + task.canonical.text() + ", " + format_bytes(task.compulsory_bytes()) + " to move\n";
  text += "space     " + format_count(static_cast<std::int64_t>(start.space_size)) + " schedules, " +
          std::to_string(start.total) + " trials\n";
  if (!start.log_path.empty()) text += "log       " + start.log_path + "\n";
  if (start.resumed > 0) {
    text += fmt::format("resumed {} of {} trials from {}\n", start.resumed, start.total, start.log_path);
  }
  return text;
}

std::string tune_report(const TuneResult& result) {
  std::string text = "\n" + table_text(result) + verdict_text(result) + noise_text(result) + failures_text(result);
  text += fmt::format("ended: {}, {} {}", end_text(result.end_reason), result.trials.size(),
                      result.trials.size() == 1 ? "trial" : "trials");
  if (result.resumed > 0) text += fmt::format(" ({} from the log)", result.resumed);
  if (result.stale > 0) text += fmt::format("; {} older records are of other kernel texts", result.stale);
  text += "\n";
  if (!result.config_path.empty()) {
    text +=
        "config    " + result.config_path + (result.config_kept ? "  (kept its better schedule)" : "") + "\n";
  }
  if (!result.log_path.empty()) text += "log       " + result.log_path + "\n";
  return text + split_text(result);
}

Json tune_json(const TuneResult& result) {
  Json json = Json::object();
  json["operator"] = result.task.op.key();
  json["canonical"] = result.task.canonical.text();
  json["device"] = result.device.name;
  json["device_id"] = result.device.id;
  json["driver"] = result.device.driver;
  json["target"] = result.task.target.name;
  json["space_size"] = result.space_size;
  json["trials"] = result.trials.size();
  json["resumed"] = result.resumed;
  json["stale"] = result.stale;
  json["end_reason"] = result.end_reason;
  const auto put = [&](const char* key, std::optional<std::size_t> trial) {
    json[key] = trial ? trial_json(result, *trial) : Json();
  };
  put("default", result.default_trial());
  put("best", result.best);
  for (const MappingClass c : kClasses) {
    put(("best_" + std::string(name(c))).c_str(), result.best_of(c));
  }
  json["failures"] = failures_json(result);
  json["config"] = result.config_path;
  json["config_kept"] = result.config_kept;
  json["log"] = result.log_path;
  json["seconds"] = {{"wall", result.wall_seconds},
                     {"compiling", result.split.compiling},
                     {"measuring", result.split.measuring},
                     {"other", result.split.other}};
  json["warnings"] = result.warnings;
  return json;
}

}  // namespace redtune
