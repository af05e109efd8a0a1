#include "measure/graph_values.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/elements.h"
#include "measure/rounding.h"
#include "support/half.h"

namespace redtune {
namespace {

constexpr double kTwoOverRootPi = 1.1283791670955126;

double to_type(DType type, double x) {
  switch (type) {
    case DType::kF16:
      return f32_from_f16(f16_from_f64(x));
    case DType::kBF16:
      return f32_from_bf16(bf16_from_f64(x));
    case DType::kF32:
      return static_cast<double>(static_cast<float>(x));
    default:
      return x;
  }
}

Bounded plain(double value, double e0 = 0, double e1 = 0) { return {value, 0, e0, e1}; }

bool exact(const Bounded& x) { return x.e0 == 0 && x.e1 == 0; }

Bounded truth(bool value, bool sure) { return {0, value ? 1 : 0, sure ? 0.0 : 1.0, 0}; }

Bounded compare(ScalarOp op, bool is_float, const Bounded& a, const Bounded& b) {
  const auto of = [op](const auto& x, const auto& y) {
    switch (op) {
      case ScalarOp::kLt:
        return x < y;
      case ScalarOp::kLe:
        return x <= y;
      case ScalarOp::kGt:
        return x > y;
      case ScalarOp::kGe:
        return x >= y;
      case ScalarOp::kEq:
        return x == y;
      default:
        return x != y;
    }
  };
  const double slack = bound_of(a) + bound_of(b);
  if (!is_float)
    return truth(of(a.integer, b.integer), slack == 0 || std::abs(static_cast<double>(a.integer) -
                                                                  static_cast<double>(b.integer)) > slack);
  return truth(of(a.value, b.value), slack == 0 || !(std::abs(a.value - b.value) <= slack));
}

std::int64_t wrapping(ScalarOp op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  switch (op) {
    case ScalarOp::kAdd:
      return static_cast<std::int64_t>(x + y);
    case ScalarOp::kSub:
      return static_cast<std::int64_t>(x - y);
    case ScalarOp::kMul:
      return static_cast<std::int64_t>(x * y);
    case ScalarOp::kNeg:
      return static_cast<std::int64_t>(-x);
    case ScalarOp::kAbs:
      return a < 0 ? static_cast<std::int64_t>(-x) : a;
    case ScalarOp::kMin:
      return std::min(a, b);
    default:
      return std::max(a, b);
  }
}

Bounded whole_number(ScalarOp op, DType type, const Bounded* a) {
  const Bounded none;
  const Bounded& b = info(op).arguments > 1 ? a[1] : none;
  Bounded result;
  result.integer = wrap_integer(type, wrapping(op, a[0].integer, b.integer));
  const double scale = op == ScalarOp::kMul ? std::abs(static_cast<double>(a[0].integer)) +
                                                  std::abs(static_cast<double>(b.integer)) + 1
                                            : 1;
  result.e0 = (a[0].e0 + b.e0) * scale;
  result.e1 = (a[0].e1 + b.e1) * scale;
  return result;
}

Bounded cast(DType in, DType out, const Bounded& x) {
  const bool from_float = info(in).is_float, to_float = info(out).is_float;
  if (to_float) {
    Bounded result = x;
    if (!from_float) result.value = static_cast<double>(x.integer);
    return rounded(out, result, 0);
  }
  Bounded result;
  if (!from_float) {
    result = x;
    result.integer = out == DType::kBool ? (x.integer != 0 ? 1 : 0) : wrap_integer(out, x.integer);
    return result;
  }
  const double slack = bound_of(x);
  if (out == DType::kBool) return truth(x.value != 0, slack == 0 || !(std::abs(x.value) <= slack));
  const auto cut = [out](double value) -> std::int64_t {
    const bool wide = out == DType::kI64;
    const double most = wide ? 0x1p63 : 0x1p31;
    if (std::isnan(value)) return 0;
    if (value >= most)
      return wide ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int32_t>::max();
    if (value < -most)
      return wide ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int32_t>::min();
    return static_cast<std::int64_t>(value);
  };
  result.integer = wrap_integer(out, cut(x.value));
  if (slack > 0)
    result.e0 = static_cast<double>(
        std::max(cut(x.value + slack) - cut(x.value), cut(x.value) - cut(x.value - slack)));
  return result;
}

/// Where the kernel may choose either.
Bounded either(const Bounded& a, const Bounded& b, bool is_float, const Bounded& chosen) {
  Bounded result = chosen;
  const double apart = is_float ? std::abs(a.value - b.value)
                                : std::abs(static_cast<double>(a.integer) - static_cast<double>(b.integer));
  result.e0 = std::max(a.e0, b.e0) + (std::isfinite(apart) ? apart : 0);
  result.e1 = std::max(a.e1, b.e1);
  return result;
}

Bounded scaled(double value, const Bounded& x, double slope) {
  const double size = std::isfinite(slope) ? std::abs(slope) : 0;
  return plain(value, x.e0 * size, x.e1 * size);
}

Bounded function(ScalarOp op, const Bounded& x) {
  const double v = x.value, slack = bound_of(x);
  switch (op) {
    case ScalarOp::kExp:
      return scaled(std::exp(v), x, std::exp(std::min(700.0, v + std::min(slack, 1.0))));
    case ScalarOp::kLog:
      return scaled(std::log(v), x, v > 2 * slack ? 2 / v : 1e30);
    case ScalarOp::kSqrt: {
      if (v > 2 * slack) return scaled(std::sqrt(v), x, 1 / std::sqrt(v));
      return plain(std::sqrt(v), std::sqrt(std::max(0.0, slack)) * 2);
    }
    case ScalarOp::kRsqrt:
      return scaled(1 / std::sqrt(v), x, v > 2 * slack ? 2 / (v * std::sqrt(v)) : 1e30);
    case ScalarOp::kTanh:
      return scaled(std::tanh(v), x, 1);
    case ScalarOp::kSigmoid:
      return scaled(1 / (1 + std::exp(-v)), x, 0.25);
    default:
      return scaled(std::erf(v), x, kTwoOverRootPi);
  }
}

Bounded power(const Bounded& a, const Bounded& b) {
  const double v = std::pow(a.value, b.value);
  const double by_base = exact(a) ? 0 : std::abs(v * b.value / a.value),
               by_exponent = exact(b) ? 0 : std::abs(v * std::log(std::abs(a.value)));
  return plain(v, 2 * (by_base * a.e0 + by_exponent * b.e0), 2 * (by_base * a.e1 + by_exponent * b.e1));
}

Bounded quotient(const Bounded& a, const Bounded& b) {
  const double q = a.value / b.value, slack = bound_of(b), size = std::abs(b.value);
  if (exact(a) && exact(b)) return plain(q);
  const double divisor = size > 2 * slack ? size - slack : 0;
  if (divisor == 0) return plain(q, slack > 0 ? 1e30 : 0, 0);
  return plain(q, (a.e0 + std::abs(q) * b.e0) / divisor, (a.e1 + std::abs(q) * b.e1) / divisor);
}

}  // namespace

Bounded rounded(DType type, Bounded x, double ulps) {
  const double before = x.value;
  x.value = to_type(type, before);
  const bool off = ulps > 0 || x.e0 != 0 || x.e1 != 0;
  if (!std::isfinite(x.value)) {
    x.e0 = x.e1 = 0;
    return x;
  }
  const DType arithmetic = bytes_of(type) == 2 ? DType::kF32 : type;
  if (ulps > 0)
    x.e0 += 2 * ulps * half_ulp(arithmetic, std::abs(before)) + smallest_normal(arithmetic);
  else if (type == DType::kF64)
    x.e0 += 2 * half_ulp(type, std::abs(before));  // f64 itself does not see what it rounds
  else if (off || x.value != before)
    // Where operands are off a kernel may round what is exact here.
    x.e0 += half_ulp(arithmetic, std::abs(before));
  // A value that is off may round to a neighbour.
  if (bytes_of(type) == 2 && (off || x.value != before)) x.e0 += 2 * half_ulp(type, std::abs(before));
  if (type != DType::kF64)
    x.value = bytes_of(type) == 2 ? x.value : before;  // f32: what is more exact than a kernel serves as well
  if (!std::isfinite(x.e0)) x.e0 = 1e30;
  if (!std::isfinite(x.e1)) x.e1 = 1e30;
  return x;
}

Bounded apply(ScalarOp op, DType in, DType out, const Bounded* a) {
  const bool is_float = info(in).is_float;
  switch (info(op).types) {
    case ScalarTypes::kCast:
      return cast(in, out, a[0]);
    case ScalarTypes::kCompare:
      return compare(op, is_float, a[0], a[1]);
    case ScalarTypes::kTruth: {
      if (op == ScalarOp::kNot) return truth(a[0].integer == 0, exact(a[0]));
      const bool x = a[0].integer != 0, y = a[1].integer != 0, decides = op == ScalarOp::kOr;
      const bool value = decides ? x || y : x && y;
      const bool sure =
          (x == decides && exact(a[0])) || (y == decides && exact(a[1])) || (exact(a[0]) && exact(a[1]));
      return truth(value, sure);
    }
    case ScalarTypes::kSelect: {
      const Bounded& chosen = a[0].integer != 0 ? a[1] : a[2];
      return exact(a[0]) ? chosen : either(a[1], a[2], info(out).is_float, chosen);
    }
    default:
      break;
  }
  if (!is_float) return whole_number(op, out, a);
  switch (op) {
    case ScalarOp::kAdd:
      return rounded(out, plain(a[0].value + a[1].value, a[0].e0 + a[1].e0, a[0].e1 + a[1].e1), 0);
    case ScalarOp::kSub:
      return rounded(out, plain(a[0].value - a[1].value, a[0].e0 + a[1].e0, a[0].e1 + a[1].e1), 0);
    case ScalarOp::kMul: {
      const double x = std::abs(a[0].value), y = std::abs(a[1].value),
                   cross = bound_of(a[0]) * bound_of(a[1]);
      return rounded(
          out, plain(a[0].value * a[1].value, x * a[1].e0 + y * a[0].e0 + cross, x * a[1].e1 + y * a[0].e1),
          0);
    }
    case ScalarOp::kNeg:
      return plain(-a[0].value, a[0].e0, a[0].e1);
    case ScalarOp::kAbs:
      return plain(std::abs(a[0].value), a[0].e0, a[0].e1);
    case ScalarOp::kMin:
    case ScalarOp::kMax: {
      const double x = a[0].value, y = a[1].value;
      const bool first = std::isnan(x) || (op == ScalarOp::kMin ? x <= y : x >= y);
      const Bounded& chosen = first ? a[0] : a[1];
      const double slack = bound_of(a[0]) + bound_of(a[1]);
      if (slack == 0 || std::abs(x - y) > slack) return chosen;
      return plain(chosen.value, std::max(a[0].e0, a[1].e0), std::max(a[0].e1, a[1].e1));
    }
    case ScalarOp::kDiv:
      return rounded(out, quotient(a[0], a[1]), 3);
    case ScalarOp::kPow:
      return rounded(out, power(a[0], a[1]), 16);
    case ScalarOp::kTanh:
    case ScalarOp::kErf:
      return rounded(out, function(op, a[0]), 16);
    case ScalarOp::kSigmoid:
      return rounded(out, function(op, a[0]), 8);
    default:
      return rounded(out, function(op, a[0]), 4);
  }
}

}  // namespace redtune
