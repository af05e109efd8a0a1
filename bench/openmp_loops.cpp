#include "bench/openmp_loops.h"

#include <algorithm>
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace redtune {
namespace {

using Index = std::int64_t;

constexpr Index kBlock = 512;

// GCC 12 does not vectorise conversions from f16 by itself, so rows are converted block by block.
const float* as_floats(const float* in, Index, float*) { return in; }

const float* as_floats(const _Float16* in, Index n, float* block) {
  Index i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(block + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < n; ++i) block[i] = static_cast<float>(in[i]);
  return block;
}

template <class T>
float sum_row(const T* row, Index n) {
  float block[kBlock];
  float total = 0;
  for (Index first = 0; first < n; first += kBlock) {
    const Index count = std::min(kBlock, n - first);
    const float* const values = as_floats(row + first, count, block);
#pragma omp simd reduction(+ : total)
    for (Index i = 0; i < count; ++i) total += values[i];
  }
  return total;
}

template <class T>
float sum_all(const T* in, Index n, int threads) {
  float total = 0;
#pragma omp parallel for reduction(+ : total) num_threads(threads) schedule(static)
  for (Index i = 0; i < n; i += kBlock) total += sum_row(in + i, std::min(kBlock, n - i));
  return total;
}

// before x kept x reduced: the contiguous axis is summed away.
template <class T>
void sum_rows(const LoopShape& s, const T* in, float* out, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index k = 0; k < s.kept; ++k) {
    float total = 0;
    for (Index b = 0; b < s.before; ++b) total += sum_row(in + (b * s.kept + k) * s.reduced, s.reduced);
    out[k] = total;
  }
}

template <class T>
void add_row(const T* row, float* out, Index n) {
  float block[kBlock];
  for (Index first = 0; first < n; first += kBlock) {
    const Index count = std::min(kBlock, n - first);
    const float* const values = as_floats(row + first, count, block);
#pragma omp simd
    for (Index i = 0; i < count; ++i) out[first + i] += values[i];
  }
}

// reduced x after: every thread adds its rows up, OpenMP adds the threads up.
template <class T>
void sum_columns(const LoopShape& s, const T* in, float* out, int threads) {
  const Index n = s.after;
  std::fill(out, out + n, 0.0f);
#pragma omp parallel for reduction(+ : out[:n]) num_threads(threads) schedule(static)
  for (Index r = 0; r < s.reduced; ++r) add_row(in + r * n, out, n);
}

// kept x reduced x after: columns of many matrices.
template <class T>
void sum_middles(const LoopShape& s, const T* in, float* out, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index k = 0; k < s.kept; ++k) {
    float* const mine = out + k * s.after;
    std::fill(mine, mine + s.after, 0.0f);
    for (Index r = 0; r < s.reduced; ++r) add_row(in + (k * s.reduced + r) * s.after, mine, s.after);
  }
}

template <class T>
void sum(const LoopShape& s, const T* in, float* out, int threads) {
  if (s.after == 1 && s.kept == 1) {
    out[0] = sum_all(in, s.before * s.reduced, threads);
  } else if (s.after == 1) {
    sum_rows(s, in, out, threads);
  } else if (s.kept == 1) {
    sum_columns(s, in, out, threads);
  } else {
    sum_middles(s, in, out, threads);
  }
}

}  // namespace

void openmp_sum(const LoopShape& shape, bool half, const void* in, float* out, int threads) {
  if (half) {
    sum(shape, static_cast<const _Float16*>(in), out, threads);
  } else {
    sum(shape, static_cast<const float*>(in), out, threads);
  }
}

void openmp_wake(int threads) {
  int awake = 0;
#pragma omp parallel num_threads(threads) reduction(+ : awake)
  awake += 1;
  // Used, so that no compiler drops the region.
  asm volatile("" : : "r"(awake));
}

}  // namespace redtune
