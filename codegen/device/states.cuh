// Partial results of several members on CUDA: the same names as states.cl. A state is a struct of one lane; n lanes are
// an rt_vec of states, so that everything that asks nothing about the type (vectors, folds, combining lane by lane)
// serves numbers and states alike. All members have the width of the accumulator.

// Types and functions come from templates: nothing to declare.
#define RT_OPERATOR(op, acc, n)
#define RT_OPERATOR_PEEK(op, acc)
#define RT_OPERATOR_PACK(op, acc)

#define RT_STATE(op, acc, n) rt_vec_of<rt_op_##op::state<rt_acc_##acc>, n>::type
#define RT_STATE_OF(op, acc) rt_op_##op::state<rt_acc_##acc>
#define RT_STATE_IDENTITY(op, acc, n) \
  (rt_splat<RT_STATE_OF(op, acc)>(rt_op_##op::identity<rt_acc_##acc>(), RT_LANES(n)))
// `first` is the position of lane 0, `step` that of the next lane behind it: for argmax and argmin.
#define RT_STATE_LIFT(op, acc, n, v, first, step) (rt_lift<rt_op_##op, rt_acc_##acc>(v, first, step, RT_LANES(n)))
#define RT_STATE_TAKE(op, acc, n, s, v, first, step) (rt_take<rt_op_##op, rt_acc_##acc>(s, v, first, step, RT_LANES(n)))
#define RT_STATE_COMBINE(op, acc, n, x, y) (rt_combine<rt_op_##op, RT_STATE_OF(op, acc)>(x, y, RT_LANES(n)))
#define RT_STATE_FOLD(op, acc, n, s) (rt_fold<rt_op_##op, RT_STATE_OF(op, acc)>(s, RT_LANES((n) / 2)))
#define RT_STATE_FINISH(op, acc, n, s, divisor) \
  (rt_finish<rt_op_##op, rt_acc_##acc>(s, (rt_acc_##acc)(divisor), RT_LANES(n)))
#define RT_STATE_LANE(op, acc, n, s, i) (rt_lane<RT_STATE_OF(op, acc)>(s, i))
#define RT_STATE_SET_LANE(op, acc, n, s, i, x) rt_set<RT_STATE_OF(op, acc)>(s, i, x)
#define RT_STATE_KEEP_FROM(op, acc, n, s, k) \
  (rt_keep_from<RT_STATE_OF(op, acc)>(s, k, rt_op_##op::identity<rt_acc_##acc>(), RT_LANES(n)))
#define RT_STATE_PEEK(op, acc, p) (rt_op_##op::peek((const volatile RT_STATE_OF(op, acc)*)(p)))
#define RT_STATE_SHFL_SCRATCH(op, acc, name, n)
#define RT_STATE_SHFL_DOWN(op, acc, x, delta, width, threads, scratch, tid) \
  (rt_op_##op::shuffled(x, rt_warp_mask(threads, tid), delta, width))

template <typename Op, typename T> RT_DEVICE auto rt_lift(T v, rt_i64 first, rt_i64, rt_list<0>) {
  return Op::lift(v, first);
}
template <typename Op, typename T, int... I>
RT_DEVICE rt_vec<typename Op::template state<T>, sizeof...(I)> rt_lift(const rt_vec<T, sizeof...(I)>& v, rt_i64 first,
                                                                       rt_i64 step, rt_list<I...>) {
  return {{Op::lift(v.v[I], first + I * step)...}};
}
template <typename Op, typename T, typename S> RT_DEVICE S rt_take(S s, T v, rt_i64 first, rt_i64, rt_list<0>) {
  return Op::take(s, v, first);
}
template <typename Op, typename T, typename S, int... I>
RT_DEVICE rt_vec<S, sizeof...(I)> rt_take(const rt_vec<S, sizeof...(I)>& s, const rt_vec<T, sizeof...(I)>& v,
                                          rt_i64 first, rt_i64 step, rt_list<I...>) {
  return {{Op::take(s.v[I], v.v[I], first + I * step)...}};
}
template <typename Op, typename T, typename S> RT_DEVICE auto rt_finish(S s, T divisor, rt_list<0>) {
  return Op::finish(s, divisor);
}
template <typename Op, typename T, typename S, int... I>
RT_DEVICE auto rt_finish(const rt_vec<S, sizeof...(I)>& s, T divisor, rt_list<I...>) {
  return rt_vec<decltype(Op::finish(s.v[0], divisor)), sizeof...(I)>{{Op::finish(s.v[I], divisor)...}};
}

// States of two and of three members.
template <typename A, typename B> struct alignas(2 * sizeof(A)) rt_state2 { A a; B b; };
template <typename T> struct rt_state3 { T a, b, c; };
struct rt_two {
  template <typename A, typename B> static RT_MEMBER rt_state2<A, B> peek(const volatile rt_state2<A, B>* p) {
    return {p->a, p->b};
  }
  template <typename A, typename B>
  static RT_MEMBER rt_state2<A, B> shuffled(const rt_state2<A, B>& s, unsigned mask, int delta, int width) {
    return {__shfl_down_sync(mask, s.a, delta, width), __shfl_down_sync(mask, s.b, delta, width)};
  }
};
struct rt_three {
  template <typename T> static RT_MEMBER rt_state3<T> peek(const volatile rt_state3<T>* p) {
    return {p->a, p->b, p->c};
  }
  template <typename T>
  static RT_MEMBER rt_state3<T> shuffled(const rt_state3<T>& s, unsigned mask, int delta, int width) {
    return {__shfl_down_sync(mask, s.a, delta, width), __shfl_down_sync(mask, s.b, delta, width),
            __shfl_down_sync(mask, s.c, delta, width)};
  }
};

// What differs between f32 and f64, or between the integers.
template <typename T> struct rt_limits;
template <> struct rt_limits<rt_f32> {
  typedef rt_i32 position;
  static RT_MEMBER rt_f32 highest() { return rt_const_f32(0x7f800000u); }
  static RT_MEMBER rt_f32 lowest() { return rt_const_f32(0xff800000u); }
  static RT_MEMBER position last() { return 0x7fffffff; }
};
template <> struct rt_limits<rt_f64> {
  typedef rt_i64 position;
  static RT_MEMBER rt_f64 highest() { return rt_const_f64(0x7ff0000000000000ll); }
  static RT_MEMBER rt_f64 lowest() { return rt_const_f64(0xfff0000000000000ull); }
  static RT_MEMBER position last() { return 0x7fffffffffffffffll; }
};
template <> struct rt_limits<rt_i32> {
  typedef rt_i32 position;
  static RT_MEMBER rt_i32 highest() { return 0x7fffffff; }
  static RT_MEMBER rt_i32 lowest() { return -0x7fffffff - 1; }
  static RT_MEMBER position last() { return 0x7fffffff; }
};
template <> struct rt_limits<rt_i64> {
  typedef rt_i64 position;
  static RT_MEMBER rt_i64 highest() { return 0x7fffffffffffffffll; }
  static RT_MEMBER rt_i64 lowest() { return -0x7fffffffffffffffll - 1; }
  static RT_MEMBER position last() { return 0x7fffffffffffffffll; }
};
RT_DEVICE rt_f32 rt_exp(rt_f32 x) { return expf(x); }
RT_DEVICE rt_f64 rt_exp(rt_f64 x) { return exp(x); }
RT_DEVICE rt_f32 rt_log(rt_f32 x) { return logf(x); }
RT_DEVICE rt_f64 rt_log(rt_f64 x) { return log(x); }
RT_DEVICE rt_f32 rt_sqrt(rt_f32 x) { return sqrtf(x); }
RT_DEVICE rt_f64 rt_sqrt(rt_f64 x) { return sqrt(x); }
// Of a count: neither zero nor subnormal nor infinite, so that the fast instruction serves and no call for special cases
// takes registers from the loop. f64 starts from 20 bits and doubles them twice.
RT_DEVICE rt_f32 rt_reciprocal(rt_f32 count) {
#ifdef __CUDA_ARCH__
  rt_f32 r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(count));
  return r;
#else
  return 1 / count;
#endif
}
RT_DEVICE rt_f64 rt_reciprocal(rt_f64 count) {
#ifdef __CUDA_ARCH__
  rt_f64 r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(count));
  r = r + r * (1 - count * r);
  return r + r * (1 - count * r);
#else
  return 1 / count;
#endif
}
template <typename T> RT_DEVICE T rt_size(T x) { return x < 0 ? -x : x; }

// ---- argmax, argmin: a the extreme value, b its position. NaN beats numbers, the lower position a tie. ----

struct rt_op_argmax : rt_two {
  template <typename T> using state = rt_state2<T, typename rt_limits<T>::position>;
  template <typename T> static RT_MEMBER state<T> identity() { return {rt_limits<T>::lowest(), rt_limits<T>::last()}; }
  template <typename T> static RT_MEMBER state<T> lift(T v, rt_i64 at) {
    return {v, (typename rt_limits<T>::position)at};
  }
  template <typename T, typename P>
  static RT_MEMBER rt_state2<T, P> of(const rt_state2<T, P>& x, const rt_state2<T, P>& y) {
    const bool x_nan = x.a != x.a, y_nan = y.a != y.a, tie = x.a == y.a || (x_nan && y_nan);
    return (y.a > x.a || (y_nan && !x_nan) || (tie && y.b < x.b)) ? y : x;
  }
  template <typename T> static RT_MEMBER state<T> take(const state<T>& s, T v, rt_i64 at) { return of(s, lift(v, at)); }
  template <typename T, typename P> static RT_MEMBER P finish(const rt_state2<T, P>& s, T) { return s.b; }
};
struct rt_op_argmin : rt_op_argmax {
  template <typename T> static RT_MEMBER state<T> identity() { return {rt_limits<T>::highest(), rt_limits<T>::last()}; }
  template <typename T, typename P>
  static RT_MEMBER rt_state2<T, P> of(const rt_state2<T, P>& x, const rt_state2<T, P>& y) {
    const bool x_nan = x.a != x.a, y_nan = y.a != y.a, tie = x.a == y.a || (x_nan && y_nan);
    return (y.a < x.a || (y_nan && !x_nan) || (tie && y.b < x.b)) ? y : x;
  }
  template <typename T> static RT_MEMBER state<T> take(const state<T>& s, T v, rt_i64 at) { return of(s, lift(v, at)); }
};

// A state of 32-bit members as one number that atomics compare: the value's bits in its order, NaN above all, then the
// position backwards. Zeros of either sign are one value.
RT_DEVICE unsigned rt_key(rt_f32 x) {
  if (x != x) return 0xffffffffu;
  const unsigned bits = __float_as_uint(x == 0 ? 0.0f : x);
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}
RT_DEVICE unsigned rt_key(rt_i32 x) { return (unsigned)x ^ 0x80000000u; }
RT_DEVICE rt_f32 rt_key_value(unsigned key, rt_f32) {
  return __uint_as_float(key == 0xffffffffu ? 0x7fc00000u : key >> 31 ? key ^ 0x80000000u : ~key);
}
RT_DEVICE rt_i32 rt_key_value(unsigned key, rt_i32) { return (rt_i32)(key ^ 0x80000000u); }
RT_DEVICE unsigned rt_key_of(rt_op_argmax, rt_f32 x) { return rt_key(x); }
RT_DEVICE unsigned rt_key_of(rt_op_argmax, rt_i32 x) { return rt_key(x); }
RT_DEVICE unsigned rt_key_of(rt_op_argmin, rt_f32 x) { return rt_key(-x); }
RT_DEVICE unsigned rt_key_of(rt_op_argmin, rt_i32 x) { return ~rt_key(x); }
template <typename T> RT_DEVICE T rt_value_of(rt_op_argmax, unsigned key, T t) { return rt_key_value(key, t); }
RT_DEVICE rt_f32 rt_value_of(rt_op_argmin, unsigned key, rt_f32 t) { return -rt_key_value(key, t); }
RT_DEVICE rt_i32 rt_value_of(rt_op_argmin, unsigned key, rt_i32 t) { return rt_key_value(~key, t); }
template <typename Op, typename S> RT_DEVICE rt_u64 rt_packed(const S& s) {
  return (rt_u64)rt_key_of(Op(), s.a) << 32 | (unsigned)~s.b;
}
template <typename Op, typename T> RT_DEVICE typename Op::template state<T> rt_unpacked(rt_u64 p) {
  return {rt_value_of(Op(), (unsigned)(p >> 32), T()), ~(rt_i32)(unsigned)p};
}
#define RT_PACK(op, acc, s) (rt_packed<rt_op_##op>(s))
#define RT_UNPACK(op, acc, p) (rt_unpacked<rt_op_##op, rt_acc_##acc>(p))

// ---- logsumexp: a the maximum m, b the sum of exp(x - m). Where both maxima are the same, infinite ones too, nothing
// is scaled; a NaN maximum stays. ----

struct rt_op_logsumexp : rt_two {
  template <typename T> using state = rt_state2<T, T>;
  template <typename T> static RT_MEMBER state<T> identity() { return {rt_limits<T>::lowest(), 0}; }
  template <typename T> static RT_MEMBER state<T> lift(T v, rt_i64) { return {v, 1}; }
  template <typename T> static RT_MEMBER state<T> of(const state<T>& x, const state<T>& y) {
    const T up = y.a - x.a;
    const T scale = x.a == y.a ? (T)1 : rt_exp(-rt_size(up));
    return {x.a >= y.a || x.a != x.a ? x.a : y.a, up > 0 ? x.b * scale + y.b : x.b + y.b * scale};
  }
  template <typename T> static RT_MEMBER state<T> take(const state<T>& s, T v, rt_i64) { return of<T>(s, {v, 1}); }
  template <typename T> static RT_MEMBER T finish(const state<T>& s, T) { return s.a + rt_log(s.b); }
};

// ---- var, std: a the count, b the mean, c the sum of squared distances from it. The order of the products keeps an
// empty side (count 0) from making infinity times 0 of a large distance; v - v is NaN for an infinite v. ----

struct rt_op_var : rt_three {
  template <typename T> using state = rt_state3<T>;
  template <typename T> static RT_MEMBER state<T> identity() { return {0, 0, 0}; }
  template <typename T> static RT_MEMBER state<T> lift(T v, rt_i64) { return {1, v, v - v}; }
  template <typename T> static RT_MEMBER state<T> take(const state<T>& s, T v, rt_i64) {
    const T count = s.a + 1, away = v - s.b, mean = s.b + away * rt_reciprocal(count);
    return {count, mean, s.c + away * (v - mean)};
  }
  template <typename T> static RT_MEMBER state<T> of(const state<T>& x, const state<T>& y) {
    const T count = x.a + y.a, away = y.b - x.b;
    const T share = count > 0 ? y.a * rt_reciprocal(count) : (T)0, moved = away * share;
    return {count, x.b + moved, (x.c + y.c) + away * (moved * x.a)};
  }
  template <typename T> static RT_MEMBER T finish(const state<T>& s, T divisor) { return s.c / divisor; }
};
struct rt_op_std : rt_op_var {
  template <typename T> static RT_MEMBER T finish(const state<T>& s, T divisor) { return rt_sqrt(s.c / divisor); }
};

// ---- l2norm: sums of squares of small (a), ordinary (b) and large (c) elements, scaled by powers of two where squares
// would vanish or overflow (Blue 1978; bounds and scales those of LAPACK's nrm2). A NaN is ordinary. ----

template <typename T> struct rt_blue;
template <> struct rt_blue<rt_f32> {
  static constexpr rt_f32 small = 0x1p-63f, large = 0x1p52f, up = 0x1p75f, down = 0x1p-76f, undo_up = 0x1p-75f,
                          undo_down = 0x1p76f, huge = 0x1p120f;
};
template <> struct rt_blue<rt_f64> {
  static constexpr rt_f64 small = 0x1p-511, large = 0x1p486, up = 0x1p537, down = 0x1p-538, undo_up = 0x1p-537,
                          undo_down = 0x1p538, huge = 0x1p1000;
};
struct rt_op_l2norm : rt_three {
  template <typename T> using state = rt_state3<T>;
  template <typename T> static RT_MEMBER state<T> identity() { return {0, 0, 0}; }
  template <typename T> static RT_MEMBER state<T> lift(T v, rt_i64) {
    const T size = rt_size(v), up = size * rt_blue<T>::up, down = size * rt_blue<T>::down;
    const bool small = size < rt_blue<T>::small, large = size > rt_blue<T>::large;
    return {small ? up * up : (T)0, small || large ? (T)0 : size * size, large ? down * down : (T)0};
  }
  template <typename T> static RT_MEMBER state<T> of(const state<T>& x, const state<T>& y) {
    return {x.a + y.a, x.b + y.b, x.c + y.c};
  }
  template <typename T> static RT_MEMBER state<T> take(const state<T>& s, T v, rt_i64 at) {
    return of<T>(s, lift(v, at));
  }
  template <typename T> static RT_MEMBER T finish(const state<T>& s, T) {
    typedef rt_blue<T> B;
    const T raised = (s.b * B::up) * B::up;
    if (s.c > 0) return rt_sqrt(s.c + (s.b * B::down) * B::down) * B::undo_down;
    return s.a > 0 && raised < B::huge ? rt_sqrt(s.a + raised) * B::undo_up : rt_sqrt(s.b);
  }
};
