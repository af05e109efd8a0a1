// Legality of a fusion, decided by isl: what the groups read and when, against the dependences of the
// statements.
#pragma once

#include <string>
#include <vector>

#include "space/fusion.h"

namespace redtune {

/// "" when every dependence of the graph is respected by `groups`, run in this order:
///   - a group reads each element that its results depend on, from a group before it or from an input;
///   - what it reads of its own results are finished ones of the same output: its threads know no others.
/// Otherwise the first dependence that is broken. The dependences are isl's composition of the statements'
/// accesses, not the fused ones. Cost: milliseconds; "isl gave up: ..." on the quota, which the caller treats
/// as legal and notes.
std::string check_fusion(const Graph& graph, const std::vector<FusedGroup>& groups);

}  // namespace redtune
