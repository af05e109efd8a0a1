// The performance score of the field (autotuning_methodology) over evaluations, and its companions. It
// compares a strategy's best-so-far with what random search without replacement expects: 0 as random, 1
// optimum found at once.
//
//   v_0 >= ... >= v_{N-1}   values of the N configurations that work, worst to best; v_opt = v_{N-1}
//   f_c = v_opt + (v_median - v_opt) * (1 - p)       value that ends the budget; p = 0.96
//   i   = min {k : v_k <= f_c},  M_c = ceil(i / (N + 1 - i))    evaluations in which random search expects to
//   reach it B(M) = v_{r(M)},  r(M) = min(N - 1, round(M (N + 1) / (M + 1)) - o) P(M) = (S(M) - B(M)) /
//   (v_opt - B(M)), S(M): value at the mean rank of the best so far over all repeats score = mean of P(M)
//   over M = 1..M_c
//
// The published code takes the expected rank, which counts from 1, as an index that counts from 0 (o = 0):
// random search then scores below 0. With o = 1 it scores 0. Evaluations of failing configurations do not
// count, as in the field's comparisons.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace redtune {

enum class RankBase { kPublished, kCorrected };

class Baseline {
 public:
  /// `values`: of the configurations that work, > 0, in any order; at least one.
  explicit Baseline(std::vector<double> values, double cutoff = 0.96);

  double optimum() const { return values_.back(); }
  double median() const;
  double cutoff_value() const { return cutoff_value_; }
  std::size_t cutoff_rank() const { return cutoff_rank_; }  // i
  std::size_t budget() const { return budget_; }            // M_c
  /// B(M), M >= 1.
  double expected(std::size_t evaluations, RankBase base) const;
  /// Index of `value` among the values; the best one where several are equal.
  std::size_t rank(double value) const;
  const std::vector<double>& values() const { return values_; }  // worst to best

 private:
  std::vector<double> values_;
  double cutoff_value_ = 0;
  std::size_t cutoff_rank_ = 0, budget_ = 1;
};

/// P(M) for M = 1..budget. `runs`: per repeat the values of the evaluations that worked, in order; a run that
/// stops early stays where it was. At least one run with at least one value.
std::vector<double> performance_curve(const Baseline& baseline, std::span<const std::vector<double>> runs,
                                      RankBase base);

/// Mean of the curve.
double performance_score(const Baseline& baseline, std::span<const std::vector<double>> runs, RankBase base);

}  // namespace redtune
