// The reductions that a C++ programmer would write by hand: plain loops with OpenMP pragmas, compiled for the
// machine they run on. What a tuned schedule has to stand beside.
#pragma once

#include <cstdint>

#include "space/dtype.h"
#include "space/reduction_ops.h"

namespace redtune {

/// A row-major array of before x kept x reduced x after elements; `before` and `reduced` are reduced away.
/// Rows and columns: `after` is 1, or `before` is 1.
struct LoopShape {
  std::int64_t before = 1, kept = 1, reduced = 1, after = 1;
};

struct LoopKind {
  ReduceOp op = ReduceOp::kSum;
  DType input = DType::kF32, output = DType::kF32;
};

/// Whether there is a loop: sum, prod, mean, max, min, any and all of every input type but bf16 outputs.
bool openmp_has(const LoopKind& kind);

/// out[kept, after] = reduction of in. Sums and products add in f32 (f64 for f64, i64 for integers), the
/// others in the element type. NaN is not looked after: the compiler may assume that there is none.
void openmp_reduce(const LoopShape& shape, const LoopKind& kind, const void* in, void* out, int threads);

/// Wakes the threads that the next loop will use, and returns when they have all run.
void openmp_wake(int threads);

}  // namespace redtune
