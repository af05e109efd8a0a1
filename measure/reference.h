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
///     (mean, l2norm, logsumexp, var, std alike)
///   max, min, argmax, argmin of floats: [-1, 1)
///   any, all: zeros among other numbers, so rare (or so frequent) that about half of the outputs are true
///   prod of floats: random signs, sizes near 1 on both sides, so that the logarithm of a long product stays
///   small integers: -1,000,000 to 1,000,000 (8 bits: -100 to 99 as those bits read; odd for prod); bool:
///   either (prod: true)
/// `distribution` receives its name for the log when not null. Cost: half a nanosecond or so per byte and
/// core.
std::vector<unsigned char> make_input(const Operator& op, std::uint64_t seed,
                                      std::string* distribution = nullptr);

struct Reference {
  std::vector<double> values;          // float output: one result per element, row-major; else empty
  std::vector<double> tolerance;       // float output: absolute bound of each, at the depth given last
  std::vector<std::int64_t> integers;  // integer output: exact, wrapped to its bits; else empty
  std::vector<double> slack;           // integer output: by how much each may be off; empty: not at all

  /// tolerance = fixed + depth * per_step + depth^2 * per_step_squared; the last is empty where it is 0.
  std::vector<double> fixed, per_step, per_step_squared;
  void at_depth(std::int64_t depth);
};

/// Uses all cores. Independent of isl and of code generation: walks the operator's own axes and strides.
/// Computes in more bits than the kernel's accumulator has.
///
/// Tolerance of an output, with u the unit roundoff of the accumulator, n the number of elements, depth a
/// bound on the combine steps that any one element passes through, v the result:
///   sum: u * depth * (sum of |x|); nothing when the elements are such that no order of adding them rounds
///   (those
///     of make_input)
///   mean: that over n, and 2 u |v| of dividing; where sums are exact u * depth * (bound of a partial sum) /
///   n,
///     because atomics add parts that have been divided
///   compensated_sum: 2 u |v| + 2 (u * depth)^2 * (sum of |x|), and u * (sum of |x|) where elements are rounded to the
///   accumulator's type; compensated_mean: that over n
///   prod: u * min(n, 8 * sqrt(n)) * |v| for n factors: each costs a rounding, in whatever order
///   l2norm: u * (depth + 4) * |v|: all terms have one sign, the root halves their error
///   logsumexp: u * (8 depth + 8 + log(n) + 2 |maximum| + 2 |log of the scaled sum|)
///   var: (4 u depth sqrt(S M) + 4 (u depth)^2 S + 4 u M) / (n - ddof), with M the sum of squared distances
///   from the
///     mean and S the sum of squares (Chan, Golub, LeVeque: u * depth * the condition sqrt(S / M)), and the smallest
///     normal number, below which squares vanish
///   std: that over v; where v is below the root of that number, the root and 2 u depth sqrt(S / (n - ddof))
///   max, min: nothing
/// plus half a step of the output type, where storing rounds. Integer outputs are exact.
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
Verdict check_output(const Tensor& tensor, const Reference& reference, const std::vector<unsigned char>& output);
inline Verdict check_output(const Operator& op, const Reference& reference,
                            const std::vector<unsigned char>& output) {
  return check_output(op.output(), reference, output);
}

}  // namespace redtune
