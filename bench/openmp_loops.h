// The reduction that a C++ programmer would write by hand: plain loops with OpenMP pragmas, compiled for the
// machine they run on. What a tuned schedule has to stand beside.
#pragma once

#include <cstdint>

namespace redtune {

/// A row-major array of before x kept x reduced x after elements; `before` and `reduced` are summed away.
/// Rows and columns: `after` is 1, or `before` is 1.
struct LoopShape {
  std::int64_t before = 1, kept = 1, reduced = 1, after = 1;
};

/// out[kept, after] = sum of in, accumulated in f32. `in` holds f32, or f16 when `half`.
void openmp_sum(const LoopShape& shape, bool half, const void* in, float* out, int threads);

/// Wakes the threads that the next sum will use, and returns when they have all run.
void openmp_wake(int threads);

}  // namespace redtune
