// First half of lowering: the instances of a task mapped to the iterations of tiles, as isl sets and a schedule tree.
// With lower.cpp the only part of codegen that sees isl.
#pragma once

#include <isl/cpp.h>

#include <cstdint>
#include <string>
#include <vector>

#include "space/axes.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

/// Everything one lowering needs to know, as numbers.
struct Shape {
  const Axes& axes;
  const Schedule& s;
  Tiling t;
  std::int64_t overlap = 0;  // column type: how far the last vector is moved back
  bool masked_tail = false;  // row type: the tail is the last vector of the row, masked
};

Shape shape_of(const Task& task, const Axes& axes, const Schedule& schedule);

/// Extents of the axes in what tiles are made of: outputs or vectors of outputs, vectors or steps of the reduction.
std::int64_t kept_units(const Shape& shape);
std::int64_t reduced_units(const Shape& shape);

/// Names that a schedule really has: a block or thread index with one value is 0, a loop with one iteration is none.
/// Every name costs isl time, so isl is asked about iterations of tiles only: threads, and the loads that a thread
/// issues within one iteration, all unrolled, are arithmetic on the result.
struct Names {
  std::vector<std::string> parameters;  // indices of blocks and tiles
  std::string tile, tj, po, bo, bi, tx, ty;
  std::string ro;                       // "0" when there is no such loop

  explicit Names(const Shape& h);

  /// The parameters, as every isl text begins.
  std::string head() const;
  /// A statement with its loops, outermost first.
  std::string tuple(const std::string& statement, const char* inner) const;
};

/// How a tile lies: whole, or cut off by the end of the kept axis, of the reduced axis, or of both. Each kind is a
/// statement of its own, so that whole tiles meet no guard.
struct Part {
  const char* name;
  bool kept_cut, reduced_cut;
};

inline constexpr Part kParts[] = {{"V", false, false}, {"K", true, false}, {"R", false, true}, {"B", true, true}};
/// Rows whose tails are all there, and the others.
inline constexpr Part kTailParts[] = {{"T", false, false}, {"C", true, false}};

struct MappedTree {
  isl::set context;
  isl::schedule accumulate;
};

/// Maps the task's instances to tiles. The context bounds the parameters; a kind of tile that does not occur is no
/// statement of the tree.
MappedTree map_tree(isl::ctx ctx, const Shape& shape, const Names& names);

}  // namespace redtune
