// The arithmetic of the CUDA prelude, run on the host.
#include "tests/codegen/prelude_host.inc"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "support/half.h"

namespace prelude_host {
namespace {

template <typename T>
std::vector<T> specials() {
  using L = std::numeric_limits<T>;
  return {T(0),          -T(0),          T(1),           T(-1),          T(2.5),          T(-2.5),
          L::max(),      L::lowest(),    L::min(),       -L::min(),      L::denorm_min(), -L::denorm_min(),
          L::infinity(), -L::infinity(), L::quiet_NaN(), -L::quiet_NaN()};
}

/// Equal as the product compares: NaN with NaN, and zeros of either sign.
template <typename T>
::testing::AssertionResult same(T a, T b) {
  if (a == b || (a != a && b != b)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << a << " instead of " << b;
}

template <typename T, typename Op>
void check_atomic_extreme(Op op, T identity) {
  const std::vector<T> values = specials<T>();
  for (T a : values) {
    for (T b : values) {
      for (T c : values) {
        T cell = identity;
        for (T x : {a, b, c}) rt_atomic(op, &cell, x);
        ASSERT_TRUE(same(cell, Op::of(Op::of(a, b), c))) << a << ", " << b << ", " << c;
      }
    }
  }
}

TEST(PreludeHost, AtomicExtremesOfFloatsAgreeWithThePlainOnes) {
  check_atomic_extreme<float>(rt_op_max(), -INFINITY);
  check_atomic_extreme<float>(rt_op_min(), INFINITY);
  check_atomic_extreme<double>(rt_op_max(), -INFINITY);
  check_atomic_extreme<double>(rt_op_min(), INFINITY);
}

TEST(PreludeHost, PlainExtremesKeepNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (float x : specials<float>()) {
    EXPECT_TRUE(same(rt_op_max::of(x, nan), nan) && same(rt_op_max::of(nan, x), nan));
    EXPECT_TRUE(same(rt_op_min::of(x, nan), nan) && same(rt_op_min::of(nan, x), nan));
  }
  EXPECT_EQ(rt_op_max::of(1.0f, 2.0f), 2.0f);
  EXPECT_EQ(rt_op_min::of(1.0f, 2.0f), 1.0f);
}

TEST(PreludeHost, AtomicProductsMultiply) {
  float f = 1;
  double d = 3;  // not the guessed identity
  long long i = 1;
  int small = 5;
  for (int k = 1; k <= 6; ++k) {
    RT_ATOMIC(prod, f32, &f, k);
    RT_ATOMIC(prod, f64, &d, k);
    RT_ATOMIC(prod, i64, &i, -k);
    RT_ATOMIC(prod, i32, &small, k);
  }
  EXPECT_EQ(f, 720.0f);
  EXPECT_EQ(d, 2160.0);
  EXPECT_EQ(i, 720);
  EXPECT_EQ(small, 3600);
}

TEST(PreludeHost, LanesOfAVectorGoToTheirOwnPlaces) {
  float cells[4] = {1, 2, 3, 4};
  const rt_vec<float, 4> v{{10, 20, 30, 40}};
  RT_ATOMICS(sum, f32, 4, cells, v);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(cells[i], static_cast<float>(11 * (i + 1)));
}

TEST(PreludeHost, IntegersWrap) {
  EXPECT_EQ(rt_op_sum::of(std::numeric_limits<rt_i64>::max(), rt_i64{1}), std::numeric_limits<rt_i64>::min());
  EXPECT_EQ(rt_op_prod::of(rt_i32{1} << 30, rt_i32{4}), 0);
  rt_i64 cell = std::numeric_limits<rt_i64>::max();
  RT_ATOMIC(sum, i64, &cell, 2);
  EXPECT_EQ(cell, std::numeric_limits<rt_i64>::min() + 1);
}

TEST(PreludeHost, Bf16RoundsToNearestEvenAndKeepsNaN) {
  std::vector<float> values = specials<float>();
  values.insert(values.end(),
                {1.00390625f, 1.01171875f, 1.0078125f, 3.4e38f, 1e-40f, std::bit_cast<float>(0x7f800001u)});
  for (unsigned i = 0; i < 200000; ++i) values.push_back(std::bit_cast<float>(i * 2654435761u));
  for (float x : values) {
    rt_bf16 out;
    RT_STORE1(f32, bf16, &out, x);
    ASSERT_EQ(out.bits, redtune::bf16_from_f32(x)) << std::bit_cast<unsigned>(x);
    ASSERT_TRUE(same(RT_LOAD(bf16, f32, 1, &out), redtune::f32_from_bf16(out.bits)));
  }
}

TEST(PreludeHost, F64ToBf16RoundsOnce) {
  for (double x :
       {1.00390625 + 1e-12, 1.00390625 - 1e-12, 1.01171875 + 1e-12, 3.4e38, 1e300, -1e-300, 1e-40}) {
    rt_bf16 out;
    RT_STORE1(f64, bf16, &out, x);
    EXPECT_EQ(out.bits, redtune::bf16_from_f64(x)) << x;
  }
}

/// Stores `n` lanes and loads them again, aligned, unaligned and one by one.
#define CHECK_ROUND_TRIP(acc, word, n)                                                   \
  do {                                                                                   \
    alignas(64) rt_##word out[n];                                                        \
    RT_VEC(acc, n) v = RT_SPLAT(acc, n, (rt_acc_##acc)(0));                              \
    for (int i = 0; i < (n); ++i) RT_SET_LANE(acc, n, v, i, (rt_acc_##acc)(3 * i - 20)); \
    RT_STORE(acc, word, n, out, v);                                                      \
    RT_VEC(acc, n) a = RT_LOAD(word, acc, n, out);                                       \
    RT_VEC(acc, n) b = RT_LOAD_UNALIGNED(word, acc, n, out);                             \
    for (int i = 0; i < (n); ++i) {                                                      \
      EXPECT_EQ(RT_LANE(acc, n, a, i), (rt_acc_##acc)(3 * i - 20)) << #word << " " << i; \
      EXPECT_EQ(RT_LANE(acc, n, b, i), (rt_acc_##acc)(3 * i - 20)) << #word << " " << i; \
    }                                                                                    \
  } while (0)
#define CHECK_ALL_LANES(acc, word)   \
  do {                               \
    CHECK_ROUND_TRIP(acc, word, 1);  \
    CHECK_ROUND_TRIP(acc, word, 2);  \
    CHECK_ROUND_TRIP(acc, word, 4);  \
    CHECK_ROUND_TRIP(acc, word, 8);  \
    CHECK_ROUND_TRIP(acc, word, 16); \
  } while (0)

TEST(PreludeHost, StoresWhatItLoads) {
  CHECK_ALL_LANES(f32, f32);
  CHECK_ALL_LANES(f64, f64);
  CHECK_ALL_LANES(f32, bf16);
  CHECK_ALL_LANES(i64, i64);
  CHECK_ALL_LANES(i64, i32);
  CHECK_ALL_LANES(i32, i32);
  CHECK_ALL_LANES(i64, i8);
  CHECK_ALL_LANES(i8, i8);
}

TEST(PreludeHost, SmallIntegersWidenByTheirSign) {
  alignas(16) rt_i8 negative[4] = {-128, -1, 0, 127};
  alignas(16) rt_u8 positive[4] = {128, 255, 0, 127};
  alignas(16) rt_bool flags[4] = {{0}, {1}, {2}, {255}};
  const RT_VEC(i64, 4) n = RT_LOAD(i8, i64, 4, negative), p = RT_LOAD(u8, i64, 4, positive),
                       f = RT_LOAD(bool, i64, 4, flags);
  EXPECT_EQ(RT_FOLD(sum, i64, 4, n), -2);
  EXPECT_EQ(RT_FOLD(max, i64, 4, p), 255);
  EXPECT_EQ(RT_FOLD(sum, i64, 4, f), 3);
  rt_bool out;
  RT_STORE1(i64, bool, &out, 256);
  EXPECT_EQ(out.bits, 1);
}

TEST(PreludeHost, FoldsCombineEveryLaneOnce) {
  RT_VEC(i64, 16) v = RT_SPLAT(i64, 16, 1);
  for (int i = 0; i < 16; ++i) RT_SET_LANE(i64, 16, v, i, rt_i64{1} << (4 * i % 60));
  EXPECT_EQ(RT_FOLD(sum, i64, 16, v), 0x111111111111111ll + 1);
  EXPECT_EQ(RT_FOLD(sum, i64, 1, rt_i64{7}), 7);
  const RT_VEC(i64, 2) two = RT_SPLAT(i64, 2, 21);
  EXPECT_EQ(RT_FOLD(sum, i64, 2, two), 42);
}

TEST(PreludeHost, KeepFromReplacesTheFirstLanes) {
  const RT_VEC(f32, 4) v = RT_KEEP_FROM(f32, 4, RT_SPLAT(f32, 4, 1.0f), 3, 0.0f);
  EXPECT_EQ(RT_FOLD(sum, f32, 4, v), 1.0f);
  EXPECT_EQ(RT_LANE(f32, 4, v, 3), 1.0f);
  EXPECT_EQ(RT_KEEP_FROM(f32, 1, 5.0f, 0, 0.0f), 5.0f);
  EXPECT_EQ(RT_KEEP_FROM(f32, 1, 5.0f, 1, 0.0f), 0.0f);
}

TEST(PreludeHost, ConstantsAreBitPatterns) {
  EXPECT_EQ(RT_CONST(f32, 0xff800000), -INFINITY);
  EXPECT_EQ(RT_CONST(f64, 0x7ff0000000000000), static_cast<double>(INFINITY));
  EXPECT_EQ(RT_CONST(i64, 0x8000000000000000), std::numeric_limits<rt_i64>::min());
  EXPECT_EQ(RT_CONST(i32, 0x80000000), std::numeric_limits<rt_i32>::min());
  EXPECT_EQ(RT_CONST(i8, 0x80), -128);
  EXPECT_EQ(RT_CONST(u8, 0xff), 255);
}

TEST(PreludeHost, WarpMasksNameOnlyLanesThatExist) {
  EXPECT_EQ(rt_warp_mask(64, 40), 0xffffffffu);
  EXPECT_EQ(rt_warp_mask(8, 3), 0xffu);
  EXPECT_EQ(rt_warp_mask(48, 3), 0xffffffffu);
  EXPECT_EQ(rt_warp_mask(48, 33), 0xffffu);
  EXPECT_EQ(rt_warp_mask(16, 15), 0xffffu);
}

}  // namespace
}  // namespace prelude_host
