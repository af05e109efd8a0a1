// Numbers with bounds, for the interpreter of the general form: what one elementwise function makes of its
// arguments. Internal to measure/.
#pragma once

#include <cstdint>

#include "space/scalar_ops.h"

namespace redtune {

/// `value` of a float type, `integer` of the others; a kernel may be off by e0 + depth * e1.
struct Bounded {
  double value = 0;
  std::int64_t integer = 0;
  double e0 = 0, e1 = 0;
};

/// A depth that stands for all where a bound is not linear in it.
inline constexpr double kNominalDepth = 64;
inline double bound_of(const Bounded& x) { return x.e0 + kNominalDepth * x.e1; }

/// `op` of arguments of type `in`, as type `out`.
Bounded apply(ScalarOp op, DType in, DType out, const Bounded* arguments);

/// A float result that arithmetic in f64 found to be `x`, as the type holds it: rounded by a kernel in `type`
/// (16-bit types: in f32 first), `ulps` units in the last place off; 0: rounded once, exact where the type
/// holds it.
Bounded rounded(DType type, Bounded x, double ulps);

}  // namespace redtune
