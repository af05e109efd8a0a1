// Which operators are compared by their sizes alone, and how far apart sizes are. For lookup and for whoever
// measures what a schedule of one size is worth on another.
#pragma once

#include <string>
#include <vector>

#include "space/canonical.h"
#include "space/operator.h"

namespace redtune {

/// What must agree before sizes are compared at all: operator, types, canonical form, broadcast axes, and
/// whether the innermost axis is dense. `canonical` is that of `op`.
std::string operator_kind(const Operator& op, const Canonical& canonical);

/// The kind within which a measured range of sizes holds: also the determinism that was asked for. "" for an
/// input with gaps or an offset, whose layout no range of sizes tells.
std::string range_kind(const Operator& op, const Canonical& canonical);

/// Extents of the canonical axes, outermost first.
std::vector<std::int64_t> extents_of(const Canonical& canonical);
/// Their logarithms to base 2; an empty axis counts as 1.
std::vector<double> log_sizes(const Canonical& canonical);

/// Squared Euclidean distance of two lists of equal length: of log_sizes, in squared doublings.
double squared_gap(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace redtune
