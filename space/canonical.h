// Loop coalescing: any reduction becomes a short sequence of merged parallel (P) and reduced (R) axes.
//
// Unit axes are dropped, neighbours of one role whose strides nest are merged, no data is ever transposed.
// Loops follow memory: groups are ordered by falling |stride|, broadcast axes (stride 0) outermost, which for
// a row-major input is the logical order; the output stays row-major over the logical kept axes, and
// Group::output_stride says where a reordered group writes. What remains is folded to three logical axes that
// the schedules tile (after Panamera, PACT'22, section 3, and widened to any interleaving):
//
//   contiguous axis reduced (R, PR, RPR, ...):  p (kept, flat) x ro (outer reduced, flat) x ri (inner
//   reduced) contiguous axis kept   (RP, PRP, ...):      po (outer kept, flat) x r (reduced, flat) x pi
//   (inner kept)
//
// A flat axis that merges several non-adjacent groups recovers its coordinates by div/mod.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "space/operator.h"

namespace redtune {

enum class Role : char { kParallel = 'P', kReduced = 'R' };

/// One group of merged axes: `extent` steps of `stride` input elements; for kept groups also the output
/// stride.
struct Group {
  Role role;
  std::int64_t extent;
  std::int64_t stride;               // input, in elements
  std::int64_t output_stride;        // 0 for reduced groups
  std::int64_t position_stride = 0;  // reduced groups of argmax, argmin: steps along the row-major index of
                                     // the reduced axes that is their answer; else 0
  std::vector<std::int64_t> strides{};  // of each access of a fused group (space/fusion.h)
  friend bool operator==(const Group&, const Group&) = default;
};

struct Canonical {
  std::vector<Group> groups;  // outermost first; alternating roles unless strides do not nest

  std::string form() const;            // "R", "PR", "RP", "RPR", "PRP", ...: one letter per run of a role
  std::int64_t parallel_size() const;  // product of kept extents
  std::int64_t reduced_size() const;   // product of reduced extents
  /// The innermost group, the one that walks through memory with the smallest stride, is reduced: row type.
  bool inner_is_reduced() const;
  /// Extent of the innermost group (1 when there is none).
  std::int64_t inner_extent() const;
  std::string text() const;  // "PR 768,[21128]": brackets around reduced groups
  friend bool operator==(const Canonical&, const Canonical&) = default;
};

/// Canonical form of the (first) reduction of `op`. An operator that reduces nothing (no axes, unit axes,
/// rank 0) gets one reduced group of extent 1 in front, so that every task has both roles or R alone; extents
/// of 0 stay 0.
Canonical coalesce(const Operator& op);

struct FusedGroup;
/// The same for the loop nest of a group (nest_of): axes merge only where every access nests, so that producers keep the
/// grouping of their reduction.
Canonical coalesce(const Operator& nest, const FusedGroup& group);

}  // namespace redtune
