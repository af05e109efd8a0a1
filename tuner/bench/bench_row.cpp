#include "tuner/bench/bench_row.h"

#include <array>
#include <cmath>

#include "support/stats.h"

namespace redtune {
namespace {

Json time_json(const BenchTime& time) {
  return {{"seconds", time.seconds}, {"low_seconds", time.low}, {"high_seconds", time.high},
          {"spread", time.spread},   {"samples", time.samples}, {"preempted", time.preempted}};
}

BenchTime time_of(JsonObject json) {
  BenchTime time;
  time.seconds = json.get_number("seconds");
  time.low = json.get_number("low_seconds");
  time.high = json.get_number("high_seconds");
  time.spread = json.get_number("spread");
  time.samples = static_cast<int>(json.get_int("samples"));
  time.preempted = static_cast<int>(json.get_int("preempted"));
  json.finish();
  return time;
}

Json side_json(const BenchSide& side) {
  Json json = {{"name", side.name}};
  if (side.time) json["time"] = time_json(*side.time);
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text;
  };
  put("failure", side.failure);
  put("schedule", side.schedule);
  put("version", side.version);
  put("implementation", side.implementation);
  put("clock", side.clock);
  if (side.reference) json["reference"] = true;
  return json;
}

BenchSide side_of(JsonObject json) {
  BenchSide side;
  side.name = json.get_string("name");
  if (json.has("time")) side.time = time_of(json.get_object("time"));
  side.failure = json.get_string("failure", "");
  side.schedule = json.get_string("schedule", "");
  side.version = json.get_string("version", "");
  side.implementation = json.get_string("implementation", "");
  side.clock = json.get_string("clock", "");
  side.reference = json.get_bool("reference", false);
  json.finish();
  return side;
}

}  // namespace

BenchTime bench_time(const std::vector<double>& samples, int preempted) {
  constexpr double kLevel = 0.95;
  constexpr int kResamples = 1000;
  const Interval interval = bootstrap_median(samples, kLevel, kResamples, 1);
  return {median(samples),
          interval.low,
          interval.high,
          relative_spread(samples),
          static_cast<int>(samples.size()),
          preempted};
}

std::string_view name(BenchVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames{"win", "tie", "loss", "unresolved"};
  return kNames[static_cast<std::size_t>(verdict)];
}

BenchVerdict compare(const BenchTime& tuned, const BenchTime& other) {
  constexpr double kTied = 0.03;
  const bool apart = tuned.high < other.low || other.high < tuned.low;
  const double ratio = other.seconds / tuned.seconds;
  if (std::abs(ratio - 1) <= kTied) return BenchVerdict::kTie;
  if (!apart) return BenchVerdict::kUnresolved;
  return ratio > 1 ? BenchVerdict::kWin : BenchVerdict::kLoss;
}

const BenchSide* BenchRow::side(const std::string& wanted) const {
  for (const BenchSide& side : sides) {
    if (side.name == wanted) return &side;
  }
  return nullptr;
}

std::optional<double> BenchRow::ratio(const std::string& wanted) const {
  const BenchSide* const other = side(wanted);
  if (!ok() || other == nullptr || !other->time) return std::nullopt;
  return other->time->seconds / tuned.seconds;
}

Json to_json(const BenchRow& row) {
  Json json = {{"id", row.id}, {"operator", to_json(row.op)}, {"key", row.op.key()}};
  if (!row.scaled.empty()) json["scaled"] = row.scaled;
  json["utc"] = row.time;
  json["log"] = row.log;
  if (!row.ok()) {
    json["error"] = row.error;
    return json;
  }
  json["bytes"] = row.bytes;
  json["tuned"] = time_json(row.tuned);
  json["bytes_per_second"] = row.bytes / row.tuned.seconds;
  json["schedule"] = row.schedule;
  json["mapping"] = row.mapping;
  json["determinism"] = row.determinism;
  json["program"] = row.program_hash;
  json["trials"] = row.trials;
  json["limits"] = {{"trials", row.asked_trials}, {"seconds", row.asked_seconds}};
  json["sides"] = Json::array();
  for (const BenchSide& side : row.sides) json["sides"].push_back(side_json(side));
  return json;
}

BenchRow parse_bench_row(const Json& json, const std::string& origin) {
  JsonObject object(json, origin);
  BenchRow row;
  row.id = object.get_string("id");
  row.op = parse_operator(object.get("operator"), origin + ": operator");
  row.scaled = object.get_string("scaled", "");
  row.time = object.get_string("utc");
  row.log = object.get_string("log");
  row.error = object.get_string("error", "");
  if (!row.ok()) return row;
  row.bytes = object.get_number("bytes");
  row.tuned = time_of(object.get_object("tuned"));
  row.schedule = object.get_string("schedule");
  row.mapping = object.get_string("mapping");
  row.determinism = object.get_string("determinism");
  row.program_hash = object.get_string("program");
  row.trials = static_cast<std::size_t>(object.get_int("trials"));
  JsonObject limits = object.get_object("limits");
  row.asked_trials = static_cast<std::size_t>(limits.get_int("trials"));
  row.asked_seconds = limits.get_number("seconds");
  const Json& sides = object.get("sides");
  for (std::size_t i = 0; i < sides.size(); ++i) {
    row.sides.push_back(side_of(JsonObject(sides[i], origin, "sides[" + std::to_string(i) + "]")));
  }
  return row;
}

}  // namespace redtune
