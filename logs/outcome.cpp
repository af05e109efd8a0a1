#include "logs/outcome.h"

#include <array>
#include <cmath>
#include <utility>

#include "support/error.h"

namespace redtune {
namespace {

constexpr std::array<std::pair<OutcomeKind, std::string_view>, 8> kNames{{
    {OutcomeKind::kTimed, "timed"},
    {OutcomeKind::kRejected, "rejected"},
    {OutcomeKind::kCompileFailed, "compile_failed"},
    {OutcomeKind::kLaunchFailed, "launch_failed"},
    {OutcomeKind::kWrongResult, "wrong_result"},
    {OutcomeKind::kTimedOut, "timed_out"},
    {OutcomeKind::kCrashed, "crashed"},
    {OutcomeKind::kUnmeasured, "unmeasured"},
}};

// JSON has no words for what is not finite, and a zero says nothing: both stay away.
void put_number(Json& json, const char* key, double value) {
  if (std::isfinite(value) && value != 0) json[key] = value;
}

}  // namespace

std::string_view name(OutcomeKind kind) { return kNames[static_cast<std::size_t>(kind)].second; }

OutcomeKind parse_outcome_kind(std::string_view word) {
  std::vector<std::string> known;
  for (const auto& [kind, text] : kNames) {
    if (text == word) return kind;
    known.emplace_back(text);
  }
  throw UserError(unknown_word_message("outcome", word, known));
}

Json to_json(const Outcome& outcome) {
  Json json = Json::object();
  json["kind"] = std::string(name(outcome.kind));
  if (!outcome.detail.empty()) json["detail"] = outcome.detail;
  put_number(json, "median_seconds", outcome.median_seconds);
  put_number(json, "low_seconds", outcome.low_seconds);
  put_number(json, "high_seconds", outcome.high_seconds);
  put_number(json, "spread", outcome.spread);
  put_number(json, "kernel_seconds", outcome.kernel_seconds);
  put_number(json, "max_error", outcome.max_error);
  put_number(json, "compile_seconds", outcome.compile_seconds);
  put_number(json, "measure_seconds", outcome.measure_seconds);
  Json samples = Json::array();
  for (double sample : outcome.seconds) {
    if (std::isfinite(sample)) samples.push_back(sample);
  }
  if (!samples.empty()) json["seconds"] = std::move(samples);
  return json;
}

Outcome parse_outcome(const Json& json, const std::string& origin) {
  JsonObject object(json, origin);
  Outcome outcome;
  const std::string kind = object.get_string("kind");
  try {
    outcome.kind = parse_outcome_kind(kind);
  } catch (const UserError& error) {
    object.fail("kind", std::string("is no outcome: ") + error.what());
  }
  outcome.detail = object.get_string("detail", "");
  outcome.median_seconds = object.get_number("median_seconds", 0.0);
  outcome.low_seconds = object.get_number("low_seconds", 0.0);
  outcome.high_seconds = object.get_number("high_seconds", 0.0);
  outcome.spread = object.get_number("spread", 0.0);
  outcome.kernel_seconds = object.get_number("kernel_seconds", 0.0);
  outcome.max_error = object.get_number("max_error", 0.0);
  outcome.compile_seconds = object.get_number("compile_seconds", 0.0);
  outcome.measure_seconds = object.get_number("measure_seconds", 0.0);
  if (object.has("seconds")) {
    const Json& samples = object.get("seconds");
    if (!samples.is_array()) object.fail("seconds", "must be an array of numbers");
    for (const Json& sample : samples) {
      if (!sample.is_number()) object.fail("seconds", "must be an array of numbers");
      outcome.seconds.push_back(sample.get<double>());
    }
  }
  if (outcome.timed() && !(outcome.median_seconds > 0)) {
    object.fail("median_seconds", "must be a positive number for a timed outcome");
  }
  return outcome;
}

}  // namespace redtune
