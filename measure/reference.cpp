#include "measure/reference.h"

#include <cmath>
#include <limits>

#include "measure/accumulators.h"
#include "measure/reduction_walk.h"
#include "measure/rounding.h"
#include "support/error.h"

namespace redtune {
namespace {

// Largest absolute error of storing a result that lies near `value`. A 16-bit type may be reached by way of
// f32, which rounds once more.
double storing_error(DType out, double value, double error_before) {
  const double size = std::abs(value);
  double error = half_ulp(out, size + error_before);
  if (bytes_of(out) == 2) error += unit_roundoff(DType::kF32) * size;
  return error;
}

// What partial sums stay below when signs are as random as those of make_input: eight standard deviations.
template <typename Real>
Real largest_partial(const FloatSum<Real>& sum) {
  return std::abs(sum.sum) + 8 * std::sqrt(sum.squares);
}

// Whether sums of these elements round nowhere, in whatever order: all are multiples of 1/8, and partial sums
// stay below what the accumulator holds exactly.
template <typename Real>
bool sums_exactly(const FloatSum<Real>& sum, double roundoff) {
  return sum.fractions == 0 && largest_partial(sum) < Real{0.125} / roundoff;
}

// Of each step. An element that passes through d additions, each off by a factor 1 + e with |e| <= u, comes
// out off by about d * u: summed over the elements that is u * d * sum of |x|. Atomics may flush a subnormal
// sum to zero at every step.
template <typename Real>
double sum_error(const FloatSum<Real>& sum, DType accumulator) {
  const double u = unit_roundoff(accumulator);
  if (sums_exactly(sum, u)) return 0;
  return u * static_cast<double>(sum.absolute) + smallest_normal(accumulator);
}

// n - 1 multiplications are done in whatever order, each off by at most u. Their errors are independent:
// beyond a few dozen, n * u is never seen, and would hide a missing factor.
double product_error(double value, DType accumulator, std::int64_t length) {
  const auto n = static_cast<double>(length);
  const double error = unit_roundoff(accumulator) * std::min(n, 8 * std::sqrt(n)) * std::abs(value);
  return std::isfinite(error) ? error + smallest_normal(accumulator) : 0;
}

// Whether every value of `in` is a value of `out`.
bool holds(DType out, DType in) {
  const FloatFormat wide = float_format(out), narrow = float_format(in);
  return wide.digits >= narrow.digits && wide.min_exponent <= narrow.min_exponent;
}

class ReferenceMaker {
 public:
  ReferenceMaker(const Operator& op, const unsigned char* storage)
      : op_(op),
        storage_(storage),
        out_(op.output().dtype),
        accumulator_(op.reduction().accumulator),
        u_(unit_roundoff(accumulator_)),
        count_(static_cast<double>(reduced_elements(op.input(), op.reduction().axes))),
        divisor_(count_ - op.reduction().ddof) {
    const auto outputs = static_cast<std::size_t>(op.output().elements());
    if (info(out_).is_float) {
      reference_.values.resize(outputs);
      reference_.fixed.resize(outputs);
      reference_.per_step.resize(outputs);
      const State state = info(op.reduction().op).state;
      if (state == State::kMoments || state == State::kCompensated) reference_.per_step_squared.resize(outputs);
    } else {
      reference_.integers.resize(outputs);
    }
  }

  Reference make() {
    const bool is_float = info(op_.input().dtype).is_float, wide = accumulator_ == DType::kF64;
    switch (op_.reduction().op) {
      case ReduceOp::kSum:
        return !is_float ? integers<IntegerSum>() : wide ? sums<long double>() : sums<double>();
      case ReduceOp::kProd:
        return is_float ? products() : integers<IntegerProduct>();
      case ReduceOp::kMax:
        return is_float ? extremes<true>() : integers<IntegerExtreme<true>>();
      case ReduceOp::kMin:
        return is_float ? extremes<false>() : integers<IntegerExtreme<false>>();
      case ReduceOp::kAny:
        return is_float ? integers<Truth<double, false>>() : integers<Truth<std::int64_t, false>>();
      case ReduceOp::kAll:
        return is_float ? integers<Truth<double, true>>() : integers<Truth<std::int64_t, true>>();
      case ReduceOp::kMean:
        return wide ? means<long double>() : means<double>();
      case ReduceOp::kArgMax:
        return is_float ? integers<ArgExtreme<double, true>>() : integers<ArgExtreme<std::int64_t, true>>();
      case ReduceOp::kArgMin:
        return is_float ? integers<ArgExtreme<double, false>>() : integers<ArgExtreme<std::int64_t, false>>();
      case ReduceOp::kL2Norm:
        return wide ? norms<long double>() : norms<double>();
      case ReduceOp::kLogSumExp:
        return wide ? log_sums<long double>() : log_sums<double>();
      case ReduceOp::kCompensatedSum:
        return wide ? compensated<long double>(1) : compensated<double>(1);
      case ReduceOp::kCompensatedMean:
        return wide ? compensated<long double>(count_) : compensated<double>(count_);
      case ReduceOp::kVar:
      case ReduceOp::kStd:
        return wide ? variances<long double>() : variances<double>();
    }
    RT_CHECK(false, "operator without a reference");
  }

 private:
  // A bound that is not finite allows nothing: such a result must be met exactly.
  static double finite(double error) { return std::isfinite(error) ? error : 0; }

  void put(std::int64_t output, double value, double fixed, double per_step = 0) {
    const auto at = static_cast<std::size_t>(output);
    reference_.values[at] = value;
    reference_.fixed[at] = finite(fixed);
    reference_.per_step[at] = finite(per_step);
  }

  template <typename A, typename Finish>
  Reference walk(const Finish& finish) {
    ReductionWalk<A>(op_, storage_).run(finish);
    return std::move(reference_);
  }

  template <typename Real>
  Reference sums() {
    return walk<FloatSum<Real>>([&](std::int64_t output, const FloatSum<Real>& sum) {
      const auto value = static_cast<double>(sum.sum);
      // The size near which the result is stored must not depend on depth.
      put(output, value, storing_error(out_, value, 0), sum_error(sum, accumulator_));
    });
  }

  template <typename Real>
  Reference means() {
    return walk<FloatSum<Real>>([&](std::int64_t output, const FloatSum<Real>& sum) {
      const auto value = static_cast<double>(sum.sum / count_);
      double error = sum_error(sum, accumulator_);
      if (error == 0) error = u_ * static_cast<double>(largest_partial(sum));
      put(output, value, storing_error(out_, value, 0) + 2 * u_ * std::abs(value), error / count_);
    });
  }

  // Whether every element is a value of the accumulator.
  bool converts_exactly() const {
    const DType in = op_.input().dtype;
    return info(in).is_float ? holds(accumulator_, in) : 8 * bytes_of(in) <= float_format(accumulator_).digits;
  }

  template <typename Real>
  Reference compensated(double divisor) {
    return walk<FloatSum<Real>>([&](std::int64_t output, const FloatSum<Real>& sum) {
      const auto value = static_cast<double>(sum.sum / divisor);
      // What additions round away is at most u * depth * sum of |x|; adding that up is off by 2 u * depth of it.
      const bool exact = sums_exactly(sum, u_);
      const double square = exact ? 0 : 2 * u_ * u_ * static_cast<double>(sum.absolute) / divisor;
      double steps = exact && divisor == 1 ? 0 : 2 * u_ * std::abs(value) + smallest_normal(accumulator_);
      // What is rounded before it is added comes back no more.
      if (!converts_exactly()) steps += u_ * static_cast<double>(sum.absolute) / divisor;
      put(output, value, storing_error(out_, value, 0) + finite(steps));
      reference_.per_step_squared[static_cast<std::size_t>(output)] = finite(square);
    });
  }

  Reference products() {
    const std::int64_t length = walk_loops(op_).length;
    return walk<FloatProduct>([&](std::int64_t output, const FloatProduct& product) {
      const auto value = static_cast<double>(product.product);
      const double error = product_error(value, accumulator_, length);
      put(output, value, error + storing_error(out_, value, error));
    });
  }

  template <bool kMaximum>
  Reference extremes() {
    const bool exact = holds(out_, op_.input().dtype);
    return walk<FloatExtreme<kMaximum>>([&](std::int64_t output, const FloatExtreme<kMaximum>& extreme) {
      const double value = extreme.result();
      put(output, value, exact ? 0 : storing_error(out_, value, 0));
    });
  }

  template <typename Real>
  Reference norms() {
    return walk<SquareSum<Real>>([&](std::int64_t output, const SquareSum<Real>& squares) {
      const auto value = static_cast<double>(std::sqrt(squares.sum));
      put(output, value, storing_error(out_, value, 0) + 4 * u_ * value, u_ * value);
    });
  }

  template <typename Real>
  Reference log_sums() {
    return walk<LogSum<Real>>([&](std::int64_t output, const LogSum<Real>& log_sum) {
      const auto value = static_cast<double>(log_sum.result());
      const double scaled = std::abs(std::log(static_cast<double>(log_sum.sum)));
      const double factor = 8 + std::log(std::max(1.0, count_)) + 2 * std::abs(log_sum.maximum) + 2 * scaled;
      put(output, value, finite(storing_error(out_, value, 0)) + u_ * factor, 8 * u_);
    });
  }

  template <typename Real>
  Reference variances() {
    const bool root = op_.reduction().op == ReduceOp::kStd;
    return walk<Moments<Real>>([&](std::int64_t output, const Moments<Real>& moments) {
      if (!(divisor_ > 0)) return put(output, std::numeric_limits<double>::quiet_NaN(), 0);
      const auto distances = static_cast<double>(moments.squares),
                 squares = static_cast<double>(moments.raw_squares());
      double value = distances / divisor_, fixed = 4 * u_ * value;
      double step = 4 * u_ * std::sqrt(squares) * std::sqrt(distances) / divisor_,
             square = 4 * u_ * u_ * squares / divisor_;
      // Squares below the smallest normal number may vanish.
      const double lost = smallest_normal(accumulator_);
      fixed += lost;
      if (root) {
        value = std::sqrt(value);
        if (value > std::sqrt(lost)) {
          fixed = fixed / value + u_ * value, step /= value, square /= value;
        } else {
          fixed = std::sqrt(lost), step = std::sqrt(square), square = 0;
        }
      }
      put(output, value, storing_error(out_, value, 0) + fixed, step);
      reference_.per_step_squared[static_cast<std::size_t>(output)] = finite(square);
    });
  }

  template <typename A>
  Reference integers() {
    const DType wrapped = finished_type(op_.reduction().op, accumulator_);
    return walk<A>([&](std::int64_t output, const A& total) {
      const std::int64_t value = wrap_integer(wrapped, static_cast<std::int64_t>(total.result));
      if (!info(out_).is_float) {
        reference_.integers[static_cast<std::size_t>(output)] = wrap_integer(out_, value);
        return;
      }
      const auto number = static_cast<double>(value);
      // Beyond 2^53 this very number has been rounded too.
      put(output, number, storing_error(out_, number, 0) + unit_roundoff(DType::kF64) * std::abs(number));
    });
  }

  const Operator& op_;
  const unsigned char* storage_;
  DType out_, accumulator_;
  double u_, count_, divisor_;
  Reference reference_;
};

}  // namespace

void Reference::at_depth(std::int64_t depth) {
  const auto steps = static_cast<double>(depth);
  tolerance.resize(fixed.size());
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    const double squared = per_step_squared.empty() ? 0 : per_step_squared[i];
    tolerance[i] = fixed[i] + steps * (per_step[i] + steps * squared);
  }
}

Reference compute_reference(const Operator& op, const std::vector<unsigned char>& input, std::int64_t depth) {
  const Tensor& in = op.input();
  RT_CHECK(static_cast<std::int64_t>(input.size()) == in.storage_elements() * bytes_of(in.dtype),
           "input has " + std::to_string(input.size()) + " bytes");
  Reference reference = ReferenceMaker(op, input.data()).make();
  reference.at_depth(depth);
  return reference;
}

}  // namespace redtune
