// Elementwise functions of fused statements in OpenCL C 1.2; the same names as elementwise.cuh. `w` is the word of the
// arguments' type. Registers hold 16-bit floats as f32 and small integers as i32: RT_F_NARROW brings a result back to
// what the type can hold. Truths are 0 or 1 in an i32. Arguments are names of variables: macros may repeat them.

#define RT_F_NAME(name) name
#define RT_F_INLINE inline
#define RT_F_BUILD(type, ...) ((type){__VA_ARGS__})

#define RT_F_1(function, w, n, a) RT_F_##function(w, n, a)
#define RT_F_2(function, w, n, a, b) RT_F_##function(w, n, a, b)

#define RT_SUM_i8 RT_SUM_i32
#define RT_SUM_u8 RT_SUM_i32
#define RT_PROD_i8 RT_PROD_i32
#define RT_PROD_u8 RT_PROD_i32
#define RT_F_MINUS_f32(n, a, b) ((a) - (b))
#define RT_F_MINUS_f64(n, a, b) ((a) - (b))
#define RT_F_MINUS_f16(n, a, b) ((a) - (b))
#define RT_F_MINUS_bf16(n, a, b) ((a) - (b))
#define RT_F_MINUS_i32(n, a, b) RT_AS(int, n)(RT_AS(uint, n)(a) - RT_AS(uint, n)(b))
#define RT_F_MINUS_i64(n, a, b) RT_AS(long, n)(RT_AS(ulong, n)(a) - RT_AS(ulong, n)(b))
#define RT_F_MINUS_i8 RT_F_MINUS_i32
#define RT_F_MINUS_u8 RT_F_MINUS_i32
#define RT_F_ZERO(w, n) ((RT_VEC(w, n))(0))
#define RT_F_ONE(w, n) ((RT_VEC(w, n))(1))

#define RT_F_add(w, n, a, b) RT_SUM_##w(n, a, b)
#define RT_F_sub(w, n, a, b) RT_F_MINUS_##w(n, a, b)
#define RT_F_mul(w, n, a, b) RT_PROD_##w(n, a, b)
#define RT_F_div(w, n, a, b) ((a) / (b))
#define RT_F_NEGATE_f32(n, a) (-(a))
#define RT_F_NEGATE_f64(n, a) (-(a))
#define RT_F_NEGATE_f16(n, a) (-(a))
#define RT_F_NEGATE_bf16(n, a) (-(a))
#define RT_F_NEGATE_i32(n, a) RT_F_MINUS_i32(n, RT_F_ZERO(i32, n), a)
#define RT_F_NEGATE_i64(n, a) RT_F_MINUS_i64(n, RT_F_ZERO(i64, n), a)
#define RT_F_NEGATE_i8 RT_F_NEGATE_i32
#define RT_F_NEGATE_u8 RT_F_NEGATE_i32
#define RT_F_neg(w, n, a) RT_F_NEGATE_##w(n, a)
#define RT_F_SIZE_f32(n, a) fabs(a)
#define RT_F_SIZE_f64(n, a) fabs(a)
#define RT_F_SIZE_f16(n, a) fabs(a)
#define RT_F_SIZE_bf16(n, a) fabs(a)
#define RT_F_SIZE_i32(n, a) RT_AS(int, n)(abs(a))
#define RT_F_SIZE_i64(n, a) RT_AS(long, n)(abs(a))
#define RT_F_SIZE_i8 RT_F_SIZE_i32
#define RT_F_SIZE_u8 RT_F_SIZE_i32
#define RT_F_abs(w, n, a) RT_F_SIZE_##w(n, a)
#define RT_F_max(w, n, a, b) RT_OP_max(w, n, a, b)
#define RT_F_min(w, n, a, b) RT_OP_min(w, n, a, b)
#define RT_F_exp(w, n, a) exp(a)
#define RT_F_log(w, n, a) log(a)
#define RT_F_sqrt(w, n, a) sqrt(a)
#define RT_F_rsqrt(w, n, a) (RT_F_ONE(w, n) / sqrt(a))
#define RT_F_tanh(w, n, a) tanh(a)
#define RT_F_sigmoid(w, n, a) (RT_F_ONE(w, n) / (RT_F_ONE(w, n) + exp(-(a))))
#define RT_F_erf(w, n, a) erf(a)
#define RT_F_pow(w, n, a, b) pow(a, b)
#define RT_F_and(w, n, a, b) ((a) & (b))
#define RT_F_or(w, n, a, b) ((a) | (b))
#define RT_F_not(w, n, a) ((a) ^ 1)

#define RT_F_lt(a, b) ((a) < (b))
#define RT_F_le(a, b) ((a) <= (b))
#define RT_F_gt(a, b) ((a) > (b))
#define RT_F_ge(a, b) ((a) >= (b))
#define RT_F_eq(a, b) ((a) == (b))
#define RT_F_ne(a, b) ((a) != (b))
#define RT_F_COMPARE(function, w, n, a, b) (RT_TO(int, n)(RT_F_##function(a, b)) & 1)
#define RT_F_TRUTH(w, n, a) RT_F_COMPARE(ne, w, n, a, RT_F_ZERO(w, n))
#define RT_F_SELECT(w, n, c, a, b) ((RT_TO(RT_MASK_##w, n)(c) != 0) ? (a) : (b))

#define RT_F_CVT(from, to, n, a) RT_TO(RT_REG_##to, n)(a)
// Towards zero, saturated; a NaN is 0.
#define RT_F_CUT(from, to, n, a) RT_CAT(RT_TO(RT_REG_##to, n), _sat)(RT_F_SELECT(from, n, RT_F_COMPARE(eq, from, n, a, a), a, RT_F_ZERO(from, n)))

#define RT_F_NARROW(w, n, a) RT_F_NARROW_##w(n, a)
#define RT_F_NARROW_i8(n, a) (((a) << 24) >> 24)
#define RT_F_NARROW_u8(n, a) ((a) & 0xff)
// To nearest, ties to even: normal numbers by their bits, smaller ones by adding 0.5, whose last place is theirs.
#define RT_F_NARROW_FUNCTION(n)                                                                        \
  inline RT_CAT(float, RT_N_##n) rt_narrow_f16_##n(RT_CAT(float, RT_N_##n) a) {                        \
    typedef RT_CAT(uint, RT_N_##n) bits;                                                               \
    const bits u = RT_AS(uint, n)(a), sign = u & 0x80000000u, size = u & 0x7fffffffu;                  \
    const bits normal = (size + 0xfffu + ((size >> 13) & 1u)) & 0xffffe000u;                           \
    const bits small = RT_AS(uint, n)((RT_AS(float, n)(size) + 0.5f) - 0.5f);                          \
    bits r = size < (bits)(0x38800000u) ? small : normal;                                              \
    r = size >= (bits)(0x477ff000u) ? (bits)(0x7f800000u) : r;                                         \
    r = size > (bits)(0x7f800000u) ? size : r;                                                         \
    return RT_AS(float, n)(r | sign);                                                                  \
  }
RT_F_NARROW_FUNCTION(1)
RT_F_NARROW_FUNCTION(2)
RT_F_NARROW_FUNCTION(4)
RT_F_NARROW_FUNCTION(8)
RT_F_NARROW_FUNCTION(16)
#define RT_F_NARROW_f16(n, a) rt_narrow_f16_##n(a)
#define RT_F_NARROW_bf16(n, a)                                              \
  ({                                                                        \
    const RT_CAT(uint, RT_N_##n) rt_u = RT_AS(uint, n)(a);                  \
    const RT_CAT(uint, RT_N_##n) rt_b = RT_BF16_BITS(n, rt_u);              \
    RT_AS(float, n)(rt_b << 16);                                            \
  })
