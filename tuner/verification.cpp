#include "tuner/verification.h"

#include <algorithm>
#include <cstdio>

#include "space/mappings.h"
#include "support/text.h"

namespace redtune {
namespace {

std::string error_text(double error) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", error);
  return text;
}

std::vector<std::string> cells(const std::string& mapping, const std::string& mapping_class,
                               const MappingTally& tally) {
  return {mapping,
          mapping_class,
          format_count(tally.schedules),
          format_count(tally.runs),
          error_text(tally.max_error),
          format_count(tally.rejected),
          format_count(tally.failed)};
}

Json tally_json(const MappingTally& tally) {
  Json json = Json::object();
  json["schedules"] = tally.schedules;
  json["runs"] = tally.runs;
  json["max_error"] = json_number(tally.max_error);
  json["rejected"] = tally.rejected;
  json["failed"] = tally.failed;
  return json;
}

}  // namespace

std::vector<Schedule> schedules_by_mapping(const SearchSpace& space, std::optional<std::size_t> per_mapping,
                                           Rng& rng) {
  std::map<std::string, std::vector<std::size_t>> by_mapping;
  for (std::size_t i = 0; i < space.size(); ++i) by_mapping[space.at(i).mapping()].push_back(i);
  std::vector<Schedule> chosen;
  for (auto& [mapping, indices] : by_mapping) {
    const std::size_t count = std::min(per_mapping.value_or(indices.size()), indices.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (count < indices.size()) std::swap(indices[i], indices[i + rng.below(indices.size() - i)]);
      chosen.push_back(space.at(indices[i]));
    }
  }
  return chosen;
}

std::string run_command(const Operator& op, const Schedule& schedule, const std::string& pattern,
                        std::uint64_t seed) {
  Json json = to_json(op);
  for (const char* member : {"name", "data"}) json.erase(member);
  if (op.graph) {
    for (auto& [tensor, fields] : json["inputs"].items()) fields.erase("data");
  }
  return "redtune run <(echo '" + json.dump() + "') --schedule \"" + schedule.text() + "\" --pattern " +
         (pattern.empty() ? "random" : pattern) + " --seed " + std::to_string(seed);
}

void VerifyTally::add(const Task& task, const Schedule& schedule, const ScheduleVerdict& verdict) {
  MappingTally& tally = mappings_[schedule.mapping()];
  ++tally.schedules;
  tally.runs += verdict.runs;
  tally.max_error = std::max(tally.max_error, verdict.max_error);
  if (!verdict.failure) return;
  if (*verdict.failure == OutcomeKind::kRejected) {
    ++tally.rejected;
    return;
  }
  ++tally.failed;
  failures_.push_back({schedule.text(), schedule.mapping(), verdict.input,
                       std::string(name(*verdict.failure)), verdict.detail,
                       run_command(task.op, schedule, verdict.input, seed_)});
}

VerifyTally::VerifyTally(JsonObject json) : seed_(0) {
  for (const auto& [mapping, row] : json.get("mappings").items()) {
    JsonObject fields = json.get_object("mappings").get_object(mapping);
    mappings_[mapping] = {fields.get_int("schedules"), fields.get_int("runs"), fields.get_int("rejected"),
                          fields.get_int("failed"), number_of_json(fields.get("max_error")).value_or(0)};
  }
  for (const Json& failure : json.get("failures")) {
    const auto text = [&](const char* key) { return failure.at(key).get<std::string>(); };
    failures_.push_back({text("schedule"), text("mapping"), text("pattern"), text("kind"), text("detail"), text("command")});
  }
}

void VerifyTally::add(const VerifyTally& other) {
  for (const auto& [mapping, tally] : other.mappings_) mappings_[mapping] += tally;
  failures_.insert(failures_.end(), other.failures_.begin(), other.failures_.end());
}

MappingTally& MappingTally::operator+=(const MappingTally& other) {
  schedules += other.schedules;
  runs += other.runs;
  rejected += other.rejected;
  failed += other.failed;
  max_error = std::max(max_error, other.max_error);
  return *this;
}

MappingTally VerifyTally::total() const {
  MappingTally total;
  for (const auto& [mapping, tally] : mappings_) total += tally;
  return total;
}

std::string VerifyTally::table() const {
  TextTable table;
  table.row({"mapping", "class", "schedules", "runs", "worst error", "rejected", "wrong"});
  for (const MappingInfo& mapping : redtune::mappings()) {
    const auto found = mappings_.find(std::string(mapping.name));
    if (found == mappings_.end()) continue;
    table.row(cells(found->first, std::string(name(mapping.mapping_class)), found->second));
  }
  table.row(cells("all", "", total()));
  return table.str();
}

std::string VerifyTally::failure_text(std::size_t most) const {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, failures_.size()); ++i) {
    const VerifyFailure& failure = failures_[i];
    text += failure.mapping + ": " + failure.kind +
            (failure.pattern.empty() ? "" : " on " + failure.pattern) + ": " + trim(failure.detail) + "\n  " +
            failure.command + "\n";
  }
  if (failures_.size() > most) text += "and " + std::to_string(failures_.size() - most) + " more\n";
  return text;
}

Json VerifyTally::json() const {
  Json json = tally_json(total());
  Json& rows = json["mappings"] = Json::object();
  for (const auto& [mapping, tally] : mappings_) rows[mapping] = tally_json(tally);
  Json& failures = json["failures"] = Json::array();
  for (const VerifyFailure& failure : failures_) {
    failures.push_back({{"schedule", failure.schedule},
                        {"mapping", failure.mapping},
                        {"pattern", failure.pattern},
                        {"kind", failure.kind},
                        {"detail", failure.detail},
                        {"command", failure.command}});
  }
  return json;
}

}  // namespace redtune
