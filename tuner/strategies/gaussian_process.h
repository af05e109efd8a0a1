// Gaussian process over a discrete space: what is the value of a point, and how sure is that, after a few
// dozen to a few hundred measured points.
//
// Kernel (per dimension d a table over pairs of levels, Matern 3/2 of the distance of their places with a
// length of its own; an extra distance between dyadic and other levels; a share that only equal levels have
// in common):
//
//     k(a, b) = (1 - additive) * product_d k_d + additive * mean_d k_d
//
// The additive part carries main effects from the first measurements on, the product what they miss. Lengths,
// shares and noise maximise the marginal likelihood times wide priors, found by coordinate search.
//
// Costs, n measured, c candidates: add O(n * c), set_values O(n * c), fit O(n^3) for each of some 100 trials
// with n capped. Memory 4 n c bytes. Source of the method: Rasmussen and Williams, Gaussian Processes for
// Machine Learning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tuner/discrete_space.h"

namespace redtune {

class GaussianProcess {
 public:
  explicit GaussianProcess(const DiscreteSpace& space);

  /// Adds points that predictions are wanted for; points must be distinct. Free to repeat.
  void add_candidates(std::span<const std::uint32_t> points);
  /// Conditions on a point. Its value counts as predicted until set_values tells one.
  void add(std::uint32_t point);
  /// Values of the first `values.size()` added points, smaller is better; the points behind them have none
  /// yet.
  void set_values(std::vector<double> values);
  /// Forgets its points and conditions on these, in order; the values go too.
  void condition_on(const std::vector<std::uint32_t>& points);
  /// Finds lengths, shares and noise anew and conditions on all points again.
  void fit(int sweeps);

  std::size_t size() const { return points_.size(); }
  const std::vector<std::uint32_t>& candidates() const { return candidates_; }
  /// In the scale of the values.
  double mean(std::size_t candidate) const { return centre_ + spread_ * mean_[candidate]; }
  double deviation(std::size_t candidate) const;

 private:
  struct Parameters {
    std::vector<double> length, same, dyadic;  // per dimension
    double noise = 0.02, additive = 0.3;
  };
  struct Axis {
    std::vector<float> places;
    std::vector<bool> dyadic;
    bool ordered = true;
    std::size_t levels() const { return places.size(); }
  };
  using Tables = std::vector<std::vector<float>>;

  Tables tables_of(const Parameters& parameters) const;
  float kernel(const Tables& tables, double additive, std::uint32_t a, std::uint32_t b) const;
  void condition(std::uint32_t point);
  double cost(const Parameters& parameters, const std::vector<std::uint32_t>& points,
              const std::vector<double>& values) const;
  void choose_for_fit(std::vector<std::uint32_t>& points, std::vector<double>& values) const;
  void standardise();
  void predict();

  std::size_t total_ = 0;  // points of the space
  std::vector<Axis> axes_;
  std::vector<std::uint8_t> codes_;  // row-major, one row per point of the space
  Parameters parameters_;
  Tables tables_;
  std::vector<std::uint32_t> points_, candidates_;
  std::vector<double> values_;
  std::vector<std::vector<double>> factor_;  // lower Cholesky factor, row by row
  std::vector<std::vector<float>> solved_;   // factor^-1 times kernel to the candidates, row by row
  std::vector<float> mean_, variance_;
  double centre_ = 0, spread_ = 1, scale_ = 1;
};

}  // namespace redtune
