// Elements of a storage as numbers of the host: f64 for every float type, i64 for every integer type and
// bool; integers as f64 too, where an operator computes in floats.
#pragma once

#include <cstdint>

#include "space/dtype.h"

namespace redtune {

/// Reads `count` elements, `stride` apart, from position `first` of a storage. Exact, except that an i64
/// beyond 2^53 is rounded to the nearest f64.
void load_elements(DType dtype, const unsigned char* storage, std::int64_t first, std::int64_t stride,
                   std::int64_t count, double* to);

/// The same, exact, of integer types only; a bool is 0 or 1 whatever its byte.
void load_elements(DType dtype, const unsigned char* storage, std::int64_t first, std::int64_t stride,
                   std::int64_t count, std::int64_t* to);

/// `value` as it comes back from an integer type: wrapped to its bits; bool: 0 or 1.
std::int64_t wrap_integer(DType dtype, std::int64_t value);

}  // namespace redtune
