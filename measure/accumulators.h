// What the reference keeps of the elements of one output, per operator and kind of number. `take` adds one
// element, `take_run` many at once, `merge` what another accumulator saw.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace redtune {

/// Sum of floats, with what the tolerance needs. `Real` has more bits than what the kernel accumulates in.
template <typename Real>
struct FloatSum {
  using Value = double;
  Real sum = 0, absolute = 0, squares = 0;
  double fractions = 0;  // 0 as long as every element is a multiple of 1/8

  // Adding and taking away this number rounds to an integer; far above it, what comes out is not 0, which
  // only means that the sum is not known to be exact.
  static double fraction_of_eighths(double x) {
    constexpr double kRound = 0x1.8p52;
    const double eighths = x * 8;
    return std::abs(eighths - ((eighths + kRound) - kRound));
  }

  void take(double x) {
    const Real wide = x;
    sum += wide;
    absolute += std::abs(wide);
    squares += wide * wide;
    fractions += fraction_of_eighths(x);
  }

  void take_run(const double* x, std::int64_t n) {
    constexpr int kLanes = 8;  // independent chains: the compiler makes vectors of them
    Real sums[kLanes] = {}, absolutes[kLanes] = {}, square_sums[kLanes] = {};
    double fraction_sums[kLanes] = {};
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) {
        const Real wide = x[i + l];
        sums[l] += wide;
        absolutes[l] += std::abs(wide);
        square_sums[l] += wide * wide;
        fraction_sums[l] += fraction_of_eighths(x[i + l]);
      }
    }
    for (int l = 0; i > 0 && l < kLanes; ++l) {
      merge(FloatSum{sums[l], absolutes[l], square_sums[l], fraction_sums[l]});
    }
    for (; i < n; ++i) take(x[i]);
  }

  void merge(const FloatSum& other) {
    sum += other.sum;
    absolute += other.absolute;
    squares += other.squares;
    fractions += other.fractions;
  }
};

struct FloatProduct {
  using Value = double;
  // Wider in range than any type that a kernel multiplies in: what overflows only on the way does not
  // overflow here.
  long double product = 1;

  void take(double x) { product *= x; }
  void take_run(const double* x, std::int64_t n) {
    long double lanes[4] = {1, 1, 1, 1};
    std::int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
      for (int l = 0; l < 4; ++l) lanes[l] *= x[i + l];
    }
    for (; i < n; ++i) product *= x[i];
    product *= (lanes[0] * lanes[1]) * (lanes[2] * lanes[3]);
  }
  void merge(const FloatProduct& other) { product *= other.product; }
};

/// Maximum (or minimum) of floats; a NaN stays.
template <bool kMaximum>
struct FloatExtreme {
  using Value = double;
  double extreme = kMaximum ? -HUGE_VAL : HUGE_VAL;
  double nan_seen = 0;  // a NaN once one was there

  void take(double x) {
    extreme = (kMaximum ? x > extreme : x < extreme) ? x : extreme;
    nan_seen = x == x ? nan_seen : x;
  }
  void take_run(const double* x, std::int64_t n) {
    constexpr int kLanes = 8;
    double best[kLanes], nans[kLanes] = {};
    for (double& b : best) b = extreme;
    std::int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int l = 0; l < kLanes; ++l) {
        const double v = x[i + l];
        best[l] = (kMaximum ? v > best[l] : v < best[l]) ? v : best[l];
        nans[l] = v == v ? nans[l] : v;
      }
    }
    for (int l = 0; l < kLanes; ++l) merge(FloatExtreme{best[l], nans[l]});
    for (; i < n; ++i) take(x[i]);
  }
  void merge(const FloatExtreme& other) {
    extreme = (kMaximum ? other.extreme > extreme : other.extreme < extreme) ? other.extreme : extreme;
    nan_seen += other.nan_seen;
  }
  double result() const { return nan_seen != nan_seen ? nan_seen : extreme; }
};

struct IntegerSum {
  using Value = std::int64_t;
  std::uint64_t result = 0;  // unsigned: wraps
  void take(std::int64_t x) { result += static_cast<std::uint64_t>(x); }
  void merge(const IntegerSum& other) { result += other.result; }
  void take_run(const std::int64_t* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) take(x[i]);
  }
};

struct IntegerProduct {
  using Value = std::int64_t;
  std::uint64_t result = 1;
  void take(std::int64_t x) { result *= static_cast<std::uint64_t>(x); }
  void merge(const IntegerProduct& other) { result *= other.result; }
  void take_run(const std::int64_t* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) take(x[i]);
  }
};

template <bool kMaximum>
struct IntegerExtreme {
  using Value = std::int64_t;
  std::int64_t result =
      kMaximum ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  void take(std::int64_t x) { result = (kMaximum ? x > result : x < result) ? x : result; }
  void merge(const IntegerExtreme& other) { take(other.result); }
  void take_run(const std::int64_t* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) take(x[i]);
  }
};

/// Whether any (or all) elements differ from zero; a NaN does.
template <typename V, bool kAll>
struct Truth {
  using Value = V;
  std::int64_t result = kAll ? 1 : 0;
  void take(V x) { result = kAll ? result & (x != 0) : result | (x != 0); }
  void merge(const Truth& other) { take(static_cast<V>(other.result)); }
  void take_run(const V* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) take(x[i]);
  }
};

/// Position of the maximum (or minimum): the lowest of equal ones, that of the first NaN where there is one.
template <typename V, bool kMaximum>
struct ArgExtreme {
  using Value = V;
  V extreme = 0;
  std::int64_t result = -1;  // nothing seen

  static bool is_nan(V x) { return x != x; }
  void take_at(V x, std::int64_t position) {
    const bool better = is_nan(extreme) ? false : is_nan(x) || (kMaximum ? x > extreme : x < extreme);
    const bool same = x == extreme || (is_nan(x) && is_nan(extreme));
    if (result < 0 || better || (same && position < result)) extreme = x, result = position;
  }
  void merge(const ArgExtreme& other) {
    if (other.result >= 0) take_at(other.extreme, other.result);
  }
};

/// log(sum of exp): the maximum and the sum of exp(x - maximum).
template <typename Real>
struct LogSum {
  using Value = double;
  double maximum = -HUGE_VAL;
  Real sum = 0;

  void take(double x) { merge(LogSum{x, 1}); }
  void take_run(const double* x, std::int64_t n) {
    LogSum run;
    for (std::int64_t i = 0; i < n; ++i)
      run.maximum = x[i] > run.maximum || x[i] != x[i] ? x[i] : run.maximum;
    for (std::int64_t i = 0; i < n; ++i) run.sum += scale(x[i], run.maximum);
    merge(run);
  }
  void merge(const LogSum& other) {
    const double top = other.maximum > maximum || other.maximum != other.maximum ? other.maximum : maximum;
    sum = sum * scale(maximum, top) + other.sum * scale(other.maximum, top);
    maximum = top;
  }
  /// -inf of nothing, NaN and +inf when an element is.
  Real result() const { return static_cast<Real>(maximum) + std::log(sum); }

 private:
  // Infinities of one sign differ by nothing.
  static Real scale(double x, double top) {
    return x == top ? Real{1} : std::exp(static_cast<Real>(x) - top);
  }
};

/// Count, mean and sum of squared distances from it, pairwise over runs.
template <typename Real>
struct Moments {
  using Value = double;
  double count = 0;
  Real mean = 0, squares = 0;

  void take(double x) { merge(Moments{1, x, static_cast<Real>(x) - x}); }  // NaN when x is infinite
  void take_run(const double* x, std::int64_t n) {
    Moments run;
    Real total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += x[i];
    run.count = static_cast<double>(n);
    run.mean = total / run.count;
    for (std::int64_t i = 0; i < n; ++i) run.squares += (x[i] - run.mean) * (x[i] - run.mean);
    merge(run);
  }
  void merge(const Moments& other) {
    if (other.count == 0) return;
    const double all = count + other.count;
    const Real away = other.mean - mean;
    mean += away * (other.count / all);
    squares += other.squares + (count == 0 ? Real{0} : away * away * (count * (other.count / all)));
    count = all;
  }
  /// Sum of the squares of the elements themselves.
  Real raw_squares() const { return squares + mean * mean * count; }
};

/// Sum of squares in a type whose range holds the squares of every element.
template <typename Real>
struct SquareSum {
  using Value = double;
  Real sum = 0;
  void take(double x) { sum += static_cast<Real>(x) * x; }
  void merge(const SquareSum& other) { sum += other.sum; }
  void take_run(const double* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) take(x[i]);
  }
};

}  // namespace redtune
