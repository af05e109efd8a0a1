#include "measure/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/measure/reference_case.h"

namespace redtune {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Reference, WalksBroadcastAndTransposedStrides) {
  EXPECT_THAT(
      reference_of(R"({"op": "sum", "shape": [2, 3, 4], "strides": [0, 1, 3], "axes": [1]})", counted(0, 12))
          .values,
      ElementsAre(3, 12, 21, 30, 3, 12, 21, 30));
  EXPECT_THAT(
      reference_of(R"({"op": "sum", "shape": [2, 3], "strides": [0, 1], "axes": [0]})", {1, 2, 3}).values,
      ElementsAre(2, 4, 6));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [3, 2], "strides": [-2, 1], "offset": 4, "axes": [1]})",
                           counted(0, 6))
                  .values,
              ElementsAre(9, 5, 1));
  EXPECT_THAT(
      reference_of(R"({"op": "sum", "shape": [2, 3, 2], "strides": [1, 2, 6], "axes": [2]})", counted(0, 12))
          .values,
      ElementsAre(6, 10, 14, 8, 12, 16));
}

TEST(Reference, HandlesEveryPositionOfTheReducedAxis) {
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [2, 3, 2], "axes": [2]})", counted(1, 12)).values,
              ElementsAre(3, 7, 11, 15, 19, 23));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [1, 12, 9, 9], "axes": [-1]})", repeated(1, 972)).values,
              Each(9));
  const auto first = reference_of(R"({"op": "sum", "shape": [4, 8, 16, 32], "axes": [0], "dtype": "i64"})",
                                  counted(0, 4 * 8 * 16 * 32))
                         .integers;
  ASSERT_EQ(first.size(), 4096u);
  for (std::size_t r = 0; r < first.size(); ++r)
    ASSERT_EQ(first[r], 24576 + 4 * static_cast<std::int64_t>(r));
  EXPECT_THAT(
      reference_of(R"({"op": "sum", "shape": [4, 3, 8, 8], "axes": [1, 3]})", repeated(1, 768)).values,
      Each(24));
}

TEST(Reference, UnitAxesScalarsAndCopies) {
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [5, 1], "axes": [1]})", counted(1, 5)).values,
              ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [2, 2], "axes": []})", counted(1, 4)).values,
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(reference_of(R"({"op": "max", "shape": []})", {3.5}).values, ElementsAre(3.5));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [64, 64], "keepdims": true})", repeated(1, 4096)).values,
              ElementsAre(4096));
}

TEST(Reference, EmptyAxes) {
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [2, 0], "axes": [1]})", {}).values, ElementsAre(0, 0));
  EXPECT_THAT(reference_of(R"({"op": "prod", "shape": [0]})", {}).values, ElementsAre(1));
  EXPECT_THAT(reference_of(R"({"op": "prod", "shape": [0], "dtype": "i32"})", {}).integers, ElementsAre(1));
  EXPECT_TRUE(reference_of(R"({"op": "max", "shape": [0, 3], "axes": [1]})", {}).values.empty());
}

TEST(Reference, NanPropagatesWhereverItStands) {
  for (const char* op : {"max", "min"}) {
    for (const char* dtype : {"f16", "bf16", "f32", "f64"}) {
      const std::string rest = R"(, "dtype": ")" + std::string(dtype) + R"(", "op": ")" + op + "\"}";
      EXPECT_TRUE(std::isnan(reference_of(R"({"shape": [4])" + rest, {NAN, NAN, NAN, 42}).values[0]));
      EXPECT_TRUE(std::isnan(reference_of(R"({"shape": [3])" + rest, {1, NAN, 2}).values[0]));
      for (std::size_t at : {0u, 2048u, 4096u}) {
        std::vector<double> zeros = repeated(0, 4097);
        zeros[at] = NAN;
        EXPECT_TRUE(std::isnan(reference_of(R"({"shape": [4097])" + rest, zeros).values[0])) << at;
      }
    }
  }
}

TEST(Reference, InfinitiesAreNoStartingValues) {
  EXPECT_THAT(reference_of(R"({"op": "min", "shape": [10]})", repeated(kInf, 10)).values, ElementsAre(kInf));
  EXPECT_THAT(reference_of(R"({"op": "max", "shape": [10]})", repeated(-kInf, 10)).values,
              ElementsAre(-kInf));
  EXPECT_TRUE(std::isnan(reference_of(R"({"op": "sum", "shape": [2]})", {kInf, -kInf}).values[0]));
  EXPECT_EQ(reference_of(R"({"op": "sum", "shape": [20]})", repeated(kInf, 20)).values[0], kInf);
}

TEST(Reference, MaximaOfNegativesInEveryType) {
  for (const char* dtype : {"i8", "i32", "i64"}) {
    const std::string text = R"({"op": "max", "shape": [3], "dtype": ")" + std::string(dtype) + "\"}";
    EXPECT_THAT(reference_of(text, {-3, -1, -2}).integers, ElementsAre(-1)) << dtype;
  }
  for (const char* dtype : {"f16", "bf16", "f32", "f64"}) {
    const std::string text = R"({"op": "max", "shape": [3], "dtype": ")" + std::string(dtype) + "\"}";
    EXPECT_THAT(reference_of(text, {-3, -1, -2}).values, ElementsAre(-1)) << dtype;
  }
  EXPECT_THAT(reference_of(R"({"op": "max", "shape": [100], "dtype": "i8"})", repeated(-128, 100)).integers,
              ElementsAre(-128));
  const Operator op = op_of(R"({"op": "max", "shape": [5], "dtype": "i64"})");
  EXPECT_THAT(compute_reference(op, bytes_of_values(std::vector<std::int64_t>(5, INT64_MIN)), 1).integers,
              ElementsAre(INT64_MIN));
}

TEST(Reference, NarrowTypesAreAddedWide) {
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [70000], "dtype": "bf16"})", repeated(1, 70000)).values,
              ElementsAre(70000));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [8], "dtype": "f16"})",
                           {32000, 32000, 32000, 32000, -32000, -32000, -32000, -32000})
                  .values,
              ElementsAre(0));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [3], "dtype": "f64"})", {1e16, 1, -1e16}).values,
              ElementsAre(1));
  EXPECT_THAT(reference_of(R"({"op": "prod", "shape": [3], "dtype": "f64"})", {1e300, 1e300, 1e-300}).values,
              ElementsAre(testing::DoubleEq(1e300)));
}

TEST(Reference, F16SubnormalsInfinitiesAndNanAreRead) {
  const Operator op = op_of(R"({"op": "sum", "shape": [4], "axes": [], "dtype": "f16"})");
  const Reference reference =
      compute_reference(op, bytes_of_values(std::vector<std::uint16_t>{0x0001, 0x8001, 0xfc00, 0x7e01}), 1);
  EXPECT_EQ(reference.values[0], 0x1p-24);
  EXPECT_EQ(reference.values[1], -0x1p-24);
  EXPECT_EQ(reference.values[2], -kInf);
  EXPECT_TRUE(std::isnan(reference.values[3]));
}

TEST(Reference, IntegersAreExactAndWrap) {
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [4], "dtype": "i32"})", repeated(1 << 30, 4)).integers,
              ElementsAre(4294967296));
  EXPECT_THAT(
      reference_of(R"({"op": "sum", "shape": [4], "dtype": "i32", "out": "i32"})", repeated(1 << 30, 4))
          .integers,
      ElementsAre(0));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [4], "dtype": "i32", "accumulator": "i32"})",
                           repeated(1 << 30, 4))
                  .integers,
              ElementsAre(0));
  EXPECT_THAT(
      reference_of(R"({"op": "sum", "shape": [100000], "dtype": "i32"})", counted(0, 100000)).integers,
      ElementsAre(4999950000));
  EXPECT_THAT(
      reference_of(R"({"op": "sum", "shape": [100000], "dtype": "i32", "out": "i32"})", counted(0, 100000))
          .integers,
      ElementsAre(704982704));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [1000], "dtype": "i8"})", repeated(127, 1000)).integers,
              ElementsAre(127000));
  EXPECT_THAT(reference_of(R"({"op": "sum", "shape": [3], "dtype": "i8"})", {-1, -2, -128}).integers,
              ElementsAre(-131));
  EXPECT_THAT(
      reference_of(R"({"op": "sum", "shape": [4], "dtype": "i32", "out": "f32"})", repeated(1 << 30, 4))
          .values,
      ElementsAre(4294967296.0));
  const Operator bools = op_of(R"({"op": "sum", "shape": [4], "dtype": "bool"})");
  EXPECT_THAT(compute_reference(bools, {0, 1, 255, 1}, 1).integers, ElementsAre(3));
}

TEST(Reference, LargeInputsAgreeHoweverTheyAreSharedOut) {
  // One output (its elements are shared out), few and many of them, along rows and along columns.
  for (const char* text :
       {R"({"op": "sum", "shape": [3000001]})", R"({"op": "sum", "shape": [3, 1000003], "axes": [1]})",
        R"({"op": "sum", "shape": [1000003, 3], "axes": [0]})",
        R"({"op": "sum", "shape": [700, 3, 1100], "axes": [0, 2]})",
        R"({"op": "sum", "shape": [70, 30, 1100], "axes": [1]})",
        R"({"op": "sum", "shape": [100003, 3, 7], "axes": [1]})"}) {
    const Operator op = op_of(text);
    const std::vector<unsigned char> input = make_input(op, 3);
    const Reference reference = compute_reference(op, input, 1);
    std::vector<double> plain(reference.values.size());
    const std::vector<std::int64_t> dense = row_major_strides(op.output().shape);
    for (std::int64_t i = 0; i < op.input().elements(); ++i) {
      std::int64_t rest = i, output = 0;
      std::size_t kept = 0;
      for (std::size_t d = 0; d < op.input().shape.size(); ++d) {
        const std::int64_t index = rest / op.input().strides[d];
        rest %= op.input().strides[d];
        const std::vector<int>& axes = op.reduction().axes;
        if (std::find(axes.begin(), axes.end(), static_cast<int>(d)) == axes.end())
          output += index * dense[kept++];
      }
      float value = 0;
      std::memcpy(&value, input.data() + i * 4, 4);
      plain[static_cast<std::size_t>(output)] += static_cast<double>(value);
    }
    EXPECT_EQ(reference.values, plain) << text;
  }
}

TEST(Tolerance, OfSumsIsALineInDepth) {
  const std::string text = R"({"op": "sum", "shape": [3]})";
  const auto at = [&](std::int64_t depth) {
    return reference_of(text, {0.1, 0.2, -0.3}, depth).tolerance[0];
  };
  EXPECT_NEAR(at(10) - at(0), 10 * 0x1p-24 * 0.6, 1e-12);
  EXPECT_NEAR(at(20) - at(10), at(10) - at(0), 1e-18);
}

TEST(Tolerance, LeavesOnlyStoringWhereSumsAreExact) {
  EXPECT_EQ(reference_of(R"({"op": "sum", "shape": [3]})", {1, 2, 0.125}, 1000).tolerance[0], 0x1p-23);
  // f16 output: half a step between 2048 and 4096 is 1.
  const double f16 =
      reference_of(R"({"op": "sum", "shape": [3], "dtype": "f16"})", {1000, 1000, 1000}).tolerance[0];
  EXPECT_GE(f16, 1);
  EXPECT_LT(f16, 1.001);
}

TEST(Tolerance, OfMaximaIsNothingUnlessStoringRounds) {
  EXPECT_EQ(reference_of(R"({"op": "max", "shape": [2]})", {0.1, 0.3}).tolerance[0], 0);
  EXPECT_EQ(
      reference_of(R"({"op": "max", "shape": [2], "dtype": "bf16", "out": "f32"})", {0.1, 0.3}).tolerance[0],
      0);
  EXPECT_GT(reference_of(R"({"op": "max", "shape": [2], "out": "f16"})", {0.1, 0.3}).tolerance[0], 0);
}

}  // namespace
}  // namespace redtune
