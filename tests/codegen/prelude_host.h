// The CUDA prelude compiled for the host, with one thread: what it computes can then be tested without a GPU.
// Only the parts written in C++ are; where it asks the hardware (16-bit floats, shuffles) there is nothing to
// test here.
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>

namespace prelude_host {

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};
inline Index3 blockIdx, threadIdx;

inline float __uint_as_float(unsigned u) { return std::bit_cast<float>(u); }
inline unsigned __float_as_uint(float f) { return std::bit_cast<unsigned>(f); }
inline int __float_as_int(float f) { return std::bit_cast<int>(f); }
inline double __longlong_as_double(long long u) { return std::bit_cast<double>(u); }
inline long long __double_as_longlong(double d) { return std::bit_cast<long long>(d); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>((std::uint64_t{static_cast<unsigned>(high)} << 32) |
                               static_cast<unsigned>(low));
}
inline float __double2float_rz(double d) {
  const float nearest = static_cast<float>(d);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(d) ? std::nextafterf(nearest, 0.0f) : nearest;
}
template <typename T>
T exchanged(T* p, T next) {
  const T old = *p;
  *p = next;
  return old;
}
template <typename T>
T atomicAdd(T* p, T x) {
  return exchanged(p, static_cast<T>(*p + x));
}
template <typename T>
T atomicMax(T* p, T x) {
  return exchanged(p, *p > x ? *p : x);
}
template <typename T>
T atomicMin(T* p, T x) {
  return exchanged(p, *p < x ? *p : x);
}
template <typename T>
T atomicCAS(T* p, T expected, T x) {
  return exchanged(p, *p == expected ? x : *p);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wpedantic"
#define __device__
#define __forceinline__ inline
#define asm(...)
#include REDTUNE_PRELUDE
#undef asm
#pragma GCC diagnostic pop

}  // namespace prelude_host
