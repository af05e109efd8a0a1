// The interpreter of the general form against values computed by hand.
#include "measure/graph_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "measure/answers.h"
#include "space/task.h"

namespace redtune {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Inputs X f32 [2,3], B f32 [3], N i32 [3]; the reference of one result "S".
Reference of(const std::string& compute, const std::vector<float>& x, const std::vector<float>& b = {1, 2, 4}, const std::vector<std::int32_t>& n = {7, -3, 2}) {
  const Operator op = parse_operator(
      parse_json(R"({"inputs": {"X": {"shape": [2, 3]}, "B": {"shape": [3]}, "N": {"shape": [3], "dtype": "i32"}}, "compute": [)" + compute + R"(], "outputs": ["S"]})", "op"), "op");
  const InputLayout layout = input_layout(op);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(layout.bytes));
  std::memcpy(bytes.data() + layout.offsets[0], x.data(), x.size() * 4);
  std::memcpy(bytes.data() + layout.offsets[1], b.data(), b.size() * 4);
  std::memcpy(bytes.data() + layout.offsets[2], n.data(), n.size() * 4);
  return compute_graph_reference(op, bytes).front();
}

TEST(GraphReference, ReductionsOfExpressions) {
  EXPECT_THAT(of(R"("S[i] = sum(j) X[i,j] * B[j]")", {1, 2, 3, 4, 5, 6}).values, ElementsAre(17, 38));
  EXPECT_THAT(of(R"("S[j] = max(i) -X[i,j]")", {1, 2, 3, 4, 5, 6}).values, ElementsAre(-1, -2, -3));
  EXPECT_THAT(of(R"("S = prod(i,j) X[i,j]")", {1, 2, 3, 4, 5, 6}).values, ElementsAre(720));
  EXPECT_THAT(of(R"("S[i] = mean(j) X[i,j] + 1")", {1, 2, 3, 4, 5, 6}).values, ElementsAre(3, 6));
  EXPECT_THAT(of(R"("S[i] = argmax(j) X[i,j]")", {1, 3, 3, 9, 5, 6}).integers, ElementsAre(1, 0));
  EXPECT_THAT(of(R"("S = sum(j) N[j]")", {}).integers, ElementsAre(6));
  EXPECT_THAT(of(R"("S[i] = any(j) X[i,j] > 5")", {1, 2, 3, 4, 5, 6}).integers, ElementsAre(0, 1));
  EXPECT_NEAR(of(R"("S = var(i,j) X[i,j]")", {1, 2, 3, 4, 5, 6}).values[0], 35.0 / 12, 1e-12);
  EXPECT_NEAR(of(R"("S[i] = logsumexp(j) X[i,j]")", {0, 0, 0, 1, 1, 1}).values[1], 1 + std::log(3.0), 1e-12);
}

TEST(GraphReference, IndicesBroadcastsAndChains) {
  EXPECT_THAT(of(R"("S[j,i] = X[i,j] + B[j]")", {1, 2, 3, 4, 5, 6}).values, ElementsAre(2, 5, 4, 7, 7, 10));
  EXPECT_THAT(of(R"("A[i] = sum(j) X[i,j]", "S[i,j] = X[i,j] / A[i]")", {1, 1, 2, 2, 4, 2}).values, ElementsAre(0.25, 0.25, 0.5, 0.25, 0.5, 0.25));
  EXPECT_THAT(of(R"x("S[j] = X[j/2, 2-j] * B[2-j] + 0 * f32(N[j])")x", {1, 2, 3, 4, 5, 6}).values, ElementsAre(12, 4, 4));
}

TEST(GraphReference, FunctionsAsNumPyHasThem) {
  const auto one = [](const std::string& call, float x) { return of("\"S[i,j] = " + call + "\"", {x, x, x, x, x, x}).values.front(); };
  EXPECT_THAT(one("exp(X[i,j])", 1), DoubleEq(std::exp(1.0)));
  EXPECT_THAT(one("log(X[i,j])", 0), -kInf);
  EXPECT_TRUE(std::isnan(one("sqrt(X[i,j])", -1)));
  EXPECT_THAT(one("rsqrt(X[i,j])", 4), 0.5);
  EXPECT_THAT(one("sigmoid(X[i,j])", 0), 0.5);
  EXPECT_THAT(one("tanh(X[i,j])", 0), 0);
  EXPECT_THAT(one("abs(X[i,j])", -2), 2);
  EXPECT_THAT(one("pow(X[i,j], 3)", 2), 8);
  EXPECT_NEAR(one("erf(X[i,j])", 0.5F), 0.5204998778130465, 1e-12);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(one("max(X[i,j], 1)", nan)));
  EXPECT_TRUE(std::isnan(one("min(1, X[i,j])", nan)));
  EXPECT_THAT(one("select(X[i,j] == X[i,j], 1.0, 2.0)", nan), 2);
  EXPECT_THAT(one("exp(X[i,j])", 100), kInf);  // beyond f32
}

TEST(GraphReference, CastsRoundCutAndWrap) {
  EXPECT_THAT(of(R"x("S[j] = f32(f16(X[0,j]))")x", {2049, 65520, 0x1p-25F, 0, 0, 0}).values, ElementsAre(2048, kInf, 0));
  EXPECT_THAT(of(R"x("S[j] = i32(X[0,j])")x", {-2.75F, 3e9F, std::numeric_limits<float>::quiet_NaN(), 0, 0, 0}).integers, ElementsAre(-2, 2147483647, 0));
  EXPECT_THAT(of(R"x("S[j] = i8(N[j])")x", {}, {}, {300, -129, 5}).integers, ElementsAre(44, 127, 5));
  EXPECT_THAT(of(R"x("S[j] = bool(X[0,j])")x", {0, -0.25F, 3, 0, 0, 0}).integers, ElementsAre(0, 1, 1));
  EXPECT_THAT(of(R"("S[j] = N[j] * N[j]")", {}, {}, {65536, -3, 46341}).integers, ElementsAre(0, 9, -2147479015));
}

TEST(GraphReference, ExactStaysExactAndRoundingIsBounded) {
  EXPECT_THAT(of(R"("S[i] = sum(j) X[i,j] * B[j]")", {0.125F, 2, 3, 4, 5, 6}).tolerance, Each(0));
  // 0.9f * 0.375 is a tie: a kernel that rounds it rounds the sum once more, although that is exact here.
  const Reference twice = of(R"x("S[j] = f32(0.8999999761581421) * X[0,j] + f32(0.10000002384185791) * B[j]")x", {-0.375F, 0, 0, 0, 0, 0}, {0.375F, 0, 0});
  EXPECT_GE(twice.tolerance[0], 0x1p-25);
  const Reference rounded = of(R"x("S[i] = sum(j) exp(X[i,j])")x", {1, 2, 3, 4, 5, 6});
  EXPECT_GT(rounded.tolerance[0], 0);
  EXPECT_LT(rounded.tolerance[0], 1e-4);
  // A comparison that rounding may turn leaves what it selects open.
  const Reference open = of(R"x("S[i,j] = select(exp(log(X[i,j])) >= X[i,j], 1.0, 2.0)")x", {3, 3, 3, 3, 3, 3});
  EXPECT_THAT(open.tolerance, Each(testing::Ge(1)));
  EXPECT_THAT(of(R"x("S[i,j] = select(X[i,j] >= 3, 1.0, 2.0)")x", {3, 3, 3, 3, 3, 3}).tolerance, Each(0));
}

}  // namespace
}  // namespace redtune
