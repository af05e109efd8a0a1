// The adversarial inputs: for every operator and dtype of the tables, and each really holds what its name
// says.
#include "measure/input_patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "measure/elements.h"
#include "measure/reference.h"
#include "measure/rounding.h"
#include "support/error.h"

namespace redtune {
namespace {

Operator operator_of(ReduceOp op, DType dtype, const std::string& shape = "33x49") {
  ShortForm form;
  form.op = std::string(name(op));
  form.dtype = std::string(name(dtype));
  form.shape = shape;
  form.axes = "1";
  return operator_from_short_form(form);
}

std::vector<double> floats(const Operator& op, const char* pattern, std::uint64_t seed = 1) {
  const std::vector<unsigned char> bytes = make_input(op, parse_input_pattern(pattern), seed);
  std::vector<double> values(static_cast<std::size_t>(op.input().storage_elements()));
  load_elements(op.input().dtype, bytes.data(), 0, 1, static_cast<std::int64_t>(values.size()),
                values.data());
  return values;
}

std::vector<std::int64_t> integers(const Operator& op, const char* pattern) {
  const std::vector<unsigned char> bytes = make_input(op, parse_input_pattern(pattern), 1);
  std::vector<std::int64_t> values(static_cast<std::size_t>(op.input().storage_elements()));
  load_elements(op.input().dtype, bytes.data(), 0, 1, static_cast<std::int64_t>(values.size()),
                values.data());
  return values;
}

constexpr DType kFloats[] = {DType::kF16, DType::kBF16, DType::kF32, DType::kF64};

// Every operator and dtype: right size, a function of the seed, and the reference of the data accepts itself.
TEST(InputPatterns, FitEveryOperatorAndDtype) {
  for (const ReduceOpInfo& row : kReduceOps) {
    for (const DTypeInfo& dtype : kDTypes) {
      const Operator op = operator_of(row.id, dtype.id);
      std::size_t applied = 0;
      for (const InputPattern& pattern : input_patterns()) {
        if (!applies(pattern, op)) continue;
        ++applied;
        const std::vector<unsigned char> bytes = make_input(op, pattern, 3);
        EXPECT_EQ(static_cast<std::int64_t>(bytes.size()), op.input().storage_elements() * dtype.bytes);
        EXPECT_EQ(bytes, make_input(op, pattern, 3)) << pattern.name;
      }
      EXPECT_GE(applied, 5u) << row.name << " " << dtype.name;
    }
  }
}

TEST(InputPatterns, NamesAreDifferentAndRead) {
  std::set<std::string_view> names;
  for (const InputPattern& pattern : input_patterns()) {
    EXPECT_TRUE(names.insert(pattern.name).second) << pattern.name;
    EXPECT_EQ(&parse_input_pattern(pattern.name), &pattern);
  }
  EXPECT_THROW(parse_input_pattern("zeroes"), UserError);
}

TEST(InputPatterns, RandomIsWhatTuningMeasuresOn) {
  const Operator op = operator_of(ReduceOp::kSum, DType::kF32);
  EXPECT_EQ(make_input(op, parse_input_pattern("random"), 5), make_input(op, 5));
}

TEST(InputPatterns, NanStandsAtBordersAndNotEverywhere) {
  for (DType dtype : kFloats) {
    const std::vector<double> values = floats(operator_of(ReduceOp::kMax, dtype), "nan_at_borders");
    for (std::size_t at : {63u, 64u, 127u, 128u, 255u, 256u, 1023u, 1024u, 1616u})
      EXPECT_TRUE(std::isnan(values[at])) << at;
    const auto nans = std::count_if(values.begin(), values.end(), [](double x) { return std::isnan(x); });
    EXPECT_LT(nans, 20);
  }
}

TEST(InputPatterns, InfinitiesOfBothSigns) {
  for (DType dtype : kFloats) {
    const std::vector<double> values = floats(operator_of(ReduceOp::kSum, dtype), "infinities");
    EXPECT_TRUE(std::count(values.begin(), values.end(), HUGE_VAL) > 0);
    EXPECT_TRUE(std::count(values.begin(), values.end(), -HUGE_VAL) > 0);
    EXPECT_TRUE(std::isinf(floats(operator_of(ReduceOp::kSum, dtype, "1x1"), "positive_infinities")[0]));
  }
}

TEST(InputPatterns, SubnormalsAreSubnormalAndNotZero) {
  for (DType dtype : kFloats) {
    for (double x : floats(operator_of(ReduceOp::kSum, dtype), "subnormals")) {
      ASSERT_NE(x, 0) << name(dtype);
      ASSERT_LT(std::abs(x), smallest_normal(dtype)) << name(dtype);
    }
  }
}

TEST(InputPatterns, CancellationSumsToLittle) {
  for (DType dtype : kFloats) {
    const std::vector<double> values = floats(operator_of(ReduceOp::kSum, dtype, "1x4096"), "cancellation");
    double sum = 0, most = 0;
    for (double x : values) sum += x, most = std::max(most, std::abs(x));
    EXPECT_GE(most, power_of_two(float_format(dtype).digits > 24 ? 22 : float_format(dtype).digits - 2));
    EXPECT_LT(std::abs(sum), 1000);
  }
}

TEST(InputPatterns, ExtremesHoldTheLimitsOfIntegers) {
  const auto holds = [](DType dtype, std::int64_t low, std::int64_t high) {
    const std::vector<std::int64_t> values = integers(operator_of(ReduceOp::kMax, dtype), "extremes");
    EXPECT_EQ(*std::min_element(values.begin(), values.end()), low) << name(dtype);
    EXPECT_EQ(*std::max_element(values.begin(), values.end()), high) << name(dtype);
  };
  holds(DType::kI8, -128, 127);
  holds(DType::kU8, 0, 255);
  holds(DType::kI32, INT32_MIN, INT32_MAX);
  holds(DType::kI64, INT64_MIN, INT64_MAX);
  holds(DType::kBool, 0, 1);
}

// Data whose sum depends on the order would call right kernels wrong.
TEST(InputPatterns, OrderDependentDataIsForExactOperatorsOnly) {
  const InputPattern& extremes = parse_input_pattern("extremes");
  EXPECT_FALSE(applies(extremes, operator_of(ReduceOp::kSum, DType::kF32)));
  EXPECT_TRUE(applies(extremes, operator_of(ReduceOp::kSum, DType::kI32)));
  EXPECT_TRUE(applies(extremes, operator_of(ReduceOp::kMax, DType::kF32)));
  EXPECT_FALSE(applies(parse_input_pattern("cancellation"), operator_of(ReduceOp::kProd, DType::kF32)));
  EXPECT_FALSE(applies(parse_input_pattern("infinities"), operator_of(ReduceOp::kSum, DType::kI32)));
}

}  // namespace
}  // namespace redtune
