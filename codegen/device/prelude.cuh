// What the kernel text needs on CUDA. No #include: NVRTC's own declarations are enough, and the toolkit's
// half-precision headers cost more time than a whole kernel. Every name that the text uses is a macro that takes the
// words of the dtype table (f32, bf16, i8, ...) as bare tokens, because prelude.cl defines the same names in C.

typedef signed char rt_i8;
typedef unsigned char rt_u8;
typedef int rt_i32;
typedef unsigned rt_u32;
typedef unsigned long long rt_u64;
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
#define RT_MEMBER __device__ __forceinline__
#define RT_GLOBAL
#define RT_RESTRICT __restrict__
#define RT_KERNEL(name, bx, by) extern "C" __global__ void __launch_bounds__((bx) * (by)) name
#define RT_KERNEL_CLUSTER(name, bx, by, blocks) \
  extern "C" __global__ void __cluster_dims__(blocks, 1, 1) __launch_bounds__((bx) * (by)) name
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

#define rt_const_f32(bits) __uint_as_float((unsigned)(bits))
#define rt_const_f64(bits) __longlong_as_double((rt_i64)(bits))
#define rt_const_f16 rt_const_f32
#define rt_const_bf16 rt_const_f32
#define rt_const_i64(bits) ((rt_i64)(bits))
#define rt_const_i32(bits) ((rt_i32)(bits))
#define rt_const_i8(bits) ((rt_i32)(rt_i8)(bits))
#define rt_const_u8(bits) ((rt_i32)(rt_u8)(bits))
#define rt_const_bool(bits) ((rt_i32)(rt_u8)(bits))
#define RT_CONST(acc, bits) rt_const_##acc(bits)

// ---- vectors: n lanes of the accumulator type; one lane is the scalar itself ----

// Lanes are spread by index packs, never by loops: unrolling and splitting arrays would double the compile time.
template <int... I> struct rt_list {};
template <int N> struct rt_first;
template <> struct rt_first<1> { typedef rt_list<0> lanes; };
template <> struct rt_first<2> { typedef rt_list<0, 1> lanes; };
template <> struct rt_first<4> { typedef rt_list<0, 1, 2, 3> lanes; };
template <> struct rt_first<8> { typedef rt_list<0, 1, 2, 3, 4, 5, 6, 7> lanes; };
template <> struct rt_first<16> { typedef rt_list<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15> lanes; };
#define RT_LANES(n) typename rt_first<n>::lanes()

// Aligned for one access where the size is one of a register, else as its elements are.
template <typename T, int N> struct alignas(sizeof(T) * N % 16 == 0                          ? 16
                                              : sizeof(T) * N == 8 || sizeof(T) * N == 4 ? sizeof(T) * N
                                                                                         : alignof(T)) rt_vec {
  T v[N];
};
template <typename T, int N> struct rt_vec_of { typedef rt_vec<T, N> type; };
template <typename T> struct rt_vec_of<T, 1> { typedef T type; };
#define RT_VEC(acc, n) rt_vec_of<rt_acc_##acc, n>::type

template <typename T, int... I> RT_DEVICE rt_vec<T, sizeof...(I)> rt_splat(T x, rt_list<I...>) {
  return {{(I < 0 ? T() : x)...}};
}
template <typename T> RT_DEVICE T rt_splat(T x, rt_list<0>) { return x; }
#define RT_SPLAT(acc, n, x) (rt_splat<rt_acc_##acc>(x, RT_LANES(n)))

template <typename T, int N> RT_DEVICE T rt_lane(const rt_vec<T, N>& v, int i) { return v.v[i]; }
template <typename T> RT_DEVICE T rt_lane(T x, int) { return x; }
#define RT_LANE(acc, n, x, i) (rt_lane<rt_acc_##acc>(x, i))

template <typename T, int N> RT_DEVICE void rt_set(rt_vec<T, N>& v, int i, T x) { v.v[i] = x; }
template <typename T> RT_DEVICE void rt_set(T& v, int, T x) { v = x; }
#define RT_SET_LANE(acc, n, v, i, x) rt_set<rt_acc_##acc>(v, i, x)

template <typename T, int... I>
RT_DEVICE rt_vec<T, sizeof...(I)> rt_keep_from(const rt_vec<T, sizeof...(I)>& v, int k, T other, rt_list<I...>) {
  return {{(I < k ? other : v.v[I])...}};
}
template <typename T> RT_DEVICE T rt_keep_from(T x, int k, T other, rt_list<0>) { return k > 0 ? other : x; }
#define RT_KEEP_FROM(acc, n, x, k, identity) (rt_keep_from<rt_acc_##acc>(x, k, identity, RT_LANES(n)))

// ---- loads and stores: elements travel as their bits, in units of up to 16 bytes ----

// What one instruction moves, and its 32-bit words.
template <int B> struct rt_unit { typedef uint4 type; };
template <> struct rt_unit<1> { typedef unsigned char type; };
template <> struct rt_unit<2> { typedef unsigned short type; };
template <> struct rt_unit<4> { typedef unsigned type; };
template <> struct rt_unit<8> { typedef uint2 type; };
template <int K> RT_DEVICE unsigned rt_word(unsigned u) { return u; }
template <int K> RT_DEVICE unsigned rt_word(const uint2& u) { return K == 0 ? u.x : u.y; }
template <int K> RT_DEVICE unsigned rt_word(const uint4& u) {
  return K == 0 ? u.x : K == 1 ? u.y : K == 2 ? u.z : u.w;
}

// How each storage type is decoded from the word that holds it (8-byte types: and the word behind it); `shift` is the
// place of the element in its word.
template <typename S> struct rt_decode { static RT_MEMBER S of(unsigned w, unsigned, int) { return (S)w; } };
template <> struct rt_decode<rt_f32> {
  static RT_MEMBER rt_f32 of(unsigned w, unsigned, int) { return __uint_as_float(w); }
};
template <> struct rt_decode<rt_i64> {
  static RT_MEMBER rt_i64 of(unsigned w, unsigned high, int) { return (rt_i64)((unsigned long long)high << 32 | w); }
};
template <> struct rt_decode<rt_f64> {
  static RT_MEMBER rt_f64 of(unsigned w, unsigned high, int) { return __hiloint2double((int)high, (int)w); }
};
template <> struct rt_decode<rt_f16> {
  static RT_MEMBER rt_f32 of(unsigned w, unsigned, int shift) {
    rt_f32 x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"((unsigned short)(w >> shift)));
    return x;
  }
};
template <> struct rt_decode<rt_bf16> {
  static RT_MEMBER rt_f32 of(unsigned w, unsigned, int shift) {
    return __uint_as_float(shift == 0 ? w << 16 : w & 0xffff0000u);
  }
};
template <> struct rt_decode<rt_i8> {
  static RT_MEMBER rt_i32 of(unsigned w, unsigned, int shift) { return (rt_i8)(w >> shift); }
};
template <> struct rt_decode<rt_u8> {
  static RT_MEMBER rt_i32 of(unsigned w, unsigned, int shift) { return (rt_u8)(w >> shift); }
};
template <> struct rt_decode<rt_bool> {
  static RT_MEMBER rt_i32 of(unsigned w, unsigned, int shift) { return (rt_u8)(w >> shift) != 0; }
};

// Lane I of an array of units of B bytes.
template <typename S, int I, int B, typename U> RT_DEVICE auto rt_element(const U* u) {
  const int at = I * (int)sizeof(S), word = at % B / 4;
  return rt_decode<S>::of(rt_word<word>(u[at / B]), rt_word<word + 1>(u[at / B]), at % 4 * 8);
}
template <typename A, typename S> RT_DEVICE A rt_load(const S* p, rt_list<0>, rt_list<0>) {
  const typename rt_unit<sizeof(S)>::type u = *(const typename rt_unit<sizeof(S)>::type*)p;
  return (A)rt_element<S, 0, (int)sizeof(S)>(&u);
}
template <typename A, typename S, int... I, int... J>
RT_DEVICE rt_vec<A, sizeof...(I)> rt_load(const S* p, rt_list<I...>, rt_list<J...>) {
  const int bytes = (int)(sizeof(S) * sizeof...(I) / sizeof...(J));
  typedef typename rt_unit<bytes>::type Unit;
  const Unit u[] = {((const Unit*)p)[J]...};
  return {{(A)rt_element<S, I, bytes>(u)...}};
}
template <typename A, typename S, int... I>
RT_DEVICE rt_vec<A, sizeof...(I)> rt_load_unaligned(const S* p, rt_list<I...>) {
  return {{rt_load<A>(p + I, rt_list<0>(), rt_list<0>())...}};
}
template <typename A, typename S> RT_DEVICE A rt_load_unaligned(const S* p, rt_list<0> one) {
  return rt_load<A>(p, one, one);
}
#define RT_UNITS(type, n) RT_LANES((sizeof(type) * (n) + 15) / 16)
#define RT_LOAD(in, acc, n, p) (rt_load<rt_acc_##acc, rt_##in>(p, RT_LANES(n), RT_UNITS(rt_##in, n)))
#define RT_LOAD_UNALIGNED(in, acc, n, p) (rt_load_unaligned<rt_acc_##acc, rt_##in>(p, RT_LANES(n)))

// Lane i of packed words, set.
template <int S> RT_DEVICE void rt_put(unsigned* w, int i, unsigned bits) {
  const int shift = i * S % 4 * 8;
  w[i * S / 4] = shift == 0 ? bits : w[i * S / 4] | (bits << shift);
}

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
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_f32) {
  rt_encode(w, i, (rt_f32)x, rt_f32());
}
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_f64) {
  rt_encode(w, i, (rt_f64)x, rt_f64());
}
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_i32) {
  rt_encode(w, i, (rt_i32)x, rt_i32());
}
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_i64) {
  rt_encode(w, i, (rt_i64)x, rt_i64());
}
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_i8) { rt_put<1>(w, i, (rt_i32)x & 0xff); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_u8) { rt_put<1>(w, i, (rt_i32)x & 0xff); }
template <typename A> RT_DEVICE void rt_encode(unsigned* w, int i, A x, rt_bool) { rt_put<1>(w, i, x != 0); }

RT_DEVICE void rt_pack(unsigned char& u, const unsigned* w) { u = (unsigned char)w[0]; }
RT_DEVICE void rt_pack(unsigned short& u, const unsigned* w) { u = (unsigned short)w[0]; }
RT_DEVICE void rt_pack(unsigned& u, const unsigned* w) { u = w[0]; }
RT_DEVICE void rt_pack(uint2& u, const unsigned* w) { u.x = w[0], u.y = w[1]; }
RT_DEVICE void rt_pack(uint4& u, const unsigned* w) { u.x = w[0], u.y = w[1], u.z = w[2], u.w = w[3]; }
template <typename A, typename O> RT_DEVICE void rt_store(O* p, A x, rt_list<0>, rt_list<0>) {
  unsigned w[(sizeof(O) + 3) / 4];
  rt_encode(w, 0, x, O());
  rt_pack(*(typename rt_unit<sizeof(O)>::type*)p, w);
}
template <typename A, typename O, int... I, int... J>
RT_DEVICE void rt_store(O* p, const rt_vec<A, sizeof...(I)>& x, rt_list<I...>, rt_list<J...>) {
  const int bytes = (int)(sizeof(O) * sizeof...(I)), step = bytes / (int)sizeof...(J);
  unsigned w[(bytes + 3) / 4];
  (rt_encode(w, I, x.v[I], O()), ...);
  (rt_pack(((typename rt_unit<step>::type*)p)[J], w + J * step / 4), ...);
}
#define RT_STORE(acc, out, n, p, x) rt_store<rt_acc_##acc, rt_##out>(p, x, RT_LANES(n), RT_UNITS(rt_##out, n))
#define RT_STORE1(acc, out, p, x) rt_store<rt_acc_##acc, rt_##out>(p, x, rt_list<0>(), rt_list<0>())

// ---- combining ----

// Integers wrap: signed overflow has no meaning in the language, so they add and multiply as unsigned.
struct rt_op_sum {
  static RT_MEMBER rt_f32 of(rt_f32 a, rt_f32 b) { return a + b; }
  static RT_MEMBER rt_f64 of(rt_f64 a, rt_f64 b) { return a + b; }
  static RT_MEMBER rt_i32 of(rt_i32 a, rt_i32 b) { return (rt_i32)((unsigned)a + (unsigned)b); }
  static RT_MEMBER rt_i64 of(rt_i64 a, rt_i64 b) { return (rt_i64)((unsigned long long)a + (unsigned long long)b); }
};
struct rt_op_prod {
  static RT_MEMBER rt_f32 of(rt_f32 a, rt_f32 b) { return a * b; }
  static RT_MEMBER rt_f64 of(rt_f64 a, rt_f64 b) { return a * b; }
  static RT_MEMBER rt_i32 of(rt_i32 a, rt_i32 b) { return (rt_i32)((unsigned)a * (unsigned)b); }
  static RT_MEMBER rt_i64 of(rt_i64 a, rt_i64 b) { return (rt_i64)((unsigned long long)a * (unsigned long long)b); }
};
// NaN stays: one on the left is taken, one on the right fails the comparison. From sm_80 on one instruction does the
// same.
struct rt_op_max {
  template <typename T> static RT_MEMBER T of(T a, T b) { return a >= b || a != a ? a : b; }
#if __CUDA_ARCH__ >= 800
  static RT_MEMBER rt_f32 of(rt_f32 a, rt_f32 b) {
    rt_f32 r;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
  }
#endif
};
struct rt_op_min {
  template <typename T> static RT_MEMBER T of(T a, T b) { return a <= b || a != a ? a : b; }
#if __CUDA_ARCH__ >= 800
  static RT_MEMBER rt_f32 of(rt_f32 a, rt_f32 b) {
    rt_f32 r;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
    return r;
  }
#endif
};

struct rt_op_any { static RT_MEMBER rt_i32 of(rt_i32 a, rt_i32 b) { return a | b; } };
struct rt_op_all { static RT_MEMBER rt_i32 of(rt_i32 a, rt_i32 b) { return a & b; } };

template <typename Op, typename T> RT_DEVICE T rt_combine(T a, T b, rt_list<0>) { return Op::of(a, b); }
template <typename Op, typename T, int... I>
RT_DEVICE rt_vec<T, sizeof...(I)> rt_combine(const rt_vec<T, sizeof...(I)>& a, const rt_vec<T, sizeof...(I)>& b,
                                             rt_list<I...>) {
  return {{Op::of(a.v[I], b.v[I])...}};
}
#define RT_COMBINE(op, acc, n, a, b) (rt_combine<rt_op_##op, rt_acc_##acc>(a, b, RT_LANES(n)))

// By halving; the pack holds the lanes that are left after one step.
template <typename Op, typename T> RT_DEVICE T rt_fold(T x, rt_list<>) { return x; }
template <typename Op, typename T> RT_DEVICE T rt_fold(const rt_vec<T, 2>& x, rt_list<0>) {
  return Op::of(x.v[0], x.v[1]);
}
template <typename Op, typename T, int... I>
RT_DEVICE T rt_fold(const rt_vec<T, 2 + 2 * sizeof...(I)>& x, rt_list<0, I...>) {
  const int half = 1 + (int)sizeof...(I);
  const rt_vec<T, half> y = {{Op::of(x.v[0], x.v[half]), Op::of(x.v[I], x.v[I + half])...}};
  return rt_fold<Op, T>(y, RT_LANES(half / 2));
}
template <> struct rt_first<0> { typedef rt_list<> lanes; };
#define RT_FOLD(op, acc, n, x) (rt_fold<rt_op_##op, rt_acc_##acc>(x, RT_LANES((n) / 2)))

// What any and all take of an element that was loaded as `in`: 1 or 0. A NaN is not zero.
template <typename T> RT_DEVICE rt_i32 rt_truth(T x, rt_list<0>) { return x != 0; }
template <typename T, int... I>
RT_DEVICE rt_vec<rt_i32, sizeof...(I)> rt_truth(const rt_vec<T, sizeof...(I)>& x, rt_list<I...>) {
  return {{(x.v[I] != 0)...}};
}
#define RT_TRUTH(in, n, x) (rt_truth<rt_acc_##in>(x, RT_LANES(n)))

// The last step of mean.
template <typename T> RT_DEVICE T rt_mean(T x, T count, rt_list<0>) { return x / count; }
template <typename T, int... I>
RT_DEVICE rt_vec<T, sizeof...(I)> rt_mean(const rt_vec<T, sizeof...(I)>& x, T count, rt_list<I...>) {
  return {{(x.v[I] / count)...}};
}
#define RT_MEAN(acc, n, x, count) (rt_mean<rt_acc_##acc>(x, count, RT_LANES(n)))

// ---- shuffles: every thread of the block calls; `threads` is the block's size, a constant ----

// Lanes of the caller's warp that exist. Naming others is undefined, and the last warp may be a partial one.
RT_DEVICE unsigned rt_warp_mask(int threads, int tid) {
  const int left = threads % RT_WARP == 0 ? RT_WARP : threads - (threads < RT_WARP ? 0 : tid / RT_WARP * RT_WARP);
  return left >= RT_WARP ? 0xffffffffu : (1u << left) - 1u;
}
#define RT_SHFL_DOWN(acc, x, delta, width, threads, scratch, tid) \
  (__shfl_down_sync(rt_warp_mask(threads, tid), (rt_acc_##acc)(x), delta, width))

// Shuffles need no memory here.
#define RT_SHFL_SCRATCH(acc, name, n)

// ---- tickets of the last-block-done mapping: partials are released before a ticket is drawn and read after the last
// one, past the first-level cache, which other multiprocessors' writes do not reach ----

#define RT_FENCE() __threadfence()
#define RT_TICKET(p) atomicAdd((p), 1u)
// Until `n` tickets are drawn: only where the blocks that draw them are resident.
#define RT_WAIT(p, n) \
  while (*(const volatile rt_u32*)(p) != (n)) __nanosleep(32)
template <typename S> RT_DEVICE S rt_peek(const volatile S* p) { return *p; }
RT_DEVICE rt_i32 rt_peek(const volatile rt_bool* p) { return p->bits != 0; }
#define RT_PEEK(acc, p) ((rt_acc_##acc)rt_peek((const volatile rt_##acc*)(p)))

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

RT_DEVICE void rt_atomic(rt_op_any, rt_i32* p, rt_i32 x) { atomicOr(p, x); }
RT_DEVICE void rt_atomic(rt_op_all, rt_i32* p, rt_i32 x) { atomicAnd(p, x); }

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
    next.value = rt_op_prod::of(seen.value, x);
    const Bits found = atomicCAS((Bits*)p, seen.bits, next.bits);
    if (found == seen.bits) return;
    seen.bits = found;
  }
}
#define RT_ATOMIC(op, acc, p, x) rt_atomic(rt_op_##op(), p, (rt_acc_##acc)(x))
#define RT_ATOMIC_SHARED RT_ATOMIC
#define RT_ATOMIC_PACKED(p, x) atomicMax((p), (x))

// Lanes side by side in memory that has their alignment.
template <typename Op, typename T, int... I>
RT_DEVICE void rt_atomics(Op op, T* p, const rt_vec<T, sizeof...(I)>& v, rt_list<I...>) {
  (rt_atomic(op, p + I, v.v[I]), ...);
}
#if __CUDA_ARCH__ >= 900
RT_DEVICE void rt_atomics(rt_op_sum, rt_f32* p, const rt_vec<rt_f32, 2>& v, rt_list<0, 1>) {
  asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(p)), "f"(v.v[0]), "f"(v.v[1]) : "memory");
}
RT_DEVICE void rt_red4(rt_f32* p, rt_f32 a, rt_f32 b, rt_f32 c, rt_f32 d) {
  asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)),
               "f"(a), "f"(b), "f"(c), "f"(d)
               : "memory");
}
RT_DEVICE void rt_atomics(rt_op_sum, rt_f32* p, const rt_vec<rt_f32, 4>& v, rt_list<0, 1, 2, 3>) {
  rt_red4(p, v.v[0], v.v[1], v.v[2], v.v[3]);
}
RT_DEVICE void rt_atomics(rt_op_sum, rt_f32* p, const rt_vec<rt_f32, 8>& v, rt_list<0, 1, 2, 3, 4, 5, 6, 7>) {
  rt_red4(p, v.v[0], v.v[1], v.v[2], v.v[3]);
  rt_red4(p + 4, v.v[4], v.v[5], v.v[6], v.v[7]);
}
#endif
#define RT_ATOMICS(op, acc, n, p, x) rt_atomics(rt_op_##op(), p, x, RT_LANES(n))

// ---- whole warps of integers by their own instruction (sm_80) ----

#if __CUDA_ARCH__ >= 800
RT_DEVICE rt_i32 rt_redux(rt_op_sum, rt_i32 x) { return __reduce_add_sync(0xffffffffu, x); }
RT_DEVICE rt_i32 rt_redux(rt_op_max, rt_i32 x) { return __reduce_max_sync(0xffffffffu, x); }
RT_DEVICE rt_i32 rt_redux(rt_op_min, rt_i32 x) { return __reduce_min_sync(0xffffffffu, x); }
RT_DEVICE rt_i32 rt_redux(rt_op_any, rt_i32 x) { return (rt_i32)__reduce_or_sync(0xffffffffu, (unsigned)x); }
RT_DEVICE rt_i32 rt_redux(rt_op_all, rt_i32 x) { return (rt_i32)__reduce_and_sync(0xffffffffu, (unsigned)x); }
#define RT_REDUX(op, acc, x) rt_redux(rt_op_##op(), x)
#endif

// ---- clusters (sm_90): blocks that see each other's shared memory ----

#if __CUDA_ARCH__ >= 900
RT_DEVICE void rt_cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
template <typename T> RT_DEVICE T* rt_cluster_at(T* p, rt_i32 block) {
  T* there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(block));
  return there;
}
#define RT_CLUSTER_SYNC() rt_cluster_sync()
#define RT_CLUSTER_AT(p, block) rt_cluster_at(p, block)
#endif
