// The polyhedral model of a task (isl): what runs, what it touches, what depends on what, and the schedule isl finds.
//
// Statements, over the logical axes of space/axes.h (row type: S[p, ro, ri]; column type: S[po, r, pi]):
//   I[kept]  sets the accumulator of an output to the identity
//   S[...]   combines one input element into the accumulator of its output
//   U[kept]  writes the accumulator to the output
// The self-dependence of S is the reduction: it alone may be broken, and only by a mapping that owns a combine step.
//
// isl types appear in this header: only space/ and the lowering of codegen/ include it.
#pragma once

#include <isl/cpp.h>

#include <string>

#include "space/axes.h"

namespace redtune {

/// Owner of an isl context with an operation quota: a call that runs past it throws isl::exception instead of
/// hanging. One per thread; isl is not thread-safe within a context.
class IslContext {
 public:
  explicit IslContext(unsigned long max_operations = 20'000'000);
  ~IslContext();
  IslContext(const IslContext&) = delete;
  IslContext& operator=(const IslContext&) = delete;
  isl::ctx get() const { return isl::ctx(raw_); }
  /// Starts a new count of operations against the quota.
  void refill();

 private:
  isl_ctx* raw_;
};

struct PolyhedralModel {
  isl::union_set domain;      // I, S, U
  isl::union_map flow;        // dependences between different statements
  isl::union_map reduction;   // self-dependence of S through its accumulator
  isl::schedule schedule;     // isl's, under all dependences
};

/// The instances of S alone: what lowering maps to tiles. Cost: parsing one line.
isl::union_set iteration_domain(isl::ctx ctx, const Axes& axes);

/// Builds the model. Cost: a few milliseconds, independent of the extents. Throws isl::exception on quota.
PolyhedralModel build_model(isl::ctx ctx, const Axes& axes);

}  // namespace redtune
