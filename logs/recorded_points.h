// Collects the points of a recorded space while a reader walks through its file. Internal to logs/.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "logs/recorded_space.h"

namespace redtune {

class RecordedPoints {
 public:
  /// `known`: the parameters when the file lists them; otherwise they come from the first configuration, and
  /// their values from all of them.
  explicit RecordedPoints(std::vector<RecordedParameter> known = {});

  /// The point of a configuration: the object at `path` of the file, with one member per parameter. False
  /// when it was there already: the first stands. Throws UserError naming the field of the parameter that is
  /// missing, unknown or no scalar.
  bool add(const Json& configuration, const std::string& origin, const std::string& path,
           RecordedPoint point);
  std::size_t size() const { return points_.size(); }

  /// Moves everything into `space`, the values of each parameter in rising order (numbers before words).
  void finish(RecordedSpace& space);

 private:
  std::uint16_t level_of(JsonObject& configuration, std::size_t parameter);

  std::vector<RecordedParameter> parameters_;
  std::vector<std::map<std::string, std::uint16_t>> level_of_text_;
  std::set<std::vector<std::uint16_t>> seen_;
  std::vector<RecordedPoint> points_;
  bool closed_ = false;  // the file said which values there are
};

}  // namespace redtune
