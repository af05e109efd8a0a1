#include "measure/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/measure/reference_case.h"

namespace redtune {
namespace {

// ---- inputs
// ------------------------------------------------------------------------------------------------------

TEST(MakeInput, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const Operator op = op_of(R"({"op": "sum", "shape": [5000]})");
  EXPECT_EQ(make_input(op, 1), make_input(op, 1));
  EXPECT_NE(make_input(op, 1), make_input(op, 2));
  // Element i depends on the seed and i only.
  const std::vector<unsigned char> longer = make_input(op, 1);
  const std::vector<unsigned char> shorter = make_input(op_of(R"({"op": "sum", "shape": [77]})"), 1);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(MakeInput, NamesItsDistribution) {
  std::string name;
  make_input(op_of(R"({"op": "sum", "shape": [4]})"), 1, &name);
  EXPECT_EQ(name, "odd eighths in (-2, 2)");
}

TEST(MakeInput, SumsAreExactAndNoElementIsZero) {
  for (const char* dtype : {"f16", "bf16", "f32", "f64"}) {
    const Operator copy =
        op_of(R"({"op": "sum", "shape": [4096], "axes": [], "dtype": ")" + std::string(dtype) + "\"}");
    const Reference elements = compute_reference(copy, make_input(copy, 5), 1);
    double low = 0, high = 0;
    for (double value : elements.values) {
      EXPECT_EQ(std::fmod(std::abs(value * 8), 2), 1) << value;
      low = std::min(low, value);
      high = std::max(high, value);
    }
    EXPECT_EQ(low, -1.875);
    EXPECT_EQ(high, 1.875);
  }
}

TEST(MakeInput, LongProductsStayFiniteAndNonzero) {
  for (const char* dtype : {"f16", "bf16", "f32", "f64"}) {
    for (const char* shape : {"3", "1000", "2000000"}) {
      const Operator op = op_of(R"({"op": "prod", "shape": [)" + std::string(shape) +
                                R"(], "out": "f64", "dtype": ")" + dtype + "\"}");
      const double product = std::abs(compute_reference(op, make_input(op, 9), 1).values[0]);
      EXPECT_GT(product, 1e-4) << dtype << " " << shape;
      EXPECT_LT(product, 1e4) << dtype << " " << shape;
    }
  }
  const Operator integers = op_of(R"({"op": "prod", "shape": [1000], "dtype": "i64"})");
  EXPECT_EQ(compute_reference(integers, make_input(integers, 9), 1).integers[0] & 1, 1);
}

TEST(MakeInput, FillsTheStorageThatStridesReach) {
  EXPECT_EQ(make_input(op_of(R"({"op": "sum", "shape": [2, 3], "strides": [10, 1]})"), 1).size(), 13u * 4);
  EXPECT_TRUE(make_input(op_of(R"({"op": "sum", "shape": [2, 0]})"), 1).empty());
}

// ---- verdicts
// ----------------------------------------------------------------------------------------------------

Verdict verdict_of(const std::string& text, const std::vector<double>& input,
                   const std::vector<double>& output, std::int64_t depth = 1) {
  const Operator op = op_of(text);
  const Reference reference = compute_reference(op, stored(op.input().dtype, input), depth);
  return check_output(op, reference, stored(op.output().dtype, output));
}

TEST(CheckOutput, PassesWhatIsWithinTolerance) {
  const std::string text = R"({"op": "sum", "shape": [2, 2], "axes": [1]})";
  EXPECT_TRUE(verdict_of(text, {1, 2, 3, 4}, {3, 7}).pass);
  EXPECT_TRUE(verdict_of(text, {0.1, 0.2, 0.3, 0.4}, {0.3, 0.70000005}, 2).pass);
  EXPECT_FALSE(verdict_of(text, {0.1, 0.2, 0.3, 0.4}, {0.3, 0.7000009}, 2).pass);
}

TEST(CheckOutput, TellsWhereAndHowMuchIsWrong) {
  const Verdict verdict = verdict_of(R"({"op": "sum", "shape": [4, 2], "axes": [1]})",
                                     {1, 2, 3, 4, 5, 6, 7, 8}, {3, 7.5, 21, 15});
  EXPECT_FALSE(verdict.pass);
  EXPECT_EQ(verdict.worst_index, 2);
  EXPECT_GT(verdict.max_error, 1);
  EXPECT_EQ(verdict.detail, "out[2] = 21, reference 11, tolerance 4.77e-07; 2 of 4 outputs are wrong");
  const Verdict integers = verdict_of(R"({"op": "sum", "shape": [2], "dtype": "i8"})", {100, 100}, {-56});
  EXPECT_EQ(integers.detail, "out[0] = -56, reference 200; 1 of 1 outputs is wrong");
}

TEST(CheckOutput, NanMatchesNanOnly) {
  const std::string text = R"({"op": "max", "shape": [2]})";
  EXPECT_TRUE(verdict_of(text, {NAN, 1}, {NAN}).pass);
  EXPECT_FALSE(verdict_of(text, {NAN, 1}, {1}).pass);
  const Verdict poison = verdict_of(text, {0, 1}, {NAN});
  EXPECT_FALSE(poison.pass);
  EXPECT_TRUE(std::isfinite(poison.max_error));
}

TEST(CheckOutput, InfinitiesMatchInSign) {
  const std::string text = R"({"op": "max", "shape": [2]})";
  EXPECT_TRUE(verdict_of(text, {kInf, 1}, {kInf}).pass);
  EXPECT_FALSE(verdict_of(text, {kInf, 1}, {-kInf}).pass);
  EXPECT_FALSE(verdict_of(text, {kInf, 1}, {3.4e38}).pass);
  EXPECT_FALSE(verdict_of(text, {2, 1}, {kInf}).pass);
}

TEST(CheckOutput, NarrowOutputsMayOverflow) {
  const std::string text = R"({"op": "sum", "shape": [3], "dtype": "f16"})";
  EXPECT_TRUE(verdict_of(text, {60000, 60000, 0}, {kInf}).pass);
  EXPECT_FALSE(verdict_of(text, {60000, 60000, 0}, {-kInf}).pass);
  EXPECT_FALSE(verdict_of(text, {60000, 1000, 0}, {kInf}).pass);
  EXPECT_TRUE(
      verdict_of(R"({"op": "sum", "shape": [20000], "dtype": "f16"})", repeated(1, 20000), {20000}).pass);
  EXPECT_TRUE(
      verdict_of(R"({"op": "sum", "shape": [70000], "dtype": "bf16"})", repeated(1, 70000), {70144}).pass);
}

TEST(CheckOutput, ZerosOfBothSignsAreEqual) {
  EXPECT_TRUE(verdict_of(R"({"op": "max", "shape": [2]})", {0.0, -0.0}, {-0.0}).pass);
}

TEST(CheckOutput, AMissingOrDoubledElementIsSeen) {
  const Operator op = op_of(R"({"op": "sum", "shape": [1000000]})");
  const std::vector<unsigned char> input = make_input(op, 1);
  const Reference reference = compute_reference(op, input, 100000);
  float first = 0;
  std::memcpy(&first, input.data(), 4);
  const auto passes = [&](double value) {
    return check_output(op, reference, stored(DType::kF32, {value})).pass;
  };
  EXPECT_TRUE(passes(reference.values[0]));
  EXPECT_FALSE(passes(reference.values[0] - static_cast<double>(first)));
  EXPECT_FALSE(passes(reference.values[0] + static_cast<double>(first)));
}

TEST(CheckOutput, NothingToCheckPasses) {
  EXPECT_TRUE(verdict_of(R"({"op": "sum", "shape": [0, 3], "axes": [1]})", {}, {}).pass);
}

}  // namespace
}  // namespace redtune
