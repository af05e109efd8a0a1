// What the kernel text needs on CUDA. No #include: NVRTC's own declarations are enough, and the toolkit's half-precision
// headers cost more time than the whole kernel. Every name that the text uses is a macro that takes the words of
// the dtype table (f32, bf16, i8, ...) as bare tokens, because prelude.cl defines the same names in C.

typedef signed char rt_i8;
typedef unsigned char rt_u8;
typedef int rt_i32;
typedef unsigned rt_u32;
typedef long long rt_i64;
typedef float rt_f32;
typedef double rt_f64;
// Storage only: distinct types, so that a load knows what the bits mean.
struct rt_f16 { unsigned short bits; };
struct rt_bf16 { unsigned short bits; };
struct rt_bool { unsigned char bits; };

// What a word computes in. Small integers are compared as i32: registers have no smaller size.
typedef rt_i32 rt_acc_bool;
typedef rt_i32 rt_acc_i8;
typedef rt_i32 rt_acc_u8;
typedef rt_i32 rt_acc_i32;
typedef rt_i64 rt_acc_i64;
typedef rt_f32 rt_acc_f16;
typedef rt_f32 rt_acc_bf16;
typedef rt_f32 rt_acc_f32;
typedef rt_f64 rt_acc_f64;

#define RT_DEVICE __device__ __forceinline__
#define RT_GLOBAL
#define RT_RESTRICT __restrict__
#define RT_KERNEL(name, bx, by) extern "C" __global__ void __launch_bounds__((bx) * (by)) name
#define RT_SHARED(type, name, n) __shared__ type name[n]
#define RT_BLOCK ((rt_i32)blockIdx.x)
#define RT_TX ((rt_i32)threadIdx.x)
#define RT_TY ((rt_i32)threadIdx.y)
#define RT_BARRIER() __syncthreads()
#define RT_MIN(a, b) ((a) < (b) ? (a) : (b))
#define RT_MAX(a, b) ((a) > (b) ? (a) : (b))
// Warps hide the latency of loads here; a hint would only cost an instruction.
#define RT_PREFETCH(p)
#define RT_WARP 32

// ---- constants by bit pattern: the language has no literal for an infinity ----

RT_DEVICE rt_f32 rt_const_f32(unsigned long long bits) { return __uint_as_float((unsigned)bits); }
RT_DEVICE rt_f64 rt_const_f64(unsigned long long bits) { return __longlong_as_double((rt_i64)bits); }
#define rt_const_f16 rt_const_f32
#define rt_const_bf16 rt_const_f32
#define rt_const_i64(bits) ((rt_i64)(bits))
#define rt_const_i32(bits) ((rt_i32)(bits))
#define rt_const_i8(bits) ((rt_i32)(rt_i8)(bits))
#define rt_const_u8(bits) ((rt_i32)(rt_u8)(bits))
#define rt_const_bool(bits) ((rt_i32)(rt_u8)(bits))
#define RT_CONST(acc, bits) rt_const_##acc(bits)

// ---- vectors: n lanes of the accumulator type; one lane is the scalar itself ----

template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) rt_vec {
  T v[N];
  __device__ __forceinline__ T& operator[](int i) { return v[i]; }
  __device__ __forceinline__ const T& operator[](int i) const { return v[i]; }
};
template <typename T, int N> struct rt_vec_of { typedef rt_vec<T, N> type; };
template <typename T> struct rt_vec_of<T, 1> { typedef T type; };
#define RT_VEC(acc, n) rt_vec_of<rt_acc_##acc, n>::type

template <typename V> struct rt_lanes { enum { n = 1 }; typedef V lane; };
template <typename T, int N> struct rt_lanes<rt_vec<T, N>> { enum { n = N }; typedef T lane; };

template <typename T> RT_DEVICE T& rt_at(T& x, int) { return x; }
template <typename T, int N> RT_DEVICE T& rt_at(rt_vec<T, N>& x, int i) { return x.v[i]; }

template <typename V> RT_DEVICE V rt_splat(typename rt_lanes<V>::lane x) {
  V r;
#pragma unroll
  for (int i = 0; i < rt_lanes<V>::n; ++i) rt_at(r, i) = x;
  return r;
}
template <typename V> RT_DEVICE V rt_keep_from(V v, int k, typename rt_lanes<V>::lane identity) {
#pragma unroll
  for (int i = 0; i < rt_lanes<V>::n; ++i) {
    if (i < k) rt_at(v, i) = identity;
  }
  return v;
}
template <typename V> RT_DEVICE typename rt_lanes<V>::lane rt_lane(V v, int i) { return rt_at(v, i); }
#define RT_SET_LANE(acc, n, v, i, x) (rt_at(v, i) = (x))
#define RT_SPLAT(acc, n, x) rt_splat<RT_VEC(acc, n)>(x)
#define RT_LANE(acc, n, v, i) rt_lane<RT_VEC(acc, n)>(v, i)
#define RT_KEEP_FROM(acc, n, v, k, identity) rt_keep_from<RT_VEC(acc, n)>(v, k, identity)

// ---- loads and stores: elements travel as their bits, packed in units of up to 16 bytes ----

// Packs of one element size. `word` holds whole elements; a unit of B bytes is what one instruction moves.
template <int B> struct rt_unit;
template <> struct rt_unit<1> { typedef unsigned char type; };
template <> struct rt_unit<2> { typedef unsigned short type; };
template <> struct rt_unit<4> { typedef unsigned type; };
template <> struct rt_unit<8> { typedef uint2 type; };
template <> struct rt_unit<16> { typedef uint4 type; };

RT_DEVICE void rt_unpack(unsigned char u, unsigned* w) { w[0] = u; }
RT_DEVICE void rt_unpack(unsigned short u, unsigned* w) { w[0] = u; }
RT_DEVICE void rt_unpack(unsigned u, unsigned* w) { w[0] = u; }
RT_DEVICE void rt_unpack(uint2 u, unsigned* w) { w[0] = u.x, w[1] = u.y; }
RT_DEVICE void rt_unpack(uint4 u, unsigned* w) { w[0] = u.x, w[1] = u.y, w[2] = u.z, w[3] = u.w; }
RT_DEVICE void rt_pack(unsigned char& u, const unsigned* w) { u = (unsigned char)w[0]; }
RT_DEVICE void rt_pack(unsigned short& u, const unsigned* w) { u = (unsigned short)w[0]; }
RT_DEVICE void rt_pack(unsigned& u, const unsigned* w) { u = w[0]; }
RT_DEVICE void rt_pack(uint2& u, const unsigned* w) { u.x = w[0], u.y = w[1]; }
RT_DEVICE void rt_pack(uint4& u, const unsigned* w) { u.x = w[0], u.y = w[1], u.z = w[2], u.w = w[3]; }

// Lane i of packed words, and its setting, by element size.
template <int S> RT_DEVICE unsigned rt_get(const unsigned* w, int i) {
  return S == 4 ? w[i] : (w[i * S / 4] >> (i * S % 4 * 8)) & (S == 2 ? 0xffffu : 0xffu);
}
template <int S> RT_DEVICE void rt_put(unsigned* w, int i, unsigned bits) {
  const int shift = i * S % 4 * 8;
  w[i * S / 4] = shift == 0 ? bits : w[i * S / 4] | (bits << shift);
}

// Bits to what they mean. The last parameter picks the storage type.
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_f32& x, rt_f32) { x = __uint_as_float(w[i]); }
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_i32& x, rt_i32) { x = (rt_i32)w[i]; }
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_f64& x, rt_f64) {
  x = __hiloint2double((int)w[2 * i + 1], (int)w[2 * i]);
}
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_i64& x, rt_i64) {
  x = (rt_i64)(((unsigned long long)w[2 * i + 1] << 32) | w[2 * i]);
}
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_f32& x, rt_f16) {
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)rt_get<2>(w, i)));
}
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_f32& x, rt_bf16) {
  x = __uint_as_float(i % 2 ? w[i / 2] & 0xffff0000u : w[i / 2] << 16);
}
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_i32& x, rt_i8) { x = (rt_i8)rt_get<1>(w, i); }
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_i32& x, rt_u8) { x = (rt_i32)rt_get<1>(w, i); }
RT_DEVICE void rt_decode(const unsigned* w, int i, rt_i32& x, rt_bool) { x = rt_get<1>(w, i) != 0; }

// The type that a storage type decodes to: itself, or the smallest that computes.
template <typename S> struct rt_decoded { typedef S type; };
template <> struct rt_decoded<rt_f16> { typedef rt_f32 type; };
template <> struct rt_decoded<rt_bf16> { typedef rt_f32 type; };
template <> struct rt_decoded<rt_i8> { typedef rt_i32 type; };
template <> struct rt_decoded<rt_u8> { typedef rt_i32 type; };
template <> struct rt_decoded<rt_bool> { typedef rt_i32 type; };

template <typename S, typename A, int N> RT_DEVICE typename rt_vec_of<A, N>::type rt_load(const S* p) {
  const int bytes = (int)sizeof(S) * N, step = bytes < 16 ? bytes : 16;
  typedef typename rt_unit<step>::type Unit;
  unsigned w[(bytes + 3) / 4];
#pragma unroll
  for (int b = 0; b < bytes / step; ++b) rt_unpack(((const Unit*)p)[b], w + b * step / 4);
  typename rt_vec_of<A, N>::type r;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    typename rt_decoded<S>::type x;
    rt_decode(w, i, x, S());
    rt_at(r, i) = (A)x;
  }
  return r;
}
template <typename S, typename A, int N> RT_DEVICE typename rt_vec_of<A, N>::type rt_load_unaligned(const S* p) {
  typename rt_vec_of<A, N>::type r;
#pragma unroll
  for (int i = 0; i < N; ++i) rt_at(r, i) = rt_load<S, A, 1>(p + i);
  return r;
}
#define RT_LOAD(in, acc, n, p) rt_load<rt_##in, rt_acc_##acc, n>(p)
#define RT_LOAD_UNALIGNED(in, acc, n, p) rt_load_unaligned<rt_##in, rt_acc_##acc, n>(p)

// Meaning to bits. The last parameter picks the storage type.
RT_DEVICE void rt_encode(unsigned* w, int i, rt_f32 x, rt_f32) { w[i] = __float_as_uint(x); }
RT_DEVICE void rt_encode(unsigned* w, int i, rt_i32 x, rt_i32) { w[i] = (unsigned)x; }
RT_DEVICE void rt_encode(unsigned* w, int i, rt_i64 x, rt_i64) {
  w[2 * i] = (unsigned)x, w[2 * i + 1] = (unsigned)((unsigned long long)x >> 32);
}
RT_DEVICE void rt_encode(unsigned* w, int i, rt_f64 x, rt_f64) { rt_encode(w, i, __double_as_longlong(x), rt_i64()); }
RT_DEVICE void rt_encode(unsigned* w, int i, rt_f32 x, rt_f16) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  rt_put<2>(w, i, bits);
}
RT_DEVICE void rt_encode(unsigned* w, int i, rt_f64 x, rt_f16) {
  unsigned short bits;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
  rt_put<2>(w, i, bits);
}
RT_DEVICE void rt_encode(unsigned* w, int i, rt_f32 x, rt_bf16) {
  unsigned bits = __float_as_uint(x);
  // To nearest, ties to even. A NaN skips the rounding, which could carry it into infinity, and is made quiet,
  // because cutting could drop its only payload bits.
  bits = x != x ? bits | 0x00400000u : bits + 0x7fffu + ((bits >> 16) & 1u);
  rt_put<2>(w, i, bits >> 16);
}
RT_DEVICE void rt_encode(unsigned* w, int i, rt_f64 x, rt_bf16) {
  // f32 rounded to odd on the way: rounding that to 16 bits gives what rounding the f64 at once would.
  const rt_f32 cut = __double2float_rz(x);
  rt_encode(w, i, (rt_f64)cut != x ? __uint_as_float(__float_as_uint(cut) | 1u) : cut, rt_bf16());
}
RT_DEVICE void rt_encode(unsigned* w, int i, rt_i64 x, rt_f16) { rt_encode(w, i, (rt_f64)x, rt_f16()); }
RT_DEVICE void rt_encode(unsigned* w, int i, rt_i64 x, rt_bf16) { rt_encode(w, i, (rt_f64)x, rt_bf16()); }
RT_DEVICE void rt_encode(unsigned* w, int i, rt_i32 x, rt_f16) { rt_encode(w, i, (rt_f64)x, rt_f16()); }
RT_DEVICE void rt_encode(unsigned* w, int i, rt_i32 x, rt_bf16) { rt_encode(w, i, (rt_f64)x, rt_bf16()); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_f32) { rt_encode(w, i, (rt_f32)x, rt_f32()); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_f64) { rt_encode(w, i, (rt_f64)x, rt_f64()); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_i32) { rt_encode(w, i, (rt_i32)x, rt_i32()); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_i64) { rt_encode(w, i, (rt_i64)x, rt_i64()); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_i8) { rt_put<1>(w, i, (rt_i32)x & 0xff); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_u8) { rt_put<1>(w, i, (rt_i32)x & 0xff); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_bool) { rt_put<1>(w, i, x != 0); }

template <typename O, typename A, int N> RT_DEVICE void rt_store(O* p, typename rt_vec_of<A, N>::type v) {
  const int bytes = (int)sizeof(O) * N, step = bytes < 16 ? bytes : 16;
  typedef typename rt_unit<step>::type Unit;
  unsigned w[(bytes + 3) / 4];
#pragma unroll
  for (int i = 0; i < N; ++i) rt_encode(w, i, (A)rt_at(v, i), O());
#pragma unroll
  for (int b = 0; b < bytes / step; ++b) rt_pack(((Unit*)p)[b], w + b * step / 4);
}
#define RT_STORE(acc, out, n, p, v) rt_store<rt_##out, rt_acc_##acc, n>(p, v)
#define RT_STORE1(acc, out, p, x) rt_store<rt_##out, rt_acc_##acc, 1>(p, x)

// ---- combining ----

// Integers wrap: signed overflow has no meaning in the language, so they add and multiply as unsigned.
RT_DEVICE rt_f32 rt_sum(rt_f32 a, rt_f32 b) { return a + b; }
RT_DEVICE rt_f64 rt_sum(rt_f64 a, rt_f64 b) { return a + b; }
RT_DEVICE rt_i32 rt_sum(rt_i32 a, rt_i32 b) { return (rt_i32)((unsigned)a + (unsigned)b); }
RT_DEVICE rt_i64 rt_sum(rt_i64 a, rt_i64 b) { return (rt_i64)((unsigned long long)a + (unsigned long long)b); }
RT_DEVICE rt_f32 rt_prod(rt_f32 a, rt_f32 b) { return a * b; }
RT_DEVICE rt_f64 rt_prod(rt_f64 a, rt_f64 b) { return a * b; }
RT_DEVICE rt_i32 rt_prod(rt_i32 a, rt_i32 b) { return (rt_i32)((unsigned)a * (unsigned)b); }
RT_DEVICE rt_i64 rt_prod(rt_i64 a, rt_i64 b) { return (rt_i64)((unsigned long long)a * (unsigned long long)b); }
// NaN stays: a NaN on the left is taken, one on the right fails the comparison.
template <typename T> RT_DEVICE T rt_max(T a, T b) { return a >= b || a != a ? a : b; }
template <typename T> RT_DEVICE T rt_min(T a, T b) { return a <= b || a != a ? a : b; }
#if __CUDA_ARCH__ >= 800
// One instruction does the same from sm_80 on.
RT_DEVICE rt_f32 rt_max(rt_f32 a, rt_f32 b) {
  rt_f32 r;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
RT_DEVICE rt_f32 rt_min(rt_f32 a, rt_f32 b) {
  rt_f32 r;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
#endif

#define RT_OPERATOR(op)                                                                      \
  struct rt_op_##op {                                                                        \
    template <typename T> static __device__ __forceinline__ T of(T a, T b) { return rt_##op(a, b); } \
  }
RT_OPERATOR(sum);
RT_OPERATOR(prod);
RT_OPERATOR(max);
RT_OPERATOR(min);

template <typename Op, typename V> RT_DEVICE V rt_combine(V a, V b) {
#pragma unroll
  for (int i = 0; i < rt_lanes<V>::n; ++i) rt_at(a, i) = Op::of(rt_at(a, i), rt_at(b, i));
  return a;
}
template <typename Op, typename V> RT_DEVICE typename rt_lanes<V>::lane rt_fold(V v) {
#pragma unroll
  for (int h = rt_lanes<V>::n / 2; h > 0; h /= 2) {
#pragma unroll
    for (int i = 0; i < h; ++i) rt_at(v, i) = Op::of(rt_at(v, i), rt_at(v, i + h));
  }
  return rt_at(v, 0);
}
#define RT_COMBINE(op, acc, n, a, b) rt_combine<rt_op_##op, RT_VEC(acc, n)>(a, b)
#define RT_FOLD(op, acc, n, v) rt_fold<rt_op_##op, RT_VEC(acc, n)>(v)

// ---- shuffles: every thread of the block calls; `threads` is the block's size, a constant ----

// Lanes of the caller's warp that exist. Naming others is undefined, and the last warp may be a partial one.
RT_DEVICE unsigned rt_warp_mask(int threads, int tid) {
  const int left = threads % RT_WARP == 0 ? RT_WARP : threads - (threads < RT_WARP ? 0 : tid / RT_WARP * RT_WARP);
  return left >= RT_WARP ? 0xffffffffu : (1u << left) - 1u;
}
#define RT_SHFL_DOWN(acc, x, delta, width, threads, scratch, tid) \
  __shfl_down_sync(rt_warp_mask(threads, tid), (rt_acc_##acc)(x), delta, width)

// Shuffles need no memory here.
#define RT_SHFL_SCRATCH(acc, name, n)

// ---- tickets of the last-block-done mapping: partials are released before a ticket is drawn and read after the last
// one, past the first-level cache, which other multiprocessors' writes do not reach ----

#define RT_FENCE() __threadfence()
#define RT_TICKET(p) atomicAdd((p), 1u)
#define RT_PEEK(acc, p) (*(const volatile rt_##acc*)(p))

// ---- atomics on the output; nobody reads the old value, so the compiler may emit reductions ----

RT_DEVICE void rt_atomic(rt_op_sum, rt_f32* p, rt_f32 x) { atomicAdd(p, x); }
RT_DEVICE void rt_atomic(rt_op_sum, rt_f64* p, rt_f64 x) { atomicAdd(p, x); }
RT_DEVICE void rt_atomic(rt_op_sum, rt_i32* p, rt_i32 x) { atomicAdd(p, x); }
RT_DEVICE void rt_atomic(rt_op_sum, rt_i64* p, rt_i64 x) {
  atomicAdd((unsigned long long*)p, (unsigned long long)x);
}
RT_DEVICE void rt_atomic(rt_op_max, rt_i32* p, rt_i32 x) { atomicMax(p, x); }
RT_DEVICE void rt_atomic(rt_op_max, rt_i64* p, rt_i64 x) { atomicMax(p, x); }
RT_DEVICE void rt_atomic(rt_op_min, rt_i32* p, rt_i32 x) { atomicMin(p, x); }
RT_DEVICE void rt_atomic(rt_op_min, rt_i64* p, rt_i64 x) { atomicMin(p, x); }

// Floats by their bits, which order like signed integers while the sign bit is clear and like unsigned ones backwards
// while it is set. Max of a value without sign: as signed integers it beats every value with sign and every smaller
// one. Max of a value with sign: as unsigned integers the smaller is the greater value, and every value without sign is
// smaller still. The branch looks at the sign bit, not at x >= 0: -0.0 is the smallest signed integer and would lose to
// -1. A NaN becomes the quiet NaN beyond the infinity on the winning side (max: 0x7fc..., signed above +inf; min:
// 0xffc..., unsigned above -inf), so it beats everything in both branches and stays. Min mirrors all of it.
RT_DEVICE void rt_atomic(rt_op_max, rt_f32* p, rt_f32 x) {
  const int bits = x != x ? 0x7fc00000 : __float_as_int(x);
  if (bits >= 0) atomicMax((int*)p, bits);
  else atomicMin((unsigned*)p, (unsigned)bits);
}
RT_DEVICE void rt_atomic(rt_op_min, rt_f32* p, rt_f32 x) {
  const int bits = x != x ? (int)0xffc00000 : __float_as_int(x);
  if (bits >= 0) atomicMin((int*)p, bits);
  else atomicMax((unsigned*)p, (unsigned)bits);
}
RT_DEVICE void rt_atomic(rt_op_max, rt_f64* p, rt_f64 x) {
  const rt_i64 bits = x != x ? 0x7ff8000000000000ll : __double_as_longlong(x);
  if (bits >= 0) atomicMax((rt_i64*)p, bits);
  else atomicMin((unsigned long long*)p, (unsigned long long)bits);
}
RT_DEVICE void rt_atomic(rt_op_min, rt_f64* p, rt_f64 x) {
  const rt_i64 bits = x != x ? (rt_i64)0xfff8000000000000ull : __double_as_longlong(x);
  if (bits >= 0) atomicMin((rt_i64*)p, bits);
  else atomicMax((unsigned long long*)p, (unsigned long long)bits);
}

// Products have no native atomic. The loop starts by guessing the identity, which the output was filled with: a plain
// first read would race with the other writers, and the swap returns the real value when the guess is wrong.
template <typename T> struct rt_swap { typedef unsigned type; };
template <> struct rt_swap<rt_f64> { typedef unsigned long long type; };
template <> struct rt_swap<rt_i64> { typedef unsigned long long type; };
template <typename T> RT_DEVICE void rt_atomic(rt_op_prod, T* p, T x) {
  typedef typename rt_swap<T>::type Bits;
  union Cell { T value; Bits bits; };
  Cell seen, next;
  seen.value = (T)1;
  for (;;) {
    next.value = rt_prod(seen.value, x);
    const Bits found = atomicCAS((Bits*)p, seen.bits, next.bits);
    if (found == seen.bits) return;
    seen.bits = found;
  }
}
#define RT_ATOMIC(op, acc, p, x) rt_atomic(rt_op_##op(), p, (rt_acc_##acc)(x))
