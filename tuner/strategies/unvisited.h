// Which points of a space nobody has asked for yet.
#pragma once

#include <cstddef>
#include <vector>

#include "support/rng.h"

namespace redtune {

class Unvisited {
 public:
  explicit Unvisited(std::size_t size) : visited_(size, false), left_(size) {}

  bool visited(std::size_t point) const { return visited_[point]; }
  bool empty() const { return left_ == 0; }
  std::size_t left() const { return left_; }
  void visit(std::size_t point) {
    if (!visited_[point]) --left_;
    visited_[point] = true;
  }

  /// Uniform among what is left; not empty. Drawn while that is likely to hit, counted out when little is
  /// left.
  std::size_t random(Rng& rng) const {
    for (int i = 0; i < kDrawings; ++i) {
      const std::size_t point = rng.below(visited_.size());
      if (!visited_[point]) return point;
    }
    std::size_t skip = rng.below(left_), point = 0;
    while (visited_[point] || skip-- > 0) ++point;
    return point;
  }

 private:
  static constexpr int kDrawings = 64;
  std::vector<bool> visited_;
  std::size_t left_;
};

}  // namespace redtune
