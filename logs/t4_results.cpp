// T4 result files in the dialects of Kernel Tuner's writer, of the benchmark hub and of KTT's converter. They
// differ in the name of the compile time, in what a failure leaves out, and in where the unit of a time
// stands.
#include <cctype>
#include <cmath>
#include <optional>
#include <string>

#include "logs/recorded_points.h"
#include "logs/recorded_space.h"
#include "support/error.h"

namespace redtune {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit kUnits[] = {{"seconds", 1},         {"s", 1},
                           {"milliseconds", 1e-3}, {"miliseconds", 1e-3} /* as the hub spells it */,
                           {"ms", 1e-3},           {"us", 1e-6},
                           {"microseconds", 1e-6}, {"ns", 1e-9},
                           {"nanoseconds", 1e-9}};

std::optional<double> seconds_of_unit(std::string word) {
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Unit& unit : kUnits) {
    if (unit.name == word) return unit.seconds;
  }
  return std::nullopt;
}

class T4Reader {
 public:
  T4Reader(const Json& document, const std::string& origin) : file_(document, origin), origin_(origin) {}

  RecordedSpace read() {
    if (file_.has("metadata")) read_metadata();
    const Json& results = file_.get("results");
    if (!results.is_array()) file_.fail("results", "must be an array");
    RecordedPoints points;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string path = "results[" + std::to_string(i) + "]";
      JsonObject result(results[i], origin_, path);
      RecordedPoint point = point_of(result);
      points.add(result.get("configuration"), origin_, path + ".configuration", std::move(point));
    }
    points.finish(space_);
    return std::move(space_);
  }

 private:
  void read_metadata() {
    JsonObject metadata = file_.get_object("metadata");
    if (!metadata.has("timeunit")) return;
    const auto seconds = seconds_of_unit(metadata.get_string("timeunit"));
    if (!seconds) metadata.fail("timeunit", "is '" + metadata.get_string("timeunit") + "', no unit of time");
    unit_seconds_ = *seconds;
  }

  RecordedPoint point_of(JsonObject& result) {
    RecordedPoint point;
    point.cost_seconds = cost_of(result.get_object("times"));
    const std::string invalidity = result.get_string("invalidity");
    if (invalidity != "correct") {
      point.failure = invalidity.empty() ? "failed" : invalidity;
      return point;
    }
    read_value(result, point);
    return point;
  }

  // Compile time under either name; the runs themselves where no time for the benchmark as a whole is given.
  double cost_of(JsonObject times) const {
    double sum = 0;
    for (const char* part :
         {"compilation", "compilation_time", "benchmark", "framework", "search_algorithm", "validation"}) {
      if (times.has(part) && times.get(part).is_number()) sum += times.get_number(part);
    }
    if (!times.has("benchmark") && times.has("runtimes") && times.get("runtimes").is_array()) {
      for (const Json& run : times.get("runtimes")) sum += run.is_number() ? run.get<double>() : 0;
    }
    return sum * unit_seconds_;
  }

  void read_value(JsonObject& result, RecordedPoint& point) {
    const std::string objective = objective_of(result);
    const Json& measurements = result.get("measurements");
    if (!measurements.is_array()) result.fail("measurements", "must be an array");
    for (std::size_t i = 0; i < measurements.size(); ++i) {
      JsonObject measurement(measurements[i], origin_,
                             result.path() + ".measurements[" + std::to_string(i) + "]");
      if (measurement.get_string("name") != objective) continue;
      const Json& value = measurement.get("value");
      if (value.is_string()) {
        point.failure = value.get<std::string>();
        if (point.failure.empty()) point.failure = "failed";
        return;
      }
      point.value = measurement.get_number("value") * factor_of(measurement);
      if (!(point.value > 0)) measurement.fail("value", "must be above 0, is " + value.dump());
      return;
    }
    result.fail("measurements", "has no '" + objective + "', which is the objective");
  }

  std::string objective_of(JsonObject& result) {
    std::string objective = "time";
    if (result.has("objectives")) {
      const Json& names = result.get("objectives");
      if (!names.is_array() || names.empty() || !names[0].is_string()) {
        result.fail("objectives", "must be an array of names");
      }
      objective = names[0].get<std::string>();
    }
    if (space_.objective.empty()) space_.objective = objective;
    if (space_.objective != objective) {
      result.fail("objectives", "is '" + objective + "', other results have '" + space_.objective + "'");
    }
    return objective;
  }

  // The unit of the first measurement is that of the space; others are converted to it.
  double factor_of(JsonObject& measurement) {
    const std::string word = measurement.get_string("unit", "");
    const auto seconds = word.empty() ? std::optional<double>(unit_seconds_) : seconds_of_unit(word);
    if (!seconds) return 1;  // no time: "W", "J"
    if (!has_unit_) {
      space_.unit_seconds = *seconds;
      has_unit_ = true;
    }
    return *seconds / space_.unit_seconds;
  }

  JsonObject file_;
  const std::string& origin_;
  double unit_seconds_ = 1e-3;
  bool has_unit_ = false;
  RecordedSpace space_;
};

}  // namespace

RecordedSpace parse_t4(const Json& document, const std::string& origin) {
  RecordedSpace space = T4Reader(document, origin).read();
  if (space.objective.empty()) space.objective = "time";
  space.name = origin;
  return space;
}

}  // namespace redtune
