// Partial results of several members, in OpenCL C: the same names as states.cuh. C has no templates, so a text says
// once which operator, accumulator and lane counts it uses (RT_OPERATOR) and gets their types and functions. A state of
// n lanes holds a vector of n per member: lanes are independent partial results. What members mean stands with each
// operator; all have the width of the accumulator.

#define RT_STATE(op, acc, n) rt_##op##_##acc##_##n
#define RT_STATE_IDENTITY(op, acc, n) rt_identity_##op##_##acc##_##n()
// `first` is the position of lane 0, `step` that of the next lane behind it: for argmax and argmin.
#define RT_STATE_LIFT(op, acc, n, v, first, step) rt_lift_##op##_##acc##_##n((v), (first), (step))
#define RT_STATE_TAKE(op, acc, n, s, v, first, step) rt_take_##op##_##acc##_##n((s), (v), (first), (step))
#define RT_STATE_COMBINE(op, acc, n, x, y) rt_combine_##op##_##acc##_##n((x), (y))
#define RT_STATE_FINISH(op, acc, n, s, divisor) rt_finish_##op##_##acc##_##n((s), (divisor))
#define RT_STATE_LANE(op, acc, n, s, i) ((RT_STATE(op, acc, 1))RT_LANES_##op(n, s, i))
#define RT_STATE_SET_LANE(op, acc, n, s, i, x)         \
  do {                                                 \
    const RT_STATE(op, acc, 1) rt_x = (x);             \
    RT_SET_LANES_##op(n, s, i)                         \
  } while (0)
// Lanes before k count nothing.
#define RT_STATE_KEEP_FROM(op, acc, n, s, k)                                              \
  ({                                                                                      \
    const RT_STATE(op, acc, n) rt_s = (s), rt_0 = RT_STATE_IDENTITY(op, acc, n);          \
    const RT_CAT(RT_MASK_##acc, RT_N_##n) rt_mine =                                       \
        (RT_CAT(RT_MASK_##acc, RT_N_##n))(RT_IOTA_##n) >= (RT_CAT(RT_MASK_##acc, RT_N_##n))(k); \
    (RT_STATE(op, acc, n))RT_SELECT_##op(rt_mine, rt_s, rt_0);                            \
  })
// Partial results of other blocks: written before their ticket, read after the last one.
#define RT_STATE_PEEK(op, acc, p) rt_peek_##op##_##acc(p)
#define RT_STATE_SHFL_SCRATCH(op, acc, name, n) __local RT_STATE(op, acc, 1) name[n]
// Through local memory: the macro asks nothing about the type.
#define RT_STATE_SHFL_DOWN(op, acc, x, delta, width, threads, scratch, tid) \
  RT_SHFL_DOWN(acc, x, delta, width, threads, scratch, tid)

#define RT_STATE_FOLD_1(op, acc, s) (s)
#define RT_STATE_FOLD_2(op, acc, s)                                                       \
  ({                                                                                      \
    const RT_STATE(op, acc, 2) rt_s2 = (s);                                               \
    RT_STATE_COMBINE(op, acc, 1, RT_HALF(op, acc, 1, rt_s2, lo), RT_HALF(op, acc, 1, rt_s2, hi)); \
  })
#define RT_STATE_FOLD_4(op, acc, s)                                                       \
  ({                                                                                      \
    const RT_STATE(op, acc, 4) rt_s4 = (s);                                               \
    RT_STATE_FOLD_2(op, acc,                                                              \
                    RT_STATE_COMBINE(op, acc, 2, RT_HALF(op, acc, 2, rt_s4, lo), RT_HALF(op, acc, 2, rt_s4, hi))); \
  })
#define RT_STATE_FOLD_8(op, acc, s)                                                       \
  ({                                                                                      \
    const RT_STATE(op, acc, 8) rt_s8 = (s);                                               \
    RT_STATE_FOLD_4(op, acc,                                                              \
                    RT_STATE_COMBINE(op, acc, 4, RT_HALF(op, acc, 4, rt_s8, lo), RT_HALF(op, acc, 4, rt_s8, hi))); \
  })
#define RT_STATE_FOLD_16(op, acc, s)                                                      \
  ({                                                                                      \
    const RT_STATE(op, acc, 16) rt_s16 = (s);                                             \
    RT_STATE_FOLD_8(op, acc,                                                              \
                    RT_STATE_COMBINE(op, acc, 8, RT_HALF(op, acc, 8, rt_s16, lo), RT_HALF(op, acc, 8, rt_s16, hi))); \
  })
#define RT_STATE_FOLD(op, acc, n, s) RT_STATE_FOLD_##n(op, acc, s)
#define RT_HALF(op, acc, n, s, half) ((RT_STATE(op, acc, n))RT_HALF_##op(s, half))

// What follows from the number of members alone.
#define RT_LANES_OF_2(n, s, i) {RT_LANE_##n((s).a, i), RT_LANE_##n((s).b, i)}
#define RT_LANES_OF_3(n, s, i) {RT_LANE_##n((s).a, i), RT_LANE_##n((s).b, i), RT_LANE_##n((s).c, i)}
#define RT_SET_LANES_OF_2(n, s, i) RT_LANE_##n((s).a, i) = rt_x.a; RT_LANE_##n((s).b, i) = rt_x.b;
#define RT_SET_LANES_OF_3(n, s, i) RT_SET_LANES_OF_2(n, s, i) RT_LANE_##n((s).c, i) = rt_x.c;
#define RT_SELECT_OF_2(mask, x, y) {mask ? x.a : y.a, mask ? x.b : y.b}
#define RT_SELECT_OF_3(mask, x, y) {mask ? x.a : y.a, mask ? x.b : y.b, mask ? x.c : y.c}
#define RT_HALF_OF_2(s, half) {(s).a.half, (s).b.half}
#define RT_HALF_OF_3(s, half) {(s).a.half, (s).b.half, (s).c.half}
#define RT_PEEK_OF_2(op, acc)                                                                             \
  inline RT_STATE(op, acc, 1) rt_peek_##op##_##acc(const volatile RT_GLOBAL RT_STATE(op, acc, 1) * p) {   \
    return (RT_STATE(op, acc, 1)){p->a, p->b};                                                            \
  }
#define RT_PEEK_OF_3(op, acc)                                                                             \
  inline RT_STATE(op, acc, 1) rt_peek_##op##_##acc(const volatile RT_GLOBAL RT_STATE(op, acc, 1) * p) {   \
    return (RT_STATE(op, acc, 1)){p->a, p->b, p->c};                                                      \
  }

// The functions of one operator, accumulator and lane count; T is a vector of the accumulator, P of positions.
#define RT_OPERATOR(op, acc, n) RT_OPERATOR_##op(acc, n, RT_VEC(acc, n), RT_CAT(RT_MASK_##acc, RT_N_##n))
#define RT_OPERATOR_PEEK(op, acc) RT_PEEK_##op(acc)
#define RT_OPERATOR_PACK(op, acc) RT_PACKING_##op(acc)
#define RT_TAKE_BY_COMBINE(op, acc, n, T, P)                                                                         \
  inline RT_STATE(op, acc, n) rt_take_##op##_##acc##_##n(RT_STATE(op, acc, n) s, T v, rt_index first, rt_index step) { \
    return RT_STATE_COMBINE(op, acc, n, s, RT_STATE_LIFT(op, acc, n, v, first, step));                               \
  }

// ---- argmax, argmin: a the extreme value, b its position. NaN beats numbers, the lower position a tie. ----

#define RT_LOWEST_f32 (-INFINITY)
#define RT_LOWEST_f64 ((double)-INFINITY)
#define RT_LOWEST_i32 INT_MIN
#define RT_LOWEST_i64 LONG_MIN
#define RT_HIGHEST_f32 INFINITY
#define RT_HIGHEST_f64 ((double)INFINITY)
#define RT_HIGHEST_i32 INT_MAX
#define RT_HIGHEST_i64 LONG_MAX
#define RT_LAST_f32 INT_MAX
#define RT_LAST_i32 INT_MAX
#define RT_LAST_f64 LONG_MAX
#define RT_LAST_i64 LONG_MAX

#define RT_OPERATOR_ARG(op, acc, n, T, P, worst, beats)                                                              \
  typedef struct {                                                                                                   \
    T a;                                                                                                             \
    P b;                                                                                                             \
  } RT_STATE(op, acc, n);                                                                                            \
  inline RT_STATE(op, acc, n) RT_STATE_IDENTITY(op, acc, n) {                                                        \
    return (RT_STATE(op, acc, n)){(T)(worst), (P)(RT_LAST_##acc)};                                                   \
  }                                                                                                                  \
  inline RT_STATE(op, acc, n) rt_lift_##op##_##acc##_##n(T v, rt_index first, rt_index step) {                       \
    return (RT_STATE(op, acc, n)){v, (P)(first) + (P)(RT_IOTA_##n) * (P)(step)};                                     \
  }                                                                                                                  \
  inline RT_STATE(op, acc, n) rt_combine_##op##_##acc##_##n(RT_STATE(op, acc, n) x, RT_STATE(op, acc, n) y) {        \
    const P x_nan = x.a != x.a, y_nan = y.a != y.a;                                                                  \
    const P tie = (x.a == y.a) | (x_nan & y_nan);                                                                    \
    const P take_y = (y.a beats x.a) | (y_nan & (x.a == x.a)) | (tie & (y.b < x.b));                                 \
    return (RT_STATE(op, acc, n)){take_y ? y.a : x.a, take_y ? y.b : x.b};                                           \
  }                                                                                                                  \
  RT_TAKE_BY_COMBINE(op, acc, n, T, P)                                                                               \
  inline P rt_finish_##op##_##acc##_##n(RT_STATE(op, acc, n) s, rt_acc_##acc divisor) { return s.b; }
#define RT_OPERATOR_argmax(acc, n, T, P) RT_OPERATOR_ARG(argmax, acc, n, T, P, RT_LOWEST_##acc, >)
#define RT_OPERATOR_argmin(acc, n, T, P) RT_OPERATOR_ARG(argmin, acc, n, T, P, RT_HIGHEST_##acc, <)

// A state of 32-bit members as one number that atomics compare: the value's bits in its order, NaN above all, then the
// position backwards. Zeros of either sign are one value.
#define RT_PACK(op, acc, s) rt_pack_##op##_##acc(s)
#define RT_UNPACK(op, acc, p) rt_unpack_##op##_##acc(p)
#define RT_PACKING(op, acc, key_of, value_of)                                                                        \
  inline rt_u64 rt_pack_##op##_##acc(RT_STATE(op, acc, 1) s) {                                                       \
    return (rt_u64)key_of(s.a) << 32 | (uint)~s.b;                                                                   \
  }                                                                                                                  \
  inline RT_STATE(op, acc, 1) rt_unpack_##op##_##acc(rt_u64 p) {                                                     \
    return (RT_STATE(op, acc, 1)){value_of((uint)(p >> 32)), ~(int)(uint)p};                                         \
  }
inline uint rt_key_f32(float x) {
  if (x != x) return 0xffffffffu;
  const uint bits = as_uint(x == 0 ? 0.0f : x);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
inline float rt_value_f32(uint key) { return as_float(key == 0xffffffffu ? 0x7fc00000u : key >> 31 ? key ^ 0x80000000u : ~key); }
inline uint rt_key_i32(int x) { return (uint)x ^ 0x80000000u; }
inline int rt_value_i32(uint key) { return (int)(key ^ 0x80000000u); }
inline uint rt_low_key_f32(float x) { return rt_key_f32(-x); }
inline float rt_low_value_f32(uint key) { return -rt_value_f32(key); }
inline uint rt_low_key_i32(int x) { return ~rt_key_i32(x); }
inline int rt_low_value_i32(uint key) { return rt_value_i32(~key); }
#define RT_PACKING_argmax(acc) RT_PACKING(argmax, acc, rt_key_##acc, rt_value_##acc)
#define RT_PACKING_argmin(acc) RT_PACKING(argmin, acc, rt_low_key_##acc, rt_low_value_##acc)

#define RT_PEEK_argmax(acc) RT_PEEK_OF_2(argmax, acc)
#define RT_PEEK_argmin(acc) RT_PEEK_OF_2(argmin, acc)
#define RT_LANES_argmax RT_LANES_OF_2
#define RT_LANES_argmin RT_LANES_OF_2
#define RT_SET_LANES_argmax RT_SET_LANES_OF_2
#define RT_SET_LANES_argmin RT_SET_LANES_OF_2
#define RT_SELECT_argmax RT_SELECT_OF_2
#define RT_SELECT_argmin RT_SELECT_OF_2
#define RT_HALF_argmax RT_HALF_OF_2
#define RT_HALF_argmin RT_HALF_OF_2

// ---- logsumexp: a the maximum m, b the sum of exp(x - m). Where both maxima are the same, infinite ones too, nothing
// is scaled; a NaN maximum stays. ----

#define RT_OPERATOR_logsumexp(acc, n, T, P)                                                                          \
  typedef struct {                                                                                                   \
    T a, b;                                                                                                          \
  } RT_STATE(logsumexp, acc, n);                                                                                     \
  inline RT_STATE(logsumexp, acc, n) RT_STATE_IDENTITY(logsumexp, acc, n) {                                          \
    return (RT_STATE(logsumexp, acc, n)){(T)(RT_LOWEST_##acc), (T)(0)};                                              \
  }                                                                                                                  \
  inline RT_STATE(logsumexp, acc, n) rt_lift_logsumexp_##acc##_##n(T v, rt_index first, rt_index step) {             \
    return (RT_STATE(logsumexp, acc, n)){v, (T)(1)};                                                                 \
  }                                                                                                                  \
  inline RT_STATE(logsumexp, acc, n)                                                                                 \
      rt_combine_logsumexp_##acc##_##n(RT_STATE(logsumexp, acc, n) x, RT_STATE(logsumexp, acc, n) y) {               \
    const T up = y.a - x.a;                                                                                          \
    const T scale = x.a == y.a ? (T)(1) : exp(-fabs(up));                                                            \
    const T m = (x.a >= y.a || x.a != x.a) ? x.a : y.a;                                                              \
    return (RT_STATE(logsumexp, acc, n)){m, up > (T)(0) ? x.b * scale + y.b : x.b + y.b * scale};                    \
  }                                                                                                                  \
  RT_TAKE_BY_COMBINE(logsumexp, acc, n, T, P)                                                                        \
  inline T rt_finish_logsumexp_##acc##_##n(RT_STATE(logsumexp, acc, n) s, rt_acc_##acc divisor) {                    \
    return s.a + log(s.b);                                                                                           \
  }
#define RT_PEEK_logsumexp(acc) RT_PEEK_OF_2(logsumexp, acc)
#define RT_LANES_logsumexp RT_LANES_OF_2
#define RT_SET_LANES_logsumexp RT_SET_LANES_OF_2
#define RT_SELECT_logsumexp RT_SELECT_OF_2
#define RT_HALF_logsumexp RT_HALF_OF_2

// ---- var, std: a the count, b the mean, c the sum of squared distances from it. The order of the products keeps an
// empty side (count 0) from making infinity times 0 of a large distance; v - v is NaN for an infinite v. ----

#define RT_OPERATOR_MOMENTS(op, acc, n, T, P, root)                                                                  \
  typedef struct {                                                                                                   \
    T a, b, c;                                                                                                       \
  } RT_STATE(op, acc, n);                                                                                            \
  inline RT_STATE(op, acc, n) RT_STATE_IDENTITY(op, acc, n) {                                                        \
    return (RT_STATE(op, acc, n)){(T)(0), (T)(0), (T)(0)};                                                           \
  }                                                                                                                  \
  inline RT_STATE(op, acc, n) rt_lift_##op##_##acc##_##n(T v, rt_index first, rt_index step) {                       \
    return (RT_STATE(op, acc, n)){(T)(1), v, v - v};                                                                 \
  }                                                                                                                  \
  inline RT_STATE(op, acc, n) rt_take_##op##_##acc##_##n(RT_STATE(op, acc, n) s, T v, rt_index first, rt_index step) { \
    const T count = s.a + (T)(1), away = v - s.b, mean = s.b + away / count;                                         \
    return (RT_STATE(op, acc, n)){count, mean, s.c + away * (v - mean)};                                             \
  }                                                                                                                  \
  inline RT_STATE(op, acc, n) rt_combine_##op##_##acc##_##n(RT_STATE(op, acc, n) x, RT_STATE(op, acc, n) y) {        \
    const T count = x.a + y.a, away = y.b - x.b;                                                                     \
    const T share = count > (T)(0) ? y.a / count : (T)(0), moved = away * share;                                     \
    return (RT_STATE(op, acc, n)){count, x.b + moved, (x.c + y.c) + away * (moved * x.a)};                           \
  }                                                                                                                  \
  inline T rt_finish_##op##_##acc##_##n(RT_STATE(op, acc, n) s, rt_acc_##acc divisor) { return root(s.c / divisor); }
#define RT_OPERATOR_var(acc, n, T, P) RT_OPERATOR_MOMENTS(var, acc, n, T, P, )
#define RT_OPERATOR_std(acc, n, T, P) RT_OPERATOR_MOMENTS(std, acc, n, T, P, sqrt)
#define RT_PEEK_var(acc) RT_PEEK_OF_3(var, acc)
#define RT_PEEK_std(acc) RT_PEEK_OF_3(std, acc)
#define RT_LANES_var RT_LANES_OF_3
#define RT_LANES_std RT_LANES_OF_3
#define RT_SET_LANES_var RT_SET_LANES_OF_3
#define RT_SET_LANES_std RT_SET_LANES_OF_3
#define RT_SELECT_var RT_SELECT_OF_3
#define RT_SELECT_std RT_SELECT_OF_3
#define RT_HALF_var RT_HALF_OF_3
#define RT_HALF_std RT_HALF_OF_3

// ---- l2norm: sums of squares of small (a), ordinary (b) and large (c) elements, scaled by powers of two where squares
// would vanish or overflow (Blue 1978; bounds and scales those of LAPACK's nrm2). A NaN is ordinary. ----

#define RT_SMALL_f32 0x1p-63f
#define RT_LARGE_f32 0x1p52f
#define RT_UP_f32 0x1p75f
#define RT_DOWN_f32 0x1p-76f
#define RT_UNDO_UP_f32 0x1p-75f
#define RT_UNDO_DOWN_f32 0x1p76f
#define RT_HUGE_f32 0x1p120f
#define RT_SMALL_f64 0x1p-511
#define RT_LARGE_f64 0x1p486
#define RT_UP_f64 0x1p537
#define RT_DOWN_f64 0x1p-538
#define RT_UNDO_UP_f64 0x1p-537
#define RT_UNDO_DOWN_f64 0x1p538
#define RT_HUGE_f64 0x1p1000

#define RT_OPERATOR_l2norm(acc, n, T, P)                                                                             \
  typedef struct {                                                                                                   \
    T a, b, c;                                                                                                       \
  } RT_STATE(l2norm, acc, n);                                                                                        \
  inline RT_STATE(l2norm, acc, n) RT_STATE_IDENTITY(l2norm, acc, n) {                                                \
    return (RT_STATE(l2norm, acc, n)){(T)(0), (T)(0), (T)(0)};                                                       \
  }                                                                                                                  \
  inline RT_STATE(l2norm, acc, n) rt_lift_l2norm_##acc##_##n(T v, rt_index first, rt_index step) {                   \
    const T size = fabs(v), zero = (T)(0);                                                                           \
    const P small = size < (T)(RT_SMALL_##acc), large = size > (T)(RT_LARGE_##acc);                                  \
    const T up = size * (T)(RT_UP_##acc), down = size * (T)(RT_DOWN_##acc);                                          \
    return (RT_STATE(l2norm, acc, n)){small ? up * up : zero, (small | large) ? zero : size * size,                  \
                                      large ? down * down : zero};                                                   \
  }                                                                                                                  \
  inline RT_STATE(l2norm, acc, n)                                                                                    \
      rt_combine_l2norm_##acc##_##n(RT_STATE(l2norm, acc, n) x, RT_STATE(l2norm, acc, n) y) {                        \
    return (RT_STATE(l2norm, acc, n)){x.a + y.a, x.b + y.b, x.c + y.c};                                              \
  }                                                                                                                  \
  RT_TAKE_BY_COMBINE(l2norm, acc, n, T, P)                                                                           \
  inline T rt_finish_l2norm_##acc##_##n(RT_STATE(l2norm, acc, n) s, rt_acc_##acc divisor) {                          \
    const T zero = (T)(0), ordinary = sqrt(s.b);                                                                     \
    const T large = sqrt(s.c + (s.b * (T)(RT_DOWN_##acc)) * (T)(RT_DOWN_##acc)) * (T)(RT_UNDO_DOWN_##acc);           \
    const T raised = (s.b * (T)(RT_UP_##acc)) * (T)(RT_UP_##acc);                                                    \
    const T small = raised < (T)(RT_HUGE_##acc) ? sqrt(s.a + raised) * (T)(RT_UNDO_UP_##acc) : ordinary;             \
    return s.c > zero ? large : s.a > zero ? small : ordinary;                                                       \
  }
#define RT_PEEK_l2norm(acc) RT_PEEK_OF_3(l2norm, acc)
#define RT_LANES_l2norm RT_LANES_OF_3
#define RT_SET_LANES_l2norm RT_SET_LANES_OF_3
#define RT_SELECT_l2norm RT_SELECT_OF_3
#define RT_HALF_l2norm RT_HALF_OF_3
