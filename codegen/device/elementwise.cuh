// Elementwise functions of fused statements on CUDA; the same names as elementwise.cl.

#define RT_F_NAME(name) name
#define RT_F_INLINE RT_DEVICE
#define RT_F_BUILD(type, ...) (type{__VA_ARGS__})

#define RT_F_FUNCTION(name, f32_expression, f64_expression)                   \
  struct rt_f_##name {                                                        \
    static RT_MEMBER rt_f32 of(rt_f32 a) { return f32_expression; }           \
    static RT_MEMBER rt_f64 of(rt_f64 a) { return f64_expression; }           \
  };
RT_F_FUNCTION(exp, expf(a), exp(a))
RT_F_FUNCTION(log, logf(a), log(a))
RT_F_FUNCTION(sqrt, sqrtf(a), sqrt(a))
RT_F_FUNCTION(rsqrt, rsqrtf(a), rsqrt(a))
RT_F_FUNCTION(tanh, tanhf(a), tanh(a))
RT_F_FUNCTION(sigmoid, 1.0f / (1.0f + expf(-a)), 1.0 / (1.0 + exp(-a)))
RT_F_FUNCTION(erf, erff(a), erf(a))
struct rt_f_neg {
  template <typename T> static RT_MEMBER T of(T a) { return -a; }
  static RT_MEMBER rt_i32 of(rt_i32 a) { return (rt_i32)(0u - (unsigned)a); }
  static RT_MEMBER rt_i64 of(rt_i64 a) { return (rt_i64)(0ull - (unsigned long long)a); }
};
struct rt_f_abs {
  static RT_MEMBER rt_f32 of(rt_f32 a) { return fabsf(a); }
  static RT_MEMBER rt_f64 of(rt_f64 a) { return fabs(a); }
  template <typename T> static RT_MEMBER T of(T a) { return a < 0 ? rt_f_neg::of(a) : a; }
};
struct rt_f_not {
  static RT_MEMBER rt_i32 of(rt_i32 a) { return a ^ 1; }
};

typedef rt_op_sum rt_f_add;
typedef rt_op_prod rt_f_mul;
typedef rt_op_max rt_f_max;
typedef rt_op_min rt_f_min;
typedef rt_op_any rt_f_or;
typedef rt_op_all rt_f_and;
struct rt_f_sub {
  template <typename T> static RT_MEMBER T of(T a, T b) { return a - b; }
  static RT_MEMBER rt_i32 of(rt_i32 a, rt_i32 b) { return (rt_i32)((unsigned)a - (unsigned)b); }
  static RT_MEMBER rt_i64 of(rt_i64 a, rt_i64 b) { return (rt_i64)((unsigned long long)a - (unsigned long long)b); }
};
struct rt_f_div {
  template <typename T> static RT_MEMBER T of(T a, T b) { return a / b; }
};
struct rt_f_pow {
  static RT_MEMBER rt_f32 of(rt_f32 a, rt_f32 b) { return powf(a, b); }
  static RT_MEMBER rt_f64 of(rt_f64 a, rt_f64 b) { return pow(a, b); }
};
#define RT_F_COMPARISON(name, symbol)                                                    \
  struct rt_f_##name {                                                                   \
    template <typename T> static RT_MEMBER rt_i32 of(T a, T b) { return a symbol b; }    \
  };
RT_F_COMPARISON(lt, <)
RT_F_COMPARISON(le, <=)
RT_F_COMPARISON(gt, >)
RT_F_COMPARISON(ge, >=)
RT_F_COMPARISON(eq, ==)
RT_F_COMPARISON(ne, !=)

template <typename T> struct rt_f_convert {
  template <typename S> static RT_MEMBER T of(S a) { return (T)a; }
};
// Towards zero, saturated; a NaN is 0.
template <typename T> struct rt_f_cut {
  template <typename S> static RT_MEMBER T of(S a) { return a != a ? (T)0 : (T)a; }
};
template <typename T> struct rt_f_narrow { static RT_MEMBER rt_i32 of(rt_i32 a) { return (T)a; } };
template <> struct rt_f_narrow<rt_f16> {
  static RT_MEMBER rt_f32 of(rt_f32 a) {
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(a));
    return rt_decode<rt_f16>::of(bits, 0, 0);
  }
};
template <> struct rt_f_narrow<rt_bf16> {
  static RT_MEMBER rt_f32 of(rt_f32 a) {
    unsigned w[1];
    rt_encode(w, 0, a, rt_bf16());
    return rt_decode<rt_bf16>::of(w[0], 0, 0);
  }
};

template <typename F, typename R, typename T> RT_DEVICE R rt_map(T a, rt_list<0>) { return F::of(a); }
template <typename F, typename R, typename T, int... I>
RT_DEVICE rt_vec<R, sizeof...(I)> rt_map(const rt_vec<T, sizeof...(I)>& a, rt_list<I...>) {
  return {{F::of(a.v[I])...}};
}
template <typename F, typename R, typename T> RT_DEVICE R rt_map(T a, T b, rt_list<0>) { return F::of(a, b); }
template <typename F, typename R, typename T, int... I>
RT_DEVICE rt_vec<R, sizeof...(I)> rt_map(const rt_vec<T, sizeof...(I)>& a, const rt_vec<T, sizeof...(I)>& b, rt_list<I...>) {
  return {{F::of(a.v[I], b.v[I])...}};
}
template <typename T> RT_DEVICE T rt_select(rt_i32 c, T a, T b, rt_list<0>) { return c ? a : b; }
template <typename T, int... I>
RT_DEVICE rt_vec<T, sizeof...(I)> rt_select(const rt_vec<rt_i32, sizeof...(I)>& c, const rt_vec<T, sizeof...(I)>& a,
                                            const rt_vec<T, sizeof...(I)>& b, rt_list<I...>) {
  return {{(c.v[I] ? a.v[I] : b.v[I])...}};
}

#define RT_F_1(function, w, n, a) (rt_map<rt_f_##function, rt_acc_##w, rt_acc_##w>(a, RT_LANES(n)))
#define RT_F_2(function, w, n, a, b) (rt_map<rt_f_##function, rt_acc_##w, rt_acc_##w>(a, b, RT_LANES(n)))
#define RT_F_COMPARE(function, w, n, a, b) (rt_map<rt_f_##function, rt_i32, rt_acc_##w>(a, b, RT_LANES(n)))
#define RT_F_TRUTH(w, n, a) RT_TRUTH(w, n, a)
#define RT_F_SELECT(w, n, c, a, b) (rt_select<rt_acc_##w>(c, a, b, RT_LANES(n)))
#define RT_F_CVT(from, to, n, a) (rt_map<rt_f_convert<rt_acc_##to>, rt_acc_##to, rt_acc_##from>(a, RT_LANES(n)))
#define RT_F_CUT(from, to, n, a) (rt_map<rt_f_cut<rt_acc_##to>, rt_acc_##to, rt_acc_##from>(a, RT_LANES(n)))
#define RT_F_NARROW(w, n, a) (rt_map<rt_f_narrow<rt_##w>, rt_acc_##w, rt_acc_##w>(a, RT_LANES(n)))
