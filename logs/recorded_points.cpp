#include "logs/recorded_points.h"

#include <algorithm>
#include <numeric>

#include "support/error.h"

namespace redtune {
namespace {

constexpr std::size_t kMostValues = 65535;

// 4 and 4.0 are one value.
std::string text_of(const Json& value) {
  return value.is_number() ? Json(value.get<double>()).dump()
                           : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool less(const Json& a, const Json& b) {
  const bool a_number = a.is_number() || a.is_boolean(), b_number = b.is_number() || b.is_boolean();
  if (a_number != b_number) return a_number;
  const auto number = [](const Json& x) {
    return x.is_boolean() ? (x.get<bool>() ? 1.0 : 0.0) : x.get<double>();
  };
  return a_number ? number(a) < number(b) : a.dump() < b.dump();
}

}  // namespace

RecordedPoints::RecordedPoints(std::vector<RecordedParameter> known)
    : parameters_(std::move(known)), level_of_text_(parameters_.size()), closed_(!parameters_.empty()) {
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    for (const Json& value : parameters_[p].values) {
      level_of_text_[p].emplace(text_of(value), static_cast<std::uint16_t>(level_of_text_[p].size()));
    }
  }
}

bool RecordedPoints::add(const Json& configuration, const std::string& origin, const std::string& path,
                         RecordedPoint point) {
  JsonObject fields(configuration, origin, path);
  if (parameters_.empty()) {
    for (const auto& [name, unused] : configuration.items()) parameters_.push_back({name, {}});
    level_of_text_.resize(parameters_.size());
  }
  point.levels.clear();
  for (std::size_t p = 0; p < parameters_.size(); ++p) point.levels.push_back(level_of(fields, p));
  if (!seen_.insert(point.levels).second) return false;
  points_.push_back(std::move(point));
  return true;
}

std::uint16_t RecordedPoints::level_of(JsonObject& configuration, std::size_t p) {
  RecordedParameter& parameter = parameters_[p];
  const Json& value = configuration.get(parameter.name);
  if (!value.is_primitive() || value.is_null()) {
    configuration.fail(parameter.name, "must be a number, a boolean or a string");
  }
  const auto [place, fresh] =
      level_of_text_[p].try_emplace(text_of(value), static_cast<std::uint16_t>(level_of_text_[p].size()));
  if (!fresh) return place->second;
  if (closed_)
    configuration.fail(parameter.name,
                       "is " + text_of(value) + ", which is none of its values in tune_params");
  if (parameter.values.size() >= kMostValues)
    configuration.fail(parameter.name, "has more than 65535 values");
  parameter.values.push_back(value);
  return place->second;
}

void RecordedPoints::finish(RecordedSpace& space) {
  for (std::size_t p = 0; p < parameters_.size(); ++p) {
    std::vector<Json>& values = parameters_[p].values;
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return less(values[a], values[b]); });
    std::vector<std::uint16_t> place(values.size());
    std::vector<Json> sorted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = static_cast<std::uint16_t>(i);
      sorted.push_back(values[order[i]]);
    }
    values = std::move(sorted);
    for (RecordedPoint& point : points_) point.levels[p] = place[point.levels[p]];
  }
  space.parameters = std::move(parameters_);
  space.points = std::move(points_);
}

}  // namespace redtune
