#include "tuner/discrete_space.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/error.h"

namespace redtune {
namespace {

// Values that span at least this factor are placed by their logarithm.
constexpr double kLogarithmicSpan = 4;

bool is_dyadic(double value) {
  const auto whole = static_cast<std::uint64_t>(std::fabs(value));
  return static_cast<double>(whole) == std::fabs(value) && (whole & (whole - 1)) == 0;
}

bool is_number(const Json& value) { return value.is_number() || value.is_boolean(); }

double number_of(const Json& value) {
  return value.is_boolean() ? (value.get<bool>() ? 1 : 0) : value.get<double>();
}

Dimension dimension_of(const RecordedParameter& parameter) {
  if (!std::all_of(parameter.values.begin(), parameter.values.end(), is_number)) {
    return word_dimension(parameter.name, parameter.values.size());
  }
  std::vector<double> values;
  for (const Json& value : parameter.values) values.push_back(number_of(value));
  return numeric_dimension(parameter.name, values);
}

// Numbers as they are, and logarithms of pairwise products: threads of a block, elements of a tile. Trees
// build neither from the numbers alone.
void add_plain_features(DiscreteSpace& space) {
  const std::vector<Dimension>& dimensions = space.dimensions();
  std::vector<std::string> names;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<std::vector<float>> logs(dimensions.size());
  for (std::size_t a = 0; a < dimensions.size(); ++a) {
    names.push_back(dimensions[a].name);
    for (float number : dimensions[a].numbers) logs[a].push_back(std::log2(1 + std::fabs(number)));
    for (std::size_t b = 0; b < a; ++b) {
      if (!dimensions[a].ordered || !dimensions[b].ordered) continue;
      if (dimensions[a].levels() < 3 || dimensions[b].levels() < 3) continue;
      pairs.emplace_back(b, a);
    }
  }
  for (const auto& [a, b] : pairs) names.push_back("log " + dimensions[a].name + "*" + dimensions[b].name);
  std::vector<float> values;
  values.reserve(space.size() * names.size());
  for (std::size_t i = 0; i < space.size(); ++i) {
    const auto levels = space.levels(i);
    for (std::size_t d = 0; d < dimensions.size(); ++d) values.push_back(dimensions[d].numbers[levels[d]]);
    for (const auto& [a, b] : pairs) values.push_back(logs[a][levels[a]] + logs[b][levels[b]]);
  }
  space.set_features(std::move(names), std::move(values));
}

}  // namespace

Dimension numeric_dimension(std::string name, const std::vector<double>& values) {
  RT_CHECK(values.size() >= 2, "a dimension without a choice");
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const bool logarithmic = *low > 0 && *high / *low >= kLogarithmicSpan;
  Dimension dimension{std::move(name), {}, true, {}, {}};
  std::size_t powers = 0;
  for (double value : values) {
    const double place =
        logarithmic ? std::log(value / *low) / std::log(*high / *low) : (value - *low) / (*high - *low);
    dimension.places.push_back(static_cast<float>(place));
    dimension.numbers.push_back(static_cast<float>(value));
    dimension.dyadic.push_back(is_dyadic(value));
    powers += is_dyadic(value) ? 1 : 0;
  }
  if (powers == 0 || powers == values.size()) dimension.dyadic.clear();
  return dimension;
}

Dimension word_dimension(std::string name, std::size_t count) {
  Dimension dimension{std::move(name), {}, false, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    dimension.numbers.push_back(static_cast<float>(i));
    dimension.places.push_back(count > 1 ? static_cast<float>(i) / static_cast<float>(count - 1) : 0.0f);
  }
  return dimension;
}

DiscreteSpace::DiscreteSpace(std::size_t size, std::vector<Dimension> dimensions,
                             std::vector<std::uint16_t> levels)
    : size_(size), dimensions_(std::move(dimensions)), levels_(std::move(levels)) {
  RT_CHECK(levels_.size() == size_ * dimensions_.size(), "a level for each point and dimension");
  order_.resize(size_);
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::ranges::lexicographical_compare(this->levels(a), this->levels(b));
  });
}

std::optional<std::size_t> DiscreteSpace::find(std::span<const std::uint16_t> wanted) const {
  const auto place =
      std::lower_bound(order_.begin(), order_.end(), wanted, [&](std::uint32_t point, const auto& value) {
        return std::ranges::lexicographical_compare(levels(point), value);
      });
  if (place == order_.end() || !std::ranges::equal(levels(*place), wanted)) return std::nullopt;
  return *place;
}

void DiscreteSpace::add_found(const std::vector<std::uint16_t>& levels,
                              std::vector<std::size_t>& result) const {
  if (const auto point = find(levels)) result.push_back(*point);
}

std::vector<std::size_t> DiscreteSpace::neighbours(std::size_t point, std::size_t reach) const {
  std::vector<std::size_t> result;
  const auto here = levels(point);
  std::vector<std::uint16_t> there(here.begin(), here.end());
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const bool ordered = dimensions_[d].ordered;
    const std::size_t low = ordered && here[d] > reach ? here[d] - reach : 0;
    const std::size_t high =
        ordered ? std::min(here[d] + reach + 1, dimensions_[d].levels()) : dimensions_[d].levels();
    for (std::size_t level = low; level < high; ++level) {
      if (level == here[d]) continue;
      there[d] = static_cast<std::uint16_t>(level);
      add_found(there, result);
    }
    there[d] = here[d];
  }
  return result;
}

std::vector<std::size_t> DiscreteSpace::moves(std::size_t point, std::size_t reach) const {
  std::vector<std::size_t> result = neighbours(point, reach);
  const auto here = levels(point);
  std::vector<std::uint16_t> there(here.begin(), here.end());
  for (std::size_t up = 0; up < dimensions_.size(); ++up) {
    if (!dimensions_[up].ordered || here[up] + 1u >= dimensions_[up].levels()) continue;
    for (std::size_t down = 0; down < dimensions_.size(); ++down) {
      if (down == up || !dimensions_[down].ordered || here[down] == 0) continue;
      ++there[up];
      --there[down];
      add_found(there, result);
      there[up] = here[up];
      there[down] = here[down];
    }
  }
  return result;
}

void DiscreteSpace::set_features(std::vector<std::string> names, std::vector<float> values) {
  RT_CHECK(values.size() == names.size() * size_, "a value for each point and feature");
  feature_names_ = std::move(names);
  features_ = std::move(values);
}

void DiscreteSpace::set_guess(std::vector<float> log_times) {
  RT_CHECK(log_times.size() == size_, "a guess for each point");
  guess_ = std::move(log_times);
}

DiscreteSpace discrete_space(const RecordedSpace& space) {
  std::vector<std::size_t> used;
  std::vector<Dimension> dimensions;
  for (std::size_t p = 0; p < space.parameters.size(); ++p) {
    if (space.parameters[p].values.size() < 2) continue;
    used.push_back(p);
    dimensions.push_back(dimension_of(space.parameters[p]));
  }
  std::vector<std::uint16_t> levels;
  levels.reserve(space.points.size() * used.size());
  for (const RecordedPoint& point : space.points) {
    for (std::size_t p : used) levels.push_back(point.levels[p]);
  }
  DiscreteSpace result(space.points.size(), std::move(dimensions), std::move(levels));
  add_plain_features(result);
  return result;
}

}  // namespace redtune
