// The reference of operators whose answers are worked out by hand, and how far their tolerance reaches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "measure/reference.h"
#include "tests/measure/reference_case.h"

namespace redtune {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::ElementsAre;

/// {"op": OP, "shape": [..], REST}
Reference of(const std::string& op, const std::string& shape, const std::vector<double>& values,
             const std::string& rest = "", std::int64_t depth = 1) {
  return reference_of(R"({"op": ")" + op + R"(", "shape": )" + shape + rest + "}", values, depth);
}
const std::string kRows = R"(, "axes": [1])", kColumns = R"(, "axes": [0])";

TEST(OperatorsReference, AnyAndAll) {
  EXPECT_THAT(of("any", "[3, 2]", {0, 0, 0, 0.25, NAN, 0}, kRows).integers, ElementsAre(0, 1, 1));
  EXPECT_THAT(of("all", "[3, 2]", {1, 0, -1, 0.25, NAN, 1}, kRows).integers, ElementsAre(0, 1, 1));
  EXPECT_THAT(of("any", "[2, 2]", {0, 256, 0, 0}, kColumns + R"(, "dtype": "i32", "out": "i8")").integers,
              ElementsAre(0, 1));
  EXPECT_THAT(of("any", "[2, 0]", {}, kRows).integers, ElementsAre(0, 0));
  EXPECT_THAT(of("all", "[2, 0]", {}, kRows).integers, ElementsAre(1, 1));
}

TEST(OperatorsReference, Means) {
  EXPECT_THAT(of("mean", "[2, 4]", {1, 2, 3, 4, -1, 1, -1, 2}, kRows).values, ElementsAre(2.5, 0.25));
  EXPECT_THAT(of("mean", "[3]", {1, 2, 5}, R"(, "dtype": "i32")").values, ElementsAre(DoubleEq(8.0 / 3)));
  EXPECT_TRUE(std::isnan(of("mean", "[0]", {}).values[0]));
  // The sum of these does not fit i64, nor f32.
  const Operator wide = op_of(R"({"op": "mean", "shape": [4], "dtype": "i64"})");
  const std::vector<std::int64_t> largest(4, std::int64_t{1} << 62);
  EXPECT_THAT(compute_reference(wide, bytes_of_values(largest), 1).values, ElementsAre(0x1p62));
}

TEST(OperatorsReference, Positions) {
  EXPECT_THAT(of("argmax", "[2, 4]", {1, 7, 7, 2, 3, NAN, 9, NAN}, kRows).integers, ElementsAre(1, 1));
  EXPECT_THAT(of("argmin", "[2, 3]", {5, -1, 5, 5, -1, 4}, kColumns).integers, ElementsAre(0, 0, 1));
  EXPECT_THAT(of("argmax", "[4]", repeated(-kInf, 4)).integers, ElementsAre(0));
  EXPECT_THAT(of("argmin", "[3]", {2, -128, -128}, R"(, "dtype": "i8", "out": "i32")").integers,
              ElementsAre(1));
  // Over several axes: row-major over the reduced ones, whatever the layout.
  std::vector<double> values = repeated(0, 24);
  values[1 * 12 + 1 * 4 + 2] = 1;  // [1][1][2] of 2 x 3 x 4
  EXPECT_THAT(of("argmax", "[2, 3, 4]", values, R"(, "axes": [0, 2])").integers,
              ElementsAre(0, 1 * 4 + 2, 0));
  EXPECT_THAT(of("argmax", "[2, 3, 4]", values).integers, ElementsAre(18));
  EXPECT_THAT(of("argmax", "[3, 4]", {0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}, R"(, "strides": [1, 3])").integers,
              ElementsAre(1 * 4 + 2));
  EXPECT_THAT(of("argmax", "[4]", {1, 2, 3, 4}, R"(, "strides": [-1], "offset": 3)").integers,
              ElementsAre(0));
  EXPECT_THAT(of("argmax", "[5]", {7}, R"(, "strides": [0])").integers, ElementsAre(0));
  EXPECT_THAT(of("argmax", "[]", {3}).integers, ElementsAre(0));
  EXPECT_THAT(of("argmin", "[2, 2]", counted(1, 4), R"(, "axes": [])").integers, Each(0));
}

TEST(OperatorsReference, LongRowsArePiecedTogether) {
  constexpr std::size_t kCount = 400001;
  std::vector<double> values = repeated(0, kCount);
  values[300000] = values[399999] = 2;
  EXPECT_THAT(of("argmax", "[400001]", values).integers, ElementsAre(300000));
  values[7] = NAN;
  EXPECT_THAT(of("argmax", "[400001]", values).integers, ElementsAre(7));
  const std::vector<double> ones = repeated(1, kCount);
  EXPECT_THAT(of("var", "[400001]", ones).values, ElementsAre(0));
  EXPECT_THAT(of("logsumexp", "[400001]", ones).values, ElementsAre(DoubleEq(1 + std::log(400001.0))));
  EXPECT_THAT(of("l2norm", "[400001]", ones).values, ElementsAre(DoubleEq(std::sqrt(400001.0))));
}

TEST(OperatorsReference, Norms) {
  EXPECT_THAT(of("l2norm", "[2, 2]", {3, 4, -6, 8}, kRows).values, ElementsAre(5, 10));
  EXPECT_THAT(of("l2norm", "[2]", {3e300, 4e300}, R"(, "dtype": "f64")").values,
              ElementsAre(DoubleEq(5e300)));
  EXPECT_THAT(of("l2norm", "[2]", {3e-300, 4e-300}, R"(, "dtype": "f64")").values,
              ElementsAre(DoubleEq(5e-300)));
  EXPECT_THAT(of("l2norm", "[2]", {3, 4}, R"(, "dtype": "i32")").values, ElementsAre(5));
  EXPECT_THAT(of("l2norm", "[0]", {}).values, ElementsAre(0));
  EXPECT_TRUE(std::isnan(of("l2norm", "[2]", {NAN, kInf}).values[0]));
}

TEST(OperatorsReference, LogarithmsOfSums) {
  EXPECT_THAT(of("logsumexp", "[2, 2]", {1000, 1000, -1000, -1000}, kRows).values,
              ElementsAre(DoubleEq(1000 + std::log(2.0)), DoubleEq(-1000 + std::log(2.0))));
  EXPECT_THAT(of("logsumexp", "[2, 2]", {-kInf, kInf, -kInf, 3}, kColumns).values, ElementsAre(-kInf, kInf));
  EXPECT_THAT(of("logsumexp", "[2, 0]", {}, kRows).values, Each(-kInf));
  EXPECT_TRUE(std::isnan(of("logsumexp", "[3]", {kInf, NAN, 1}).values[0]));
}

TEST(OperatorsReference, CompensatedSums) {
  EXPECT_THAT(of("compensated_sum", "[4]", {1, 1e10, 1, -1e10}).values, ElementsAre(2));
  EXPECT_THAT(of("compensated_mean", "[2, 2]", {1, 2, 5, 8}, kRows).values, ElementsAre(1.5, 6.5));
  EXPECT_THAT(of("compensated_sum", "[2, 0]", {}, kRows).values, Each(0));
  EXPECT_TRUE(std::isnan(of("compensated_mean", "[0]", {}).values[0]));
  // Of 0.1, which rounds at every step: a thousand steps cost a plain sum fifty times more than this one may use up.
  const std::vector<double> tenths(1000, 0.1);
  const Reference plain = of("sum", "[1000]", tenths, "", 1000);
  const Reference compensated = of("compensated_sum", "[1000]", tenths, "", 1000);
  EXPECT_LT(50 * compensated.tolerance[0], plain.tolerance[0]);
  EXPECT_GT(compensated.tolerance[0], 0x1p-24 * 100);
  // Integers beyond 2^53 are rounded before they are added.
  const Reference large = of("compensated_mean", "[2]", {0x1p62, -0x1p62}, R"(, "dtype": "i64")");
  EXPECT_GE(large.tolerance[0], 0x1p-53 * 0x1p62);
  EXPECT_LT(of("compensated_mean", "[2]", {0x1p30, -0x1p30}, R"(, "dtype": "i32")").tolerance[0], 1e-15);
}

TEST(OperatorsReference, Variances) {
  EXPECT_THAT(of("var", "[2, 4]", {1, 2, 3, 4, 1000001, 1000002, 1000003, 1000004}, kRows).values,
              ElementsAre(1.25, 1.25));
  EXPECT_THAT(of("var", "[4]", {1, 2, 3, 4}, R"(, "ddof": 1)").values, ElementsAre(DoubleEq(5.0 / 3)));
  EXPECT_THAT(of("std", "[2, 2]", {1, 2, 5, 2}, kColumns).values, ElementsAre(2, 0));
  EXPECT_THAT(of("std", "[4]", {1, 2, 3, 4}, R"(, "ddof": 4)").values, ElementsAre(testing::IsNan()));
  EXPECT_THAT(of("var", "[4]", {1, 2, 3, 4}, R"(, "ddof": 7)").values, ElementsAre(testing::IsNan()));
  EXPECT_THAT(of("var", "[2, 0]", {}, kRows).values, Each(testing::IsNan()));
  EXPECT_THAT(of("var", "[1]", {kInf}).values, ElementsAre(testing::IsNan()));
  EXPECT_THAT(of("var", "[2]", {kInf, 1}).values, ElementsAre(testing::IsNan()));
  EXPECT_THAT(of("std", "[2]", {1, 3}, R"(, "dtype": "i8")").values, ElementsAre(1));
}

TEST(OperatorsReference, TolerancesGrowWithDepthAndCondition) {
  constexpr double u = 0x1p-24;
  // Mean: exact sums leave the division and the rounding of parts that atomics add.
  const Reference mean = of("mean", "[1024]", repeated(0.125, 1024), "", 10);
  EXPECT_LT(mean.tolerance[0], 20 * u * 0.125);
  EXPECT_GT(mean.tolerance[0], 3 * u * 0.125);
  // Variance: S / M = 1 at mean 0, large far from it.
  const std::vector<double> near = {-1, 1, -1, 1};
  std::vector<double> far = near;
  for (double& x : far) x += 1000;
  Reference centred = of("var", "[4]", near, "", 2), shifted = of("var", "[4]", far, "", 2);
  EXPECT_LT(centred.tolerance[0], 20 * u);
  EXPECT_GT(shifted.tolerance[0], 8 * 1000 * u);
  EXPECT_LT(shifted.tolerance[0], 10 * 1000 * u);
  const double before = shifted.tolerance[0];
  shifted.at_depth(200);
  EXPECT_GT(shifted.tolerance[0], 100 * before);
  // Equal elements: the mean may round, squares of that remain.
  const Reference equal = of("std", "[4]", repeated(1000.5, 4), "", 2);
  EXPECT_EQ(equal.values[0], 0);
  EXPECT_GT(equal.tolerance[0], u * 1000);
  EXPECT_LT(equal.tolerance[0], 10 * u * 1000);
  // A sum of squares without the least of its elements is wrong by more than the tolerance.
  const Reference norm = of("l2norm", "[64]", repeated(1, 64), "", 16);
  EXPECT_LT(norm.tolerance[0], 8 - std::sqrt(63.0));
}

}  // namespace
}  // namespace redtune
