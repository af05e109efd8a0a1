// Kernel Tuner's cachefile: one JSON object whose last member, "cache", grows by a line per configuration and
// is left open while a tuning run goes on.
#include <cmath>
#include <string>

#include "logs/recorded_points.h"
#include "logs/recorded_space.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

// Old versions wrote such a time for a failure.
constexpr double kFailureTime = 1e19;

// A run that goes on, or was killed, leaves the braces open and possibly half an entry behind.
Json parse_open_file(std::string_view text, const std::string& origin) {
  const std::string whole = trim(text);
  std::string_view rest = whole;
  try {
    return parse_json(rest, origin);
  } catch (const UserError&) {
    if (rest.find("\"cache\"") == std::string_view::npos) throw;
  }
  if (rest.ends_with(',')) rest.remove_suffix(1);
  try {
    return parse_json(std::string(rest) + "}\n}", origin);
  } catch (const UserError&) {
    const std::size_t last_line = rest.rfind('\n');
    if (last_line == std::string_view::npos) throw;
    std::string complete = trim(rest.substr(0, last_line));
    if (complete.ends_with(',')) complete.pop_back();
    return parse_json(complete + "}\n}", origin);
  }
}

std::vector<RecordedParameter> parameters_of(JsonObject& file) {
  std::vector<RecordedParameter> parameters;
  const Json& keys = file.get("tune_params_keys");
  if (!keys.is_array() || keys.empty()) file.fail("tune_params_keys", "must be an array of names");
  JsonObject values = file.get_object("tune_params");
  for (const Json& key : keys) {
    if (!key.is_string()) file.fail("tune_params_keys", "must be an array of names");
    const std::string name = key.get<std::string>();
    const Json& list = values.get(name);
    if (!list.is_array() || list.empty()) values.fail(name, "must be an array of its values");
    RecordedParameter parameter{name, {}};
    for (const Json& value : list) {
      if (!value.is_primitive() || value.is_null())
        values.fail(name, "must hold numbers, booleans or strings");
      parameter.values.push_back(value);
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

// Milliseconds, where the entry has them.
double cost_of(JsonObject& entry) {
  double sum = 0;
  for (const char* part :
       {"compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"}) {
    if (entry.has(part) && entry.get(part).is_number()) sum += entry.get_number(part);
  }
  return sum * 1e-3;
}

RecordedPoint point_of(JsonObject& entry, const std::string& objective) {
  RecordedPoint point;
  point.cost_seconds = cost_of(entry);
  if (entry.has("__error__")) {
    const Json& error = entry.get("__error__");
    point.failure = error.is_string() ? error.get<std::string>() : error.dump();
    return point;
  }
  const Json& value = entry.get(objective);
  if (value.is_string()) {  // the older way to write a failure
    point.failure = value.get<std::string>();
    if (point.failure.empty()) point.failure = "failed";
    return point;
  }
  point.value = entry.get_number(objective);
  if (point.value >= kFailureTime) {
    point.value = 0;
    point.failure = "failed";
  } else if (!(point.value > 0)) {
    entry.fail(objective, "must be above 0, is " + value.dump());
  }
  return point;
}

}  // namespace

RecordedSpace parse_cachefile(std::string_view text, const std::string& origin) {
  const Json document = parse_open_file(text, origin);
  JsonObject file(document, origin);
  RecordedSpace space;
  space.objective = file.get_string("objective", "time");
  if (space.objective.find("/s") != std::string::npos) {
    file.fail("objective",
              "is '" + space.objective + "', a rate: only objectives that are better when smaller are read");
  }
  const std::string device = file.get_string("device_name", "");
  space.name = file.get_string("kernel_name", "kernel") + " on " +
               (device.empty() ? "a device without a name" : device);
  RecordedPoints points(parameters_of(file));
  const Json& cache = file.get("cache");
  if (!cache.is_object()) file.fail("cache", "must be an object");
  for (const auto& [key, value] : cache.items()) {
    const std::string path = "cache." + key;
    JsonObject entry(value, origin, path);
    points.add(value, origin, path, point_of(entry, space.objective));
  }
  points.finish(space);
  return space;
}

}  // namespace redtune
