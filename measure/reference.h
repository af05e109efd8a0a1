// The reference answer of an operator, computed in f64 (or exact 64-bit integers) on the host, with the tolerance
// that a correct kernel may use up; and the data it is computed from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "space/task.h"

namespace redtune {

/// Storage bytes of `tensor`, filled from `seed` (counter-based: element i depends on seed and i only):
/// floats odd multiples of 1/8 in (-2, 2) for sum, whose sums are exact in any order, so that a kernel that skips one
/// element cannot hide behind rounding; uniform in [-1, 1) for max and min; near +-1 for prod so that long products
/// stay finite; integers uniform in a small range (odd for prod). `distribution` receives its name for the log when not null.
std::vector<unsigned char> make_input(const Operator& op, std::uint64_t seed, std::string* distribution = nullptr);

struct Reference {
  std::vector<double> values;           // float results; one per output, row-major
  std::vector<std::int64_t> integers;   // integer results (exact, wrapping)
  std::vector<double> tolerance;        // absolute bound per float output, see docs/measuring.md
};

/// Uses all cores. Independent of isl and of code generation: walks the operator's own axes and strides.
/// Tolerance of output o, with u the unit roundoff of a type: u(out) * |value| plus its smallest step for storing, and
/// for sum u(acc) * depth * (sum of |x|), where depth bounds the additions that any one element passes through -
/// nothing when the elements are such that no order of adding them rounds; for prod u(acc) * length * |value|.
/// Linear in depth.
Reference compute_reference(const Operator& op, const std::vector<unsigned char>& input, std::int64_t depth);

struct Verdict {
  bool pass = true;
  double max_error = 0;        // worst error over tolerance
  std::int64_t worst_index = -1;
  std::string detail;          // "out[17] = 3.5, reference 4.25, tolerance 1e-6" when it fails
};

/// Compares output bytes with the reference. NaN equals NaN; infinities must match in sign.
Verdict check_output(const Operator& op, const Reference& reference, const std::vector<unsigned char>& output);

}  // namespace redtune
