#include "measure/reference.h"

#include <cmath>

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

// Whether sums of these elements round nowhere, in whatever order: all are multiples of 1/8, and partial sums
// of signs as random as those of make_input stay below what the accumulator holds exactly (eight standard
// deviations).
template <typename Real>
bool sums_exactly(const FloatSum<Real>& sum, double roundoff) {
  return sum.fractions == 0 && std::abs(sum.sum) + 8 * std::sqrt(sum.squares) < Real{0.125} / roundoff;
}

// An element that passes through d additions, each off by a factor 1 + e with |e| <= u, comes out off by
// about d * u: summed over the elements that is u * d * sum of |x|. Atomics may flush a subnormal sum to zero
// at every step.
template <typename Real>
double sum_error(const FloatSum<Real>& sum, DType accumulator, std::int64_t depth) {
  const double u = unit_roundoff(accumulator);
  if (sums_exactly(sum, u)) return 0;
  const double error = u * static_cast<double>(sum.absolute) + smallest_normal(accumulator);
  return std::isfinite(error) ? static_cast<double>(depth) * error : 0;
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
  ReferenceMaker(const Operator& op, const unsigned char* storage, std::int64_t depth)
      : op_(op),
        storage_(storage),
        depth_(depth),
        out_(op.output().dtype),
        accumulator_(op.reduction().accumulator) {
    const auto outputs = static_cast<std::size_t>(op.output().elements());
    if (info(out_).is_float) {
      reference_.values.resize(outputs);
      reference_.tolerance.resize(outputs);
    } else {
      reference_.integers.resize(outputs);
    }
  }

  Reference make() {
    const bool is_float = info(op_.input().dtype).is_float;
    switch (op_.reduction().op) {
      case ReduceOp::kSum:
        if (!is_float)
          integers<IntegerSum>();
        else if (accumulator_ == DType::kF64)
          sums<long double>();
        else
          sums<double>();
        break;
      case ReduceOp::kProd:
        is_float ? products() : integers<IntegerProduct>();
        break;
      case ReduceOp::kMax:
        is_float ? extremes<true>() : integers<IntegerExtreme<true>>();
        break;
      case ReduceOp::kMin:
        is_float ? extremes<false>() : integers<IntegerExtreme<false>>();
        break;
    }
    return std::move(reference_);
  }

 private:
  void put(std::int64_t output, double value, double error) {
    reference_.values[static_cast<std::size_t>(output)] = value;
    reference_.tolerance[static_cast<std::size_t>(output)] = error;
  }

  template <typename Real>
  void sums() {
    ReductionWalk<FloatSum<Real>>(op_, storage_).run([&](std::int64_t output, const FloatSum<Real>& sum) {
      const auto value = static_cast<double>(sum.sum);
      // The size near which the result is stored must not depend on depth: the tolerance is a line in it.
      const double error = sum_error(sum, accumulator_, depth_);
      put(output, value, error + storing_error(out_, value, 0));
    });
  }

  void products() {
    const std::int64_t length = walk_loops(op_).length;
    ReductionWalk<FloatProduct>(op_, storage_).run([&](std::int64_t output, const FloatProduct& product) {
      const auto value = static_cast<double>(product.product);
      const double error = product_error(value, accumulator_, length);
      put(output, value, error + storing_error(out_, value, error));
    });
  }

  template <bool kMaximum>
  void extremes() {
    const bool exact = holds(out_, op_.input().dtype);
    ReductionWalk<FloatExtreme<kMaximum>>(op_, storage_)
        .run([&](std::int64_t output, const FloatExtreme<kMaximum>& extreme) {
          const double value = extreme.result();
          put(output, value, exact ? 0 : storing_error(out_, value, 0));
        });
  }

  template <typename A>
  void integers() {
    ReductionWalk<A>(op_, storage_).run([&](std::int64_t output, const A& total) {
      const std::int64_t value = wrap_integer(accumulator_, static_cast<std::int64_t>(total.result));
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
  std::int64_t depth_;
  DType out_, accumulator_;
  Reference reference_;
};

}  // namespace

Reference compute_reference(const Operator& op, const std::vector<unsigned char>& input, std::int64_t depth) {
  const Tensor& in = op.input();
  RT_CHECK(static_cast<std::int64_t>(input.size()) == in.storage_elements() * bytes_of(in.dtype),
           "input has " + std::to_string(input.size()) + " bytes");
  return ReferenceMaker(op, input.data(), depth).make();
}

}  // namespace redtune
