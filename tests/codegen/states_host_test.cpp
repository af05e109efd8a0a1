// The combine routines of states, run on the host: identities, order of combination, and results against
// definitions.
#include "tests/codegen/prelude_host.inc"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace prelude_host {
namespace {

/// Combines the states of `values` as a random tree would, with identities in between.
template <typename Op, typename T>
auto combined(const std::vector<T>& values, std::mt19937& random) {
  std::vector<typename Op::template state<T>> states;
  for (std::size_t i = 0; i < values.size(); ++i) {
    states.push_back(Op::lift(values[i], static_cast<rt_i64>(i)));
    if (random() % 3 == 0) states.push_back(Op::template identity<T>());
  }
  while (states.size() > 1) {
    const std::size_t a = random() % states.size();
    std::swap(states[a], states.back());
    const auto right = states.back();
    states.pop_back();
    auto& left = states[random() % states.size()];
    left = Op::of(left, right);
  }
  return states.front();
}

/// The same one after the other, as a thread does.
template <typename Op, typename T>
auto taken(const std::vector<T>& values) {
  auto state = Op::template identity<T>();
  for (std::size_t i = 0; i < values.size(); ++i) state = Op::take(state, values[i], static_cast<rt_i64>(i));
  return state;
}

template <typename T>
std::vector<T> numbers(std::size_t count, T spread, T offset, std::mt19937& random) {
  std::vector<T> values(count);
  for (T& x : values)
    x = offset + spread * (static_cast<T>(random()) / static_cast<T>(4294967296.0) - static_cast<T>(0.5));
  return values;
}

template <typename Op, typename T>
void expect_position(const std::vector<T>& values, rt_i64 wanted) {
  std::mt19937 random(1);
  EXPECT_EQ((Op::finish(taken<Op, T>(values), T(0))), wanted);
  for (int order = 0; order < 20; ++order)
    EXPECT_EQ((Op::finish(combined<Op, T>(values, random), T(0))), wanted) << order;
}

TEST(StatesHost, PositionsAreThoseOfTheFirstExtremeOrNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  expect_position<rt_op_argmax, float>({1, 3, 3, 2}, 1);
  expect_position<rt_op_argmin, float>({1, 3, 1, 2}, 0);
  expect_position<rt_op_argmax, float>({1, nan, inf, nan}, 1);
  expect_position<rt_op_argmin, float>({-inf, 1, nan, nan}, 2);
  expect_position<rt_op_argmax, float>({-inf, -inf}, 0);  // no better than the identity, and yet an element
  expect_position<rt_op_argmin, float>({inf, inf, inf}, 0);
  expect_position<rt_op_argmax, float>({-0.0f, 0.0f}, 0);
  expect_position<rt_op_argmax, int>({std::numeric_limits<int>::min(), std::numeric_limits<int>::min()}, 0);
  expect_position<rt_op_argmin, rt_i64>({5, std::numeric_limits<rt_i64>::max(), -7, -7}, 2);
}

TEST(StatesHost, VarianceInEveryOrder) {
  std::mt19937 random(2);
  for (float offset : {0.0f, 1000.0f, -3e7f}) {
    const std::vector<float> values = numbers<float>(500, std::abs(offset) + 1, offset, random);
    double mean = 0, squares = 0;
    for (float x : values) mean += x / 500.0;
    for (float x : values) squares += (x - mean) * (x - mean);
    const double tolerance = 1e-4 * squares / 500;
    EXPECT_NEAR((rt_op_var::finish(taken<rt_op_var, float>(values), 500.0f)), squares / 500, tolerance)
        << offset;
    EXPECT_NEAR((rt_op_var::finish(combined<rt_op_var, float>(values, random), 500.0f)), squares / 500,
                tolerance);
  }
  EXPECT_EQ((taken<rt_op_var, float>({7, 7, 7}).c), 0.0f);
  EXPECT_EQ((rt_op_std::finish(taken<rt_op_std, double>({1, 3}), 1.0)), std::sqrt(2.0));
}

TEST(StatesHost, EmptySidesAndInfinitiesOfVariance) {
  const auto none = rt_op_var::identity<float>(), large = rt_op_var::lift(3e38f, 0);
  EXPECT_EQ(rt_op_var::of(none, large).c, 0.0f);
  EXPECT_EQ(rt_op_var::of(large, none).c, 0.0f);
  EXPECT_EQ(rt_op_var::of(large, none).b, 3e38f);
  EXPECT_EQ(rt_op_var::of(none, none).a, 0.0f);
  std::mt19937 random(3);
  const float inf = std::numeric_limits<float>::infinity();
  for (const std::vector<float>& values :
       {std::vector<float>{inf}, {1, inf}, {inf, 1}, {inf, inf}, {-inf, 2, inf}}) {
    EXPECT_TRUE(std::isnan(taken<rt_op_var, float>(values).c)) << values.size();
    EXPECT_TRUE(std::isnan(combined<rt_op_var, float>(values, random).c)) << values.size();
  }
}

TEST(StatesHost, LogSumExpIsShifted) {
  std::mt19937 random(4);
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto value = [&](const std::vector<double>& values) {
    const double serial = rt_op_logsumexp::finish(taken<rt_op_logsumexp, double>(values), 0.0);
    const double tree = rt_op_logsumexp::finish(combined<rt_op_logsumexp, double>(values, random), 0.0);
    EXPECT_TRUE(serial == tree || std::abs(serial - tree) < 1e-12 * std::abs(serial) ||
                (std::isnan(serial) && std::isnan(tree)));
    return serial;
  };
  EXPECT_DOUBLE_EQ(value({1000, 1000}), 1000 + std::log(2.0));
  EXPECT_DOUBLE_EQ(value({-1000, -1000, -1000}), -1000 + std::log(3.0));
  EXPECT_DOUBLE_EQ(value({0, 1, 2}), std::log(1 + std::exp(1.0) + std::exp(2.0)));
  EXPECT_EQ(value({-inf, -inf}), -inf);
  EXPECT_EQ(value({-inf, 3}), 3);
  EXPECT_EQ(value({inf, 3, -inf}), inf);
  EXPECT_EQ(value({inf, inf}), inf);
  EXPECT_TRUE(std::isnan(value({1, nan, inf})));
  EXPECT_EQ(rt_op_logsumexp::finish(rt_op_logsumexp::identity<double>(), 0.0), -inf);
}

TEST(StatesHost, NormsNeitherOverflowNorVanish) {
  std::mt19937 random(5);
  for (float size : {1e-44f, 1e-38f, 1.1e-19f, 1e-10f, 1.0f, 1e15f, 4.6e15f, 1e30f, 1e37f}) {
    std::vector<float> values = numbers<float>(100, size, 0, random);
    values.push_back(size);
    values.push_back(size * 1e-6f);
    long double squares = 0;
    for (float x : values) squares += static_cast<long double>(x) * x;
    const auto wanted = static_cast<double>(std::sqrt(squares));
    const double tolerance = 1e-5 * wanted + 1.5e-45;
    EXPECT_NEAR((rt_op_l2norm::finish(taken<rt_op_l2norm, float>(values), 0.0f)), wanted, tolerance) << size;
    EXPECT_NEAR((rt_op_l2norm::finish(combined<rt_op_l2norm, float>(values, random), 0.0f)), wanted,
                tolerance)
        << size;
  }
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(rt_op_l2norm::finish(taken<rt_op_l2norm, float>({1, nan, inf}), 0.0f)));
  EXPECT_EQ(rt_op_l2norm::finish(taken<rt_op_l2norm, float>({1, -inf}), 0.0f), inf);
  EXPECT_EQ((rt_op_l2norm::finish(taken<rt_op_l2norm, double>({3e300, 4e300}), 0.0)), 5e300);
}

TEST(StatesHost, LanesAreTakenTogether) {
  rt_vec<float, 4> v = {{5, 9, 9, 1}};
  RT_STATE(argmax, f32, 4) s = RT_STATE_IDENTITY(argmax, f32, 4);
  s = RT_STATE_TAKE(argmax, f32, 4, s, v, 10, 3);
  const RT_STATE(argmax, f32, 1) best = RT_STATE_FOLD(argmax, f32, 4, s);
  EXPECT_EQ(best.b, 13);
  const auto kept = RT_STATE_KEEP_FROM(argmax, f32, 4, s, 2);
  const RT_STATE(argmax, f32, 1) later = RT_STATE_FOLD(argmax, f32, 4, kept);
  EXPECT_EQ(later.b, 16);
  EXPECT_EQ(RT_STATE_FINISH(argmax, f32, 1, later, 0), 16);
}

/// The greater of two packed states is the one that combining takes, for all pairs of values and positions.
template <typename Op, typename T>
void expect_packs(const std::vector<T>& values) {
  std::vector<rt_state2<T, rt_i32>> states{Op::template identity<T>()};
  for (T value : values) {
    for (rt_i64 at : {rt_i64{0}, rt_i64{1}, rt_i64{77}, rt_i64{0x7ffffffe}}) states.push_back(Op::lift(value, at));
  }
  for (const auto& x : states) {
    const auto back = rt_unpacked<Op, T>(rt_packed<Op>(x));
    EXPECT_EQ(back.b, x.b);
    EXPECT_TRUE(back.a == x.a || (back.a != back.a && x.a != x.a)) << back.a << " instead of " << x.a;
    EXPECT_GT(rt_packed<Op>(x), 0u) << "what the copies are filled with must lose";
    for (const auto& y : states) {
      const auto best = rt_unpacked<Op, T>(std::max(rt_packed<Op>(x), rt_packed<Op>(y)));
      EXPECT_EQ(best.b, Op::of(x, y).b) << x.a << " at " << x.b << ", " << y.a << " at " << y.b;
    }
  }
}

TEST(StatesHost, PackedStatesOrderAsTheyCombine) {
  using L = std::numeric_limits<float>;
  const std::vector<float> floats{0.0f,      -0.0f,   1.0f,       -1.0f,           2.5f,          -2.5f,          L::max(),
                                  L::lowest(), L::min(), -L::min(), L::denorm_min(), -L::denorm_min(), L::infinity(),
                                  -L::infinity(), L::quiet_NaN(), -L::quiet_NaN()};
  expect_packs<rt_op_argmax, float>(floats);
  expect_packs<rt_op_argmin, float>(floats);
  const std::vector<int> integers{0, 1, -1, 127, -128, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
  expect_packs<rt_op_argmax, int>(integers);
  expect_packs<rt_op_argmin, int>(integers);
}

TEST(StatesHost, TruthsOfAtomics) {
  int any = 0, all = 1;
  RT_ATOMIC(any, i32, &any, 0);
  EXPECT_EQ(any, 0);
  RT_ATOMIC(any, i32, &any, 1);
  RT_ATOMIC(all, i32, &all, 0);
  EXPECT_EQ(any, 1);
  EXPECT_EQ(all, 0);
  EXPECT_EQ(RT_TRUTH(f32, 1, std::numeric_limits<float>::quiet_NaN()), 1);
  EXPECT_EQ(RT_TRUTH(f32, 1, -0.0f), 0);
}

}  // namespace
}  // namespace prelude_host
