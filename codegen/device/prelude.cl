// What the kernel text needs in OpenCL C 1.2. The same names as prelude.cuh; every macro takes the words of the dtype
// table (f32, bf16, i8, ...) and lane counts as bare tokens. Only what OpenCL lacks is built here: shuffles go through
// local memory, float atomics are compare-and-swap.

#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#if defined(cl_khr_int64_base_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif
#if defined(cl_khr_int64_extended_atomics)
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#endif

// An implementation may spell built-ins as macros; these words are names of operators here.
#undef max
#undef min
#undef any
#undef all

typedef char rt_i8;
typedef uchar rt_u8;
typedef int rt_i32;
typedef uint rt_u32;
typedef ulong rt_u64;
typedef long rt_i64;
typedef float rt_f32;
typedef double rt_f64;
typedef uchar rt_bool;
typedef ushort rt_bf16;
typedef half rt_f16;

#define RT_GLOBAL __global
#define RT_RESTRICT restrict
#define RT_KERNEL(name, bx, by) __kernel __attribute__((reqd_work_group_size(bx, by, 1))) void name
#define RT_SHARED(type, name, n) __local type name[n]
#define RT_BLOCK ((rt_i32)get_group_id(0))
#define RT_TX ((rt_i32)get_local_id(0))
#define RT_TY ((rt_i32)get_local_id(1))
#define RT_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define RT_MIN(a, b) ((a) < (b) ? (a) : (b))
#define RT_MAX(a, b) ((a) > (b) ? (a) : (b))
#ifndef RT_WARP
#define RT_WARP 8
#endif

// On a CPU the hint reaches the hardware; elsewhere it is the language's own.
#if defined(__x86_64__) || defined(__aarch64__)
#define RT_PREFETCH(p) __builtin_prefetch((const void*)(ulong)(p))
#else
#define RT_PREFETCH(p) prefetch((p), 1)
#endif

// ---- accumulators: small integers compute as i32, 16-bit floats as f32 ----

typedef int rt_acc_bool, rt_acc_i8, rt_acc_u8, rt_acc_i32;
typedef long rt_acc_i64;
typedef float rt_acc_f16, rt_acc_bf16, rt_acc_f32;
typedef double rt_acc_f64;

// Register type by word: int, long, float or double; one lane is the scalar.
#define RT_REG_bool int
#define RT_REG_i8 int
#define RT_REG_u8 int
#define RT_REG_i32 int
#define RT_REG_i64 long
#define RT_REG_f16 float
#define RT_REG_bf16 float
#define RT_REG_f32 float
#define RT_REG_f64 double
#define RT_CAT_(a, b) a##b
#define RT_CAT(a, b) RT_CAT_(a, b)
#define RT_N_1
#define RT_N_2 2
#define RT_N_4 4
#define RT_N_8 8
#define RT_N_16 16
#define RT_VEC(acc, n) RT_CAT(RT_REG_##acc, RT_N_##n)

// Scalar spellings of the built-ins that exist only with a lane count.
#define RT_VLOAD_1(i, p) (*((p) + (i)))
#define RT_VLOAD_2 vload2
#define RT_VLOAD_4 vload4
#define RT_VLOAD_8 vload8
#define RT_VLOAD_16 vload16
#define RT_VSTORE_1(v, i, p) (*((p) + (i)) = (v))
#define RT_VSTORE_2 vstore2
#define RT_VSTORE_4 vstore4
#define RT_VSTORE_8 vstore8
#define RT_VSTORE_16 vstore16
#define RT_AS(type, n) RT_CAT(RT_CAT(as_, type), RT_N_##n)
#define RT_TO(type, n) RT_CAT(RT_CAT(convert_, type), RT_N_##n)
#define RT_VLOAD(n) RT_VLOAD_##n
#define RT_VSTORE(n) RT_VSTORE_##n

#define RT_CONST(acc, bits) rt_const_##acc(bits)
#define rt_const_f32(bits) as_float((uint)(bits))
#define rt_const_f64(bits) as_double((ulong)(bits))
#define rt_const_f16 rt_const_f32
#define rt_const_bf16 rt_const_f32
#define rt_const_i64(bits) as_long((ulong)(bits))
#define rt_const_i32(bits) as_int((uint)(bits))
#define rt_const_i8(bits) ((int)(char)(bits))
#define rt_const_u8(bits) ((int)(uchar)(bits))
#define rt_const_bool(bits) ((int)(uchar)(bits))

// ---- lanes ----

#define RT_SPLAT(acc, n, x) ((RT_VEC(acc, n))(x))
#define RT_S_0 s0
#define RT_S_1 s1
#define RT_S_2 s2
#define RT_S_3 s3
#define RT_S_4 s4
#define RT_S_5 s5
#define RT_S_6 s6
#define RT_S_7 s7
#define RT_S_8 s8
#define RT_S_9 s9
#define RT_S_10 sa
#define RT_S_11 sb
#define RT_S_12 sc
#define RT_S_13 sd
#define RT_S_14 se
#define RT_S_15 sf
#define RT_LANE_1(v, i) (v)
#define RT_LANE_2(v, i) ((v).RT_S_##i)
#define RT_LANE_4(v, i) ((v).RT_S_##i)
#define RT_LANE_8(v, i) ((v).RT_S_##i)
#define RT_LANE_16(v, i) ((v).RT_S_##i)
#define RT_LANE(acc, n, v, i) RT_LANE_##n(v, i)
#define RT_SET_LANE(acc, n, v, i, x) (RT_LANE(acc, n, v, i) = (x))

// Masks have the lane size of what they select.
#define RT_MASK_bool int
#define RT_MASK_i8 int
#define RT_MASK_u8 int
#define RT_MASK_i32 int
#define RT_MASK_i64 long
#define RT_MASK_f16 int
#define RT_MASK_bf16 int
#define RT_MASK_f32 int
#define RT_MASK_f64 long
#define RT_IOTA_1 0
#define RT_IOTA_2 0, 1
#define RT_IOTA_4 0, 1, 2, 3
#define RT_IOTA_8 0, 1, 2, 3, 4, 5, 6, 7
#define RT_IOTA_16 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define RT_KEEP_FROM(acc, n, v, k, identity)                                                                    \
  ((RT_CAT(RT_MASK_##acc, RT_N_##n))(RT_IOTA_##n) >= (RT_CAT(RT_MASK_##acc, RT_N_##n))(k) ? (v) \
                                                                                                : RT_SPLAT(acc, n, identity))

// ---- loads and stores ----

#if defined(__clang__)
// Through a type of the element's alignment: the same code as vload and half its compile time, for there is no library
// function to inline.
#define RT_LOOSE_TYPES(word, type, bytes)                           \
  typedef type rt_loose_##word##_1;                                 \
  typedef type##2 rt_loose_##word##_2 __attribute__((aligned(bytes)));   \
  typedef type##4 rt_loose_##word##_4 __attribute__((aligned(bytes)));   \
  typedef type##8 rt_loose_##word##_8 __attribute__((aligned(bytes)));   \
  typedef type##16 rt_loose_##word##_16 __attribute__((aligned(bytes)));
RT_LOOSE_TYPES(i32, int, 4)
RT_LOOSE_TYPES(f32, float, 4)
RT_LOOSE_TYPES(i64, long, 8)
#if defined(cl_khr_fp64)
RT_LOOSE_TYPES(f64, double, 8)
#endif
#define RT_LOOSE(word, n, p) (*(__global const rt_loose_##word##_##n*)(p))
#else
#define RT_LOOSE(word, n, p) RT_VLOAD(n)(0, (p))
#endif
#define RT_RAW_f32(n, p) RT_LOOSE(f32, n, p)
#define RT_RAW_f64(n, p) RT_LOOSE(f64, n, p)
#define RT_RAW_i32(n, p) RT_LOOSE(i32, n, p)
#define RT_RAW_i64(n, p) RT_LOOSE(i64, n, p)
#define RT_RAW_i8(n, p) RT_VLOAD(n)(0, (p))
#define RT_RAW_u8(n, p) RT_VLOAD(n)(0, (p))
#define RT_RAW_bool(n, p) clamp(RT_VLOAD(n)(0, (p)), (uchar)0, (uchar)1)
#define RT_RAW_f16(n, p) RT_CAT(vload_half, RT_N_##n)(0, (p))
#define RT_RAW_bf16(n, p) RT_AS(float, n)(RT_TO(uint, n)(RT_VLOAD(n)(0, (p))) << 16)
#define RT_LOAD(in, acc, n, p) RT_CAT(RT_CAT(convert_, RT_REG_##acc), RT_N_##n)(RT_RAW_##in(n, p))
#define RT_LOAD_UNALIGNED RT_LOAD
// Partials of other blocks: written before their ticket, read after the last one.
#define RT_PEEK(acc, p) (*(volatile RT_GLOBAL rt_##acc*)(p))

// f32 to bf16: to nearest, ties to even; a NaN skips the rounding, which could carry it into infinity.
#define RT_BF16_BITS(n, u) \
  (((u)&0x7fffffffu) > 0x7f800000u ? ((u) >> 16) | 0x40u : ((u) + 0x7fffu + (((u) >> 16) & 1u)) >> 16)
#define RT_PUT_f32(n, p, v) RT_VSTORE(n)(RT_TO(float, n)(v), 0, (p))
#define RT_PUT_f64(n, p, v) RT_VSTORE(n)(RT_TO(double, n)(v), 0, (p))
#define RT_PUT_i64(n, p, v) RT_VSTORE(n)(RT_TO(long, n)(v), 0, (p))
#define RT_PUT_i32(n, p, v) RT_VSTORE(n)(RT_TO(int, n)(v), 0, (p))
#define RT_PUT_i8(n, p, v) RT_VSTORE(n)(RT_TO(char, n)(v), 0, (p))
#define RT_PUT_u8(n, p, v) RT_VSTORE(n)(RT_TO(uchar, n)(v), 0, (p))
#define RT_PUT_bool(n, p, v) RT_VSTORE(n)(RT_TO(uchar, n)(clamp(RT_TO(int, n)(v), 0, 1)), 0, (p))
// Not vstore_half_rte: PoCL makes a call per lane of it, which takes minutes to compile where stores are unrolled. To
// nearest, ties to even: small numbers by adding 0.5, whose last place is theirs.
#define RT_PUT_f16(n, p, v)                                                                              \
  do {                                                                                                   \
    typedef RT_CAT(uint, RT_N_##n) rt_bits;                                                              \
    const rt_bits rt_u = RT_AS(uint, n)(RT_TO(float, n)(v)), rt_a = rt_u & 0x7fffffffu;                  \
    const rt_bits rt_small = RT_AS(uint, n)(RT_AS(float, n)(rt_a) + 0.5f) - 0x3f000000u;                 \
    const rt_bits rt_normal = (rt_a - 0x38000000u + 0xfffu + ((rt_a >> 13) & 1u)) >> 13;                 \
    rt_bits rt_h = rt_a < 0x38800000u ? rt_small : rt_normal;                                            \
    rt_h = rt_a >= 0x477ff000u ? (rt_bits)(0x7c00u) : rt_h;                                              \
    rt_h = rt_a > 0x7f800000u ? (rt_bits)(0x7e00u) : rt_h;                                               \
    RT_VSTORE(n)(RT_TO(ushort, n)(rt_h | ((rt_u >> 16) & 0x8000u)), 0, (RT_GLOBAL ushort*)(p));          \
  } while (0)
#define RT_PUT_bf16(n, p, v)                                                                             \
  do {                                                                                                   \
    const RT_CAT(uint, RT_N_##n) rt_u = RT_AS(uint, n)(RT_TO(float, n)(v));                              \
    const RT_CAT(uint, RT_N_##n) rt_b = RT_BF16_BITS(n, rt_u);                                           \
    RT_VSTORE(n)(RT_TO(ushort, n)(rt_b), 0, (p));                                                        \
  } while (0)
#define RT_STORE(acc, out, n, p, v) RT_PUT_##out(n, p, v)
#define RT_STORE1(acc, out, p, x) RT_PUT_##out(1, p, x)

// ---- combining ----

// Integers wrap: they add and multiply as unsigned.
#define RT_SUM_f32(n, a, b) ((a) + (b))
#define RT_SUM_f64(n, a, b) ((a) + (b))
#define RT_SUM_i32(n, a, b) RT_AS(int, n)(RT_AS(uint, n)(a) + RT_AS(uint, n)(b))
#define RT_SUM_i64(n, a, b) RT_AS(long, n)(RT_AS(ulong, n)(a) + RT_AS(ulong, n)(b))
#define RT_PROD_f32(n, a, b) ((a) * (b))
#define RT_PROD_f64(n, a, b) ((a) * (b))
#define RT_PROD_i32(n, a, b) RT_AS(int, n)(RT_AS(uint, n)(a) * RT_AS(uint, n)(b))
#define RT_PROD_i64(n, a, b) RT_AS(long, n)(RT_AS(ulong, n)(a) * RT_AS(ulong, n)(b))
#define RT_SUM_f16 RT_SUM_f32
#define RT_SUM_bf16 RT_SUM_f32
#define RT_PROD_f16 RT_PROD_f32
#define RT_PROD_bf16 RT_PROD_f32
#define RT_OP_sum(acc, n, a, b) RT_SUM_##acc(n, a, b)
#define RT_OP_prod(acc, n, a, b) RT_PROD_##acc(n, a, b)
// NaN stays: a NaN on the left is taken, one on the right fails the comparison.
#define RT_OP_max(acc, n, a, b) (((a) >= (b) || (a) != (a)) ? (a) : (b))
#define RT_OP_min(acc, n, a, b) (((a) <= (b) || (a) != (a)) ? (a) : (b))
#define RT_OP_any(acc, n, a, b) ((a) | (b))
#define RT_OP_all(acc, n, a, b) ((a) & (b))
#define RT_COMBINE(op, acc, n, a, b) RT_OP_##op(acc, n, a, b)

// What any and all take of an element that was loaded as `in`: 1 or 0. A NaN is not zero.
#define RT_TRUTH_1(in, x) ((x) != 0)
#define RT_TRUTH_N(in, n, x) (RT_TO(int, n)((x) != RT_SPLAT(in, n, 0)) & 1)
#define RT_TRUTH_2(in, x) RT_TRUTH_N(in, 2, x)
#define RT_TRUTH_4(in, x) RT_TRUTH_N(in, 4, x)
#define RT_TRUTH_8(in, x) RT_TRUTH_N(in, 8, x)
#define RT_TRUTH_16(in, x) RT_TRUTH_N(in, 16, x)
#define RT_TRUTH(in, n, x) RT_TRUTH_##n(in, x)
// The last step of mean.
#define RT_MEAN(acc, n, x, count) ((x) / (count))

#define RT_FOLD_1(op, acc, v) (v)
#define RT_FOLD_2(op, acc, v)                             \
  ({                                                      \
    const RT_VEC(acc, 2) rt_v2 = (v);                     \
    RT_COMBINE(op, acc, 1, rt_v2.s0, rt_v2.s1);           \
  })
#define RT_FOLD_4(op, acc, v)                                                          \
  ({                                                                                   \
    const RT_VEC(acc, 4) rt_v4 = (v);                                                  \
    RT_FOLD_2(op, acc, RT_COMBINE(op, acc, 2, rt_v4.lo, rt_v4.hi));                    \
  })
#define RT_FOLD_8(op, acc, v)                                                          \
  ({                                                                                   \
    const RT_VEC(acc, 8) rt_v8 = (v);                                                  \
    RT_FOLD_4(op, acc, RT_COMBINE(op, acc, 4, rt_v8.lo, rt_v8.hi));                    \
  })
#define RT_FOLD_16(op, acc, v)                                                         \
  ({                                                                                   \
    const RT_VEC(acc, 16) rt_v16 = (v);                                                \
    RT_FOLD_8(op, acc, RT_COMBINE(op, acc, 8, rt_v16.lo, rt_v16.hi));                  \
  })
#define RT_FOLD(op, acc, n, v) RT_FOLD_##n(op, acc, v)

// ---- shuffles: through local memory, so every work-item of the group must call ----

#define RT_SHFL_SCRATCH(acc, name, n) __local rt_acc_##acc name[n]
#define RT_SHFL_DOWN(acc, x, delta, width, threads, scratch, tid)                                                \
  ({                                                                                                             \
    RT_BARRIER();                                                                                                \
    (scratch)[tid] = (x);                                                                                        \
    RT_BARRIER();                                                                                                \
    (scratch)[(tid) % (width) + (delta) < (width) ? (tid) + (delta) : (tid)];                                    \
  })

// ---- tickets of the last-block-done mapping ----

#define RT_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE)
#define RT_TICKET(p) atomic_inc(p)

// ---- atomics on the output (scope atomic) and in local memory (scope shared); nobody reads the old value ----

#define RT_SPACE_atomic RT_GLOBAL
#define RT_SPACE_shared __local
// What an accumulator is in registers.
#define RT_WORD_bool i32
#define RT_WORD_i8 i32
#define RT_WORD_u8 i32
#define RT_WORD_i32 i32
#define RT_WORD_i64 i64
#define RT_WORD_f16 f32
#define RT_WORD_bf16 f32
#define RT_WORD_f32 f32
#define RT_WORD_f64 f64
#define RT_ATOMIC(op, acc, p, x) rt_atomic_##op##_##acc((p), (x))
#define RT_ATOMIC_SHARED(op, acc, p, x) RT_CAT(rt_shared_##op##_, RT_WORD_##acc)((p), (x))
#define RT_ATOMIC_LANES_2(op, acc, p, v) RT_ATOMIC(op, acc, (p), (v).s0); RT_ATOMIC(op, acc, (p) + 1, (v).s1)
#define RT_ATOMIC_LANES_4(op, acc, p, v) RT_ATOMIC_LANES_2(op, acc, p, (v).lo); RT_ATOMIC_LANES_2(op, acc, (p) + 2, (v).hi)
#define RT_ATOMIC_LANES_8(op, acc, p, v) RT_ATOMIC_LANES_4(op, acc, p, (v).lo); RT_ATOMIC_LANES_4(op, acc, (p) + 4, (v).hi)
#define RT_ATOMIC_LANES_16(op, acc, p, v) RT_ATOMIC_LANES_8(op, acc, p, (v).lo); RT_ATOMIC_LANES_8(op, acc, (p) + 8, (v).hi)
#define RT_ATOMICS(op, acc, n, p, v)               \
  do {                                             \
    const RT_VEC(acc, n) rt_v = (v);               \
    RT_ATOMIC_LANES_##n(op, acc, (p), rt_v);       \
  } while (0)

// The loop starts by guessing the identity that the place was filled with: a plain first read would race with the
// other writers, and the swap returns the real value when the guess is wrong.
#define RT_SWAP_LOOP(scope, op, acc, bits_t, as_bits, as_value, cmpxchg, identity)                              \
  inline void rt_##scope##_##op##_##acc(volatile RT_SPACE_##scope rt_##acc* p, rt_##acc x) {                    \
    bits_t seen = as_bits((rt_##acc)(identity));                                                                \
    for (;;) {                                                                                                  \
      const rt_##acc old = as_value(seen);                                                                      \
      const rt_##acc next = RT_COMBINE(op, acc, 1, old, x);                                                     \
      const bits_t found = cmpxchg((volatile RT_SPACE_##scope bits_t*)p, seen, as_bits(next));                  \
      if (found == seen) return;                                                                                \
      seen = found;                                                                                             \
    }                                                                                                           \
  }
#define RT_ATOMIC_CALL(scope, op, acc, function) \
  inline void rt_##scope##_##op##_##acc(volatile RT_SPACE_##scope rt_##acc* p, rt_##acc x) { function(p, x); }

// Floats order by their bits: like signed integers without the sign bit, backwards as unsigned ones with it. The branch
// looks at the sign bit (-0.0 has it). A NaN becomes the quiet NaN beyond infinity on the winning side and stays.
#define RT_BITS_EXTREME(scope, op, acc, int_t, uint_t, as_int_t, nan_bits, up, down)                            \
  inline void rt_##scope##_##op##_##acc(volatile RT_SPACE_##scope rt_##acc* p, rt_##acc x) {                    \
    const int_t bits = x != x ? (int_t)(nan_bits) : as_int_t(x);                                                \
    if (bits >= 0)                                                                                              \
      up((volatile RT_SPACE_##scope int_t*)p, bits);                                                            \
    else                                                                                                        \
      down((volatile RT_SPACE_##scope uint_t*)p, (uint_t)bits);                                                 \
  }

#define RT_ATOMICS_OF_32(scope)                                                                  \
  RT_SWAP_LOOP(scope, sum, f32, uint, as_uint, as_float, atomic_cmpxchg, 0.0f)                   \
  RT_SWAP_LOOP(scope, prod, f32, uint, as_uint, as_float, atomic_cmpxchg, 1.0f)                  \
  RT_SWAP_LOOP(scope, prod, i32, uint, as_uint, as_int, atomic_cmpxchg, 1)                       \
  RT_ATOMIC_CALL(scope, sum, i32, atomic_add)                                                    \
  RT_ATOMIC_CALL(scope, max, i32, atomic_max)                                                    \
  RT_ATOMIC_CALL(scope, min, i32, atomic_min)                                                    \
  RT_ATOMIC_CALL(scope, any, i32, atomic_or)                                                     \
  RT_ATOMIC_CALL(scope, all, i32, atomic_and)                                                    \
  RT_BITS_EXTREME(scope, max, f32, int, uint, as_int, 0x7fc00000u, atomic_max, atomic_min)       \
  RT_BITS_EXTREME(scope, min, f32, int, uint, as_int, 0xffc00000u, atomic_min, atomic_max)
RT_ATOMICS_OF_32(atomic)
RT_ATOMICS_OF_32(shared)
#if defined(cl_khr_int64_base_atomics)
#define RT_ATOMICS_OF_I64(scope)                                                                 \
  RT_SWAP_LOOP(scope, prod, i64, ulong, as_ulong, as_long, atom_cmpxchg, 1)                      \
  RT_ATOMIC_CALL(scope, sum, i64, atom_add)
RT_ATOMICS_OF_I64(atomic)
RT_ATOMICS_OF_I64(shared)
#endif
#if defined(cl_khr_fp64) && defined(cl_khr_int64_base_atomics)
#define RT_ATOMICS_OF_F64(scope)                                                                 \
  RT_SWAP_LOOP(scope, sum, f64, ulong, as_ulong, as_double, atom_cmpxchg, 0.0)                   \
  RT_SWAP_LOOP(scope, prod, f64, ulong, as_ulong, as_double, atom_cmpxchg, 1.0)
RT_ATOMICS_OF_F64(atomic)
RT_ATOMICS_OF_F64(shared)
#endif
#if defined(cl_khr_int64_extended_atomics)
#define RT_EXTREMES_OF_I64(scope)            \
  RT_ATOMIC_CALL(scope, max, i64, atom_max)  \
  RT_ATOMIC_CALL(scope, min, i64, atom_min)
RT_EXTREMES_OF_I64(atomic)
RT_EXTREMES_OF_I64(shared)
// Value and position of argmax or argmin as one number that orders as they do.
inline void RT_ATOMIC_PACKED(volatile RT_GLOBAL rt_u64* p, rt_u64 x) { atom_max(p, x); }
#endif
#if defined(cl_khr_fp64) && defined(cl_khr_int64_extended_atomics)
#define RT_EXTREMES_OF_F64(scope)                                                                                 \
  RT_BITS_EXTREME(scope, max, f64, long, ulong, as_long, 0x7ff8000000000000ul, atom_max, atom_min)                \
  RT_BITS_EXTREME(scope, min, f64, long, ulong, as_long, 0xfff8000000000000ul, atom_min, atom_max)
RT_EXTREMES_OF_F64(atomic)
RT_EXTREMES_OF_F64(shared)
#endif
