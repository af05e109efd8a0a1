// The schedules of a task as points of a discrete space.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "cost_model/features.h"
#include "cost_model/learned_model.h"
#include "tuner/discrete_space.h"

namespace redtune {
namespace {

// One column of the grid while it is collected: what every schedule has there.
struct Column {
  Dimension dimension;
  std::vector<std::uint16_t> levels;
};

Column word_column(const char* name, const std::vector<Schedule>& schedules, int (*word)(const Schedule&)) {
  std::map<int, std::uint16_t> level_of;
  for (const Schedule& s : schedules) level_of.emplace(word(s), 0);
  std::uint16_t next = 0;
  for (auto& [unused, level] : level_of) level = next++;
  Column column{word_dimension(name, level_of.size()), {}};
  for (const Schedule& s : schedules) column.levels.push_back(level_of.at(word(s)));
  return column;
}

Column size_column(const ScheduleSize& size, const std::vector<Schedule>& schedules) {
  std::map<std::int32_t, std::uint16_t> level_of;
  for (const Schedule& s : schedules) level_of.emplace(s.*(size.member), 0);
  std::vector<double> values;
  for (auto& [value, level] : level_of) {
    level = static_cast<std::uint16_t>(values.size());
    values.push_back(value);
  }
  std::string name(size.name);
  Column column{values.size() < 2 ? word_dimension(name, values.size()) : numeric_dimension(name, values),
                {}};
  for (const Schedule& s : schedules) column.levels.push_back(level_of.at(s.*(size.member)));
  return column;
}

void add_features(DiscreteSpace& points, const Task& task, const std::vector<Schedule>& schedules,
                  const std::string& model) {
  std::vector<std::string> names;
  for (const Feature& feature : features()) names.emplace_back(feature.name);
  points.set_features(std::move(names), feature_matrix(task, schedules));
  points.set_guess(model.empty() ? analytic_log_times(task, schedules)
                                 : LearnedModel::load(model).predict(points.features()));
}

}  // namespace

DiscreteSpace discrete_space(const SearchSpace& space, const std::string& model) {
  std::vector<Schedule> schedules;
  schedules.reserve(space.size());
  for (std::size_t i = 0; i < space.size(); ++i) schedules.push_back(space.at(i));
  std::vector<Column> columns{
      word_column("block", schedules, [](const Schedule& s) { return static_cast<int>(s.block); }),
      word_column("grid", schedules, [](const Schedule& s) { return static_cast<int>(s.grid); }),
      word_column("walk", schedules, [](const Schedule& s) { return static_cast<int>(s.walk); })};
  for (const ScheduleSize& size : schedule_sizes()) columns.push_back(size_column(size, schedules));
  std::erase_if(columns, [](const Column& column) { return column.dimension.levels() < 2; });
  std::vector<std::uint16_t> levels;
  levels.reserve(schedules.size() * columns.size());
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    for (const Column& column : columns) levels.push_back(column.levels[i]);
  }
  std::vector<Dimension> dimensions;
  for (Column& column : columns) dimensions.push_back(std::move(column.dimension));
  DiscreteSpace points(schedules.size(), std::move(dimensions), std::move(levels));
  add_features(points, space.task(), schedules, model);
  return points;
}

}  // namespace redtune
