// Fusion: the statements of a graph -> groups, one kernel each. A group is one loop nest (its domain): a body
// that is computed at every point and may be stored, reductions of body values, and a tail over the kept axes
// that is computed from finished results.
//
// What is fused follows from accesses alone: elementwise producers are substituted into whoever reads them;
// consumers of a reduction join it where each of their elements needs one finished result; reductions over
// the same domain that do not need each other share a kernel. Everything else is a kernel of its own, and
// results travel through temporaries.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "space/graph.h"

namespace redtune {

/// An element of a tensor: offset + sum of strides[axis] * coordinate[axis], in elements of its storage.
struct FusedAccess {
  std::string tensor;
  DType dtype = DType::kF32;
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;  // per axis of the domain
  friend bool operator==(const FusedAccess&, const FusedAccess&) = default;
};

struct FusedNode {
  enum class Kind : std::uint8_t { kNumber, kLoad, kReduced, kCall };
  Kind kind = Kind::kNumber;
  DType dtype = DType::kF32;
  double number = 0;         // kNumber of a float type
  std::int64_t integer = 0;  // kNumber of another
  int index = 0;             // kLoad: of the access; kReduced: of the reduction
  ScalarOp op = ScalarOp::kAdd;
  std::vector<int> arguments;  // earlier nodes
};

struct FusedReduction {
  ReduceOp op = ReduceOp::kSum;
  DType element = DType::kF32, accumulator = DType::kF32, result = DType::kF32;
  int node = 0;           // what is reduced
  std::string statement;  // the result's name in the graph
};

struct FusedStore {
  int node = 0;
  int access = 0;
};

struct FusedGroup {
  std::vector<std::int64_t> extents;  // of the domain: kept axes first
  std::size_t kept = 0;
  std::vector<FusedAccess> accesses;  // loads and stores; the strides of reduced axes are 0 in tail accesses
  int main = -1;                      // the access that the loops follow
  std::vector<FusedNode> nodes;
  std::vector<FusedReduction> reductions;
  std::vector<FusedStore> body_stores;  // at every point of the domain
  std::vector<FusedStore> tail_stores;  // once per output

  std::int64_t points() const;
  std::int64_t outputs() const;  // product of the kept extents
  /// Bytes of the partial results of one output, and of one member in memory.
  std::int64_t state_bytes() const;
  /// Which nodes the body (reductions and body stores) or the tail (tail stores) computes.
  std::vector<bool> body_nodes() const;
  std::vector<bool> tail_nodes() const;
  /// The first tail store is the first reduction's result as it is, side by side over the kept axes.
  bool stores_results() const;
};

/// The groups of a graph in an order that computes before it uses. Throws UserError where an index stays
/// non-affine after iterators were split.
std::vector<FusedGroup> fuse(const Graph& graph);

/// One group per statement that an output needs, every result through memory: what fusion is measured against.
std::vector<FusedGroup> fuse_nothing(const Graph& graph);

/// The loop nest of a group as a reduction of its main access, for everything that tiles: canonical form,
/// search space, default schedule. A group without reductions is the maximum over one element.
Operator nest_of(const FusedGroup& group);

}  // namespace redtune
