// A finite space as search sees it: points on a grid of dimensions, whatever they stand for. The schedules of
// a task and the configurations of a recorded space both become one, so that every strategy works on both.
//
// Immutable once built; strategies keep their own state, so runs with different seeds share nothing that
// learns. Cost: O(points * dimensions) to build and to hold; O(1) to look at a point, O(log points) to find
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "logs/recorded_space.h"
#include "space/search_space.h"

namespace redtune {

/// One variable of a space. Dimensions with a single value are left out of a space.
struct Dimension {
  std::string name;
  /// Place of each level, in [0, 1]: by logarithm where the values are positive and span a factor of 4,
  /// linear otherwise. Words have places without meaning and are not `ordered`.
  std::vector<float> places;
  bool ordered = true;
  /// Per level: a power of two (or 0). Hardware shares out work in powers of two, so sizes that are none
  /// often are a world of their own. Empty when all levels are, or none is.
  std::vector<bool> dyadic;
  /// What a model reads: the number itself, or 0, 1, 2... for words.
  std::vector<float> numbers;

  std::size_t levels() const { return places.size(); }
};

class DiscreteSpace {
 public:
  /// `levels`: row-major, `size` rows with a column per dimension. Rows must be distinct.
  DiscreteSpace(std::size_t size, std::vector<Dimension> dimensions, std::vector<std::uint16_t> levels);

  std::size_t size() const { return size_; }
  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  std::span<const std::uint16_t> levels(std::size_t point) const {
    return {&levels_[point * dimensions_.size()], dimensions_.size()};
  }
  std::optional<std::size_t> find(std::span<const std::uint16_t> levels) const;

  /// Points that differ in one dimension: in an ordered one by up to `reach` levels, in another one by any.
  /// In index order per dimension.
  std::vector<std::size_t> neighbours(std::size_t point, std::size_t reach = 1) const;
  /// neighbours(), and points where one ordered dimension goes up a level while another goes down one: sizes
  /// are often tied together by a constraint.
  std::vector<std::size_t> moves(std::size_t point, std::size_t reach = 1) const;

  /// What a learned model reads of each point: row-major, `feature_names().size()` columns.
  std::span<const float> features() const { return features_; }
  const std::vector<std::string>& feature_names() const { return feature_names_; }
  void set_features(std::vector<std::string> names, std::vector<float> values);

  /// A guess of the logarithm of each point's time, made without measuring this space (an analytic or a
  /// trained model). Empty: nobody has one.
  std::span<const float> guess() const { return guess_; }
  void set_guess(std::vector<float> log_times);

 private:
  void add_found(const std::vector<std::uint16_t>& levels, std::vector<std::size_t>& result) const;

  std::size_t size_ = 0;
  std::vector<Dimension> dimensions_;
  std::vector<std::uint16_t> levels_;
  std::vector<std::uint32_t> order_;  // points by their levels, for find
  std::vector<std::string> feature_names_;
  std::vector<float> features_, guess_;
};

/// Point i is configuration i of `space`. Features: the numbers of the dimensions and the logarithms of their
/// pairwise products.
DiscreteSpace discrete_space(const RecordedSpace& space);

/// Point i is schedule i of `space`. Features: cost_model/features.h; guess: the model in the file `model`
/// (throws UserError when it cannot be used), or the analytic model when that is "".
DiscreteSpace discrete_space(const SearchSpace& space, const std::string& model = "");

/// A dimension of numbers (at least two, rising).
Dimension numeric_dimension(std::string name, const std::vector<double>& values);
Dimension word_dimension(std::string name, std::size_t count);

}  // namespace redtune
