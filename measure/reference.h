// The reference answer of an operator, computed in f64 (or exact 64-bit integers) on the host, with the
// tolerance that a correct kernel may use up; and the data it is computed from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "space/task.h"

namespace redtune {

/// Bytes of the input's storage, filled from `seed` (counter-based: element i depends on seed and i only),
/// uniformly:
///   sum of floats: odd multiples of 1/8 in (-2, 2). Every float type holds them, no element is 0, and sums
///   of them are
///     exact in any order, so that a kernel that skips or repeats one element cannot hide behind rounding
///   max and min of floats: [-1, 1)
///   prod of floats: random signs, sizes near 1 on both sides, so that the logarithm of a long product stays
///   small integers: -1,000,000 to 1,000,000 (8 bits: -100 to 99 as those bits read; odd for prod); bool:
///   either (prod: true)
/// `distribution` receives its name for the log when not null. Cost: half a nanosecond or so per byte and
/// core.
std::vector<unsigned char> make_input(const Operator& op, std::uint64_t seed,
                                      std::string* distribution = nullptr);

struct Reference {
  std::vector<double> values;          // float output: one result per element, row-major; else empty
  std::vector<double> tolerance;       // float output: absolute bound of each
  std::vector<std::int64_t> integers;  // integer output: exact, wrapped to its bits; else empty
};

/// Uses all cores. Independent of isl and of code generation: walks the operator's own axes and strides. Adds
/// in more bits than the kernel's accumulator has.
///
/// Tolerance of an output, with u the unit roundoff of the accumulator:
///   sum: u * depth * (sum of |x|), where depth bounds the additions that any one element passes through;
///   nothing when
///     the elements are such that no order of adding them rounds (those of make_input)
///   prod: u * min(n, 8 * sqrt(n)) * |value| for n factors: each costs a rounding, in whatever order
///   max, min: nothing
/// plus half a step of the output type, where storing rounds. Integer outputs are exact. Linear in depth.
Reference compute_reference(const Operator& op, const std::vector<unsigned char>& input, std::int64_t depth);

struct Verdict {
  bool pass = true;
  double max_error = 0;  // worst error over tolerance, finite: 1e30 where no tolerance would help
  std::int64_t worst_index = -1;
  std::string
      detail;  // "out[17] = 3.5, reference 4.25, tolerance 1e-06; 2 of 64 outputs are wrong" when it fails
};

/// Compares output bytes with the reference. NaN equals NaN; infinities must match in sign; a narrow output
/// may be infinite where the reference is within tolerance of its largest number. Uses all cores.
Verdict check_output(const Operator& op, const Reference& reference,
                     const std::vector<unsigned char>& output);

}  // namespace redtune
