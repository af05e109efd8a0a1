// How coarse the float types are: what the tolerance of a result is made of.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "space/dtype.h"

namespace redtune {

struct FloatFormat {
  int digits;        // of the significand, with the leading one
  int min_exponent;  // of the smallest normal number, 2^min_exponent
  double largest;
};

constexpr FloatFormat float_format(DType t) {
  switch (t) {
    case DType::kF16:
      return {11, -14, 65504};
    case DType::kBF16:
      return {8, -126, 0x1.fep127};
    case DType::kF32:
      return {24, -126, std::numeric_limits<float>::max()};
    default:
      return {53, -1022, std::numeric_limits<double>::max()};
  }
}

/// 2^exponent; 0 below the numbers of f64. For every output of a large tensor: no library call.
inline double power_of_two(int exponent) {
  constexpr int kBias = 1023;
  if (exponent <= -kBias) return std::ldexp(1.0, exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kBias) << 52);
}

/// Largest relative error of one rounding to the type.
inline double unit_roundoff(DType t) { return power_of_two(-float_format(t).digits); }

inline double smallest_normal(DType t) { return power_of_two(float_format(t).min_exponent); }

/// Largest absolute error of rounding a number of size `size` >= 0 to the type.
inline double half_ulp(DType t, double size) {
  if (!std::isfinite(size)) return 0;
  const FloatFormat format = float_format(t);
  const int exponent =
      static_cast<int>(std::bit_cast<std::uint64_t>(size) >> 52) - 1023;  // -1023 for subnormals
  return power_of_two(std::max(format.min_exponent, exponent) - format.digits);
}

}  // namespace redtune
