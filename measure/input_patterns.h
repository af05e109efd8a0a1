// Inputs that break careless reductions: one table, one row per kind of data. What `verify` and the property
// tests run every schedule on, beside random data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "space/operator.h"

namespace redtune {

/// Where an element lies in the storage, with a hash of seed and position.
struct PatternSpot {
  std::int64_t index, count;
  std::uint64_t hash;
  DType dtype;
};

struct InputPattern {
  std::string_view name, summary;
  /// Value of an element of a float type; null: the pattern is not for floats.
  double (*real)(const PatternSpot&);
  /// The same for integers and bool (wrapped to their bits); null: not for them.
  std::int64_t (*whole)(const PatternSpot&);
  /// `real` returns a value only where this says so; elsewhere the elements of make_input stay. Null:
  /// everywhere.
  bool (*replaces)(const PatternSpot&);
  bool exact_only;  // sums of such numbers overflow in one order and not in another: for order-free operators
                    // only
  bool products;    // fit for prod: no product of them overflows or vanishes in one order only
};

/// Explicit list; "random" (make_input itself) first.
std::span<const InputPattern> input_patterns();

/// Throws UserError with the nearest known name.
const InputPattern& parse_input_pattern(std::string_view word);

/// Whether every order of combining gives one answer on such data, so that a reference can judge it.
bool applies(const InputPattern& pattern, const Operator& op);

/// Bytes of the input's storage; element i depends on seed and i only.
std::vector<unsigned char> make_input(const Operator& op, const InputPattern& pattern, std::uint64_t seed);

}  // namespace redtune
