#include "space/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Operator op_of(const std::string& text) { return parse_operator(parse_json(text, "op.json"), "op.json"); }

std::string error_of(const std::string& text) {
  return message_of([&] { op_of(text); });
}

TEST(Operator, FillsInWhatTheShortFormLeavesOut) {
  const Operator op = op_of(R"({"op": "sum", "shape": [4, 3], "axes": [1], "dtype": "f16"})");
  EXPECT_THAT(op.input().strides, ElementsAre(3, 1));
  EXPECT_EQ(op.input().offset, 0);
  EXPECT_THAT(op.output().shape, ElementsAre(4));
  EXPECT_EQ(op.output().dtype, DType::kF16);
  EXPECT_EQ(op.reduction().accumulator, DType::kF32);
  EXPECT_EQ(op.determinism, Determinism::kNotGuaranteed);
  EXPECT_EQ(op.reduction().input, op.input().name);
  EXPECT_EQ(op.reduction().output, op.output().name);
}

TEST(Operator, MissingAxesMeanAllAndNoAxesMeanNone) {
  EXPECT_THAT(op_of(R"({"op": "sum", "shape": [2, 3]})").reduction().axes, ElementsAre(0, 1));
  const Operator none = op_of(R"({"op": "sum", "shape": [2, 3], "axes": []})");
  EXPECT_THAT(none.reduction().axes, IsEmpty());
  EXPECT_THAT(none.output().shape, ElementsAre(2, 3));
}

TEST(Operator, NegativeAxesCountFromTheEnd) {
  EXPECT_THAT(op_of(R"({"op": "sum", "shape": [2, 3], "axes": [-1]})").reduction().axes, ElementsAre(1));
  EXPECT_THAT(op_of(R"({"op": "sum", "shape": [2, 3], "axes": [0, -1]})").reduction().axes,
              ElementsAre(0, 1));
}

TEST(Operator, BadAxesAreRefusedNamingAxisAndRank) {
  const auto with_axes = [](const std::string& axes) {
    return error_of(R"({"op": "sum", "shape": [2, 3], "axes": )" + axes + "}");
  };
  EXPECT_EQ(with_axes("[1, 1]"), "op.json: field 'axes' names axis 1 twice for rank 2; name each axis once");
  EXPECT_EQ(with_axes("[1, -1]"),
            "op.json: field 'axes' names axis 1 twice (once as -1) for rank 2; name each axis once");
  EXPECT_EQ(with_axes("[2]"),
            "op.json: field 'axes' names axis 2, out of range for rank 2; allowed: -2 to 1");
  EXPECT_EQ(with_axes("[-3]"),
            "op.json: field 'axes' names axis -3, out of range for rank 2; allowed: -2 to 1");
}

TEST(Operator, AScalarTakesNoAxisOrAxisZero) {
  for (const char* axes : {"[]", "[0]", "[-1]"}) {
    const Operator op =
        op_of(R"({"op": "max", "shape": [], "data": [3.5], "axes": )" + std::string(axes) + "}");
    EXPECT_THAT(op.reduction().axes, IsEmpty()) << axes;
    EXPECT_THAT(op.output().shape, IsEmpty()) << axes;
    EXPECT_EQ(op.input().storage_elements(), 1);
  }
  EXPECT_THAT(error_of(R"({"op": "max", "shape": [], "axes": [1]})"),
              HasSubstr("axis 1, out of range for rank 0"));
  EXPECT_THAT(error_of(R"({"op": "max", "shape": [], "axes": [0, -1]})"), HasSubstr("twice"));
}

TEST(Operator, KeepdimsKeepsUnitAxes) {
  const Operator op = op_of(R"({"op": "sum", "shape": [64, 64], "axes": [0, 1], "keepdims": true})");
  EXPECT_THAT(op.output().shape, ElementsAre(1, 1));
  EXPECT_THAT(op_of(R"({"op": "sum", "shape": [4, 5, 6], "axes": [1], "keepdims": true})").output().shape,
              ElementsAre(4, 1, 6));
}

TEST(Operator, SizesOfZeroAreFineWhereAnAnswerExists) {
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [3, 0], "axes": [1]})").input().storage_elements(), 0);
  EXPECT_THAT(op_of(R"({"op": "max", "shape": [0, 3], "axes": [1]})").output().shape, ElementsAre(0));
  EXPECT_EQ(error_of(R"({"op": "max", "shape": [3, 0], "axes": [1]})"),
            "op.json: field 'shape' has no elements along axis 1, and max of nothing has no answer; reduce a "
            "non-empty axis or use sum or prod");
}

TEST(Operator, CountsAndReachPast63BitsAreRefused) {
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4294967296, 2147483648]})"),
              HasSubstr("2^63 - 1 elements"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4294967296, 4294967296, 0], "axes": [0]})"),
              HasSubstr("2^63 - 1 elements"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4611686018427387904], "dtype": "f32"})"),
              HasSubstr("2^63 - 1 bytes"));
  EXPECT_THAT(
      error_of(R"({"op": "sum", "shape": [3, 4], "strides": [4611686018427387904, 1], "dtype": "i8"})"),
      HasSubstr("2^63 - 1 bytes at axis 0"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [99999999999999999999]})"), HasSubstr("shape[0]"));
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [2, 4], "strides": [3000000000, 1], "dtype": "i8", "axes": [1]})")
                .input()
                .storage_elements(),
            3000000004);
}

TEST(Operator, StridesMayBeZeroOrNegative) {
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [2, 3, 4], "strides": [0, 1, 3]})").input().storage_elements(),
            12);
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [4], "strides": [-2], "offset": 6})").input().storage_elements(),
            7);
  EXPECT_EQ(error_of(R"({"op": "sum", "shape": [4], "strides": [-2], "offset": 5})"),
            "op.json: field 'strides' reach 1 elements before the storage; set offset to at least 6");
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4, 2], "strides": [1]})"),
              HasSubstr("one stride per axis: 2"));
}

TEST(Operator, MistakesNameFieldAndRemedy) {
  EXPECT_EQ(error_of(R"({"op": "smu", "shape": [4]})"),
            "op.json: field 'op' has an unknown op 'smu'; did you mean 'sum'? known: sum, prod, max, min, "
            "any, all, mean, "
            "argmax, argmin, l2norm, logsumexp, var, std, compensated_sum, compensated_mean");
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4], "dtype": "f23"})"), HasSubstr("did you mean 'f32'"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4], "axis": [0]})"), HasSubstr("did you mean 'axes'"));
  EXPECT_THAT(error_of(R"({"op": "sum"})"), HasSubstr("field 'shape' is missing"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4, -1]})"),
              HasSubstr("'shape[1]' must be 0 or more, is -1"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4.5]})"), HasSubstr("shape[0]"));
  EXPECT_THAT(error_of(R"({"op": 3, "shape": [4]})"), HasSubstr("field 'op' must be a string, is 3"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4], "determinism": "run-to-run"})"),
              HasSubstr("did you mean 'run_to_run'"));
  EXPECT_THAT(error_of(R"({"name": "x", "inputs": {}, "compute": []})"), HasSubstr("'inputs' names no tensor"));
}

TEST(Operator, ResultAndAccumulatorStayInTheirKind) {
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [4], "dtype": "f16", "out": "f32"})").output().dtype,
            DType::kF32);
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [4], "dtype": "i32", "out": "i32"})").output().dtype,
            DType::kI32);
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [4], "accumulator": "f64"})").reduction().accumulator,
            DType::kF64);
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4], "dtype": "f32", "out": "i32"})"),
              HasSubstr("float type"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4], "dtype": "i32", "out": "bool"})"),
              HasSubstr("cannot be bool"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4], "dtype": "f64", "accumulator": "f32"})"),
              HasSubstr("at least as wide as f64, is f32"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [4], "dtype": "i32", "accumulator": "f32"})"),
              HasSubstr("must be i32 or i64"));
}

TEST(Operator, ResultsOfTheOtherKinds) {
  EXPECT_EQ(op_of(R"({"op": "any", "shape": [4], "out": "i32"})").output().dtype, DType::kI32);
  EXPECT_THAT(error_of(R"({"op": "all", "shape": [4], "out": "f32"})"),
              HasSubstr("'out' must be bool or an integer type for all of f32, is f32"));
  EXPECT_THAT(error_of(R"({"op": "any", "shape": [4], "accumulator": "i64"})"),
              HasSubstr("must be i32, is i64"));
  EXPECT_EQ(op_of(R"({"op": "argmax", "shape": [4], "dtype": "i8", "out": "i32"})").output().dtype,
            DType::kI32);
  EXPECT_THAT(error_of(R"({"op": "argmax", "shape": [4], "out": "f32"})"),
              HasSubstr("'out' must be i32 or i64 for argmax of f32, is f32"));
  EXPECT_THAT(error_of(R"({"op": "argmin", "shape": [4], "dtype": "i8", "accumulator": "i8"})"),
              HasSubstr("must be i32 or i64"));
  EXPECT_EQ(op_of(R"({"op": "mean", "shape": [4], "dtype": "i32", "out": "f32"})").output().dtype,
            DType::kF32);
  EXPECT_THAT(error_of(R"({"op": "var", "shape": [4], "dtype": "i32", "out": "i64"})"),
              HasSubstr("'out' must be a float type for var of i32, is i64"));
  EXPECT_THAT(error_of(R"({"op": "mean", "shape": [4], "dtype": "i32", "accumulator": "f32"})"),
              HasSubstr("must be f32 or f64 and at least as wide as f64, is f32"));
}

TEST(Operator, PositionsOfManyElementsAreWide) {
  const Operator op = op_of(R"({"op": "argmax", "shape": [2, 3000000000], "axes": [1]})");
  EXPECT_EQ(op.reduction().accumulator, DType::kF64);
  EXPECT_EQ(op.key(), "argmax(f32[2,3000000000];axes=1)->i64");
  EXPECT_EQ(parse_operator(to_json(op), "again"), op);
  EXPECT_EQ(op_of(R"({"op": "argmax", "shape": [2, 3000000000], "axes": [0]})").reduction().accumulator,
            DType::kF32);
  EXPECT_THAT(error_of(R"({"op": "argmax", "shape": [3000000000], "out": "i32"})"),
              HasSubstr("i32 cannot number the 3000000000 reduced elements"));
}

TEST(Operator, DdofBelongsToVarAndStd) {
  const Operator op = op_of(R"({"op": "var", "shape": [4], "ddof": 1})");
  EXPECT_EQ(op.reduction().ddof, 1);
  EXPECT_EQ(op.key(), "var(f32[4];axes=0;ddof=1)->f32");
  EXPECT_EQ(parse_operator(to_json(op), "again"), op);
  EXPECT_EQ(op_of(R"({"op": "std", "shape": [4]})").reduction().ddof, 0);
  EXPECT_THAT(error_of(R"({"op": "std", "shape": [4], "ddof": -1})"), HasSubstr("'ddof' must be 0 to"));
  EXPECT_THAT(error_of(R"({"op": "mean", "shape": [4], "ddof": 1})"),
              HasSubstr("'ddof' belongs to var and std, op is mean"));
}

TEST(Operator, NothingHasNoPosition) {
  EXPECT_THAT(error_of(R"({"op": "argmin", "shape": [3, 0], "axes": [1]})"),
              HasSubstr("argmin of nothing has no answer"));
  for (const char* op : {"any", "all", "mean", "l2norm", "logsumexp", "var", "std", "compensated_sum", "compensated_mean"}) {
    EXPECT_NO_THROW(op_of(R"({"shape": [3, 0], "axes": [1], "op": ")" + std::string(op) + "\"}")) << op;
  }
}

TEST(Operator, DataIsCheckedForLengthAndType) {
  const Operator op = op_of(R"({"op": "max", "shape": [4], "data": [1, "nan", "-inf", 2.5]})");
  ASSERT_TRUE(op.data);
  EXPECT_EQ(op.data->numbers[0], 1);
  EXPECT_TRUE(std::isnan(op.data->numbers[1]));
  EXPECT_TRUE(std::isinf(op.data->numbers[2]));
  const Operator exact =
      op_of(R"({"op": "max", "shape": [1], "dtype": "i64", "data": [-9223372036854775808]})");
  EXPECT_THAT(exact.data->integers, ElementsAre(INT64_MIN));
  EXPECT_THAT(op_of(R"({"op": "sum", "shape": [2], "dtype": "bool", "data": [true, 0]})").data->integers,
              ElementsAre(1, 0));
  EXPECT_EQ(error_of(R"({"op": "sum", "shape": [3], "data": [1, 2]})"),
            "op.json: field 'data' must hold 3 values (what shape, strides and offset reach), holds 2");
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [1], "data": [1, 2]})"), HasSubstr("must hold 1"));
  EXPECT_NO_THROW(op_of(R"({"op": "sum", "shape": [1], "offset": 1, "data": [1, 2, 3]})"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [2], "dtype": "i8", "data": [1, 128]})"),
              HasSubstr("'data[1]' is 128, dtype i8 holds -128 to 127"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [1], "dtype": "i32", "data": [1.5]})"),
              HasSubstr("'data[0]'"));
  EXPECT_THAT(error_of(R"({"op": "sum", "shape": [1], "data": ["x"]})"), HasSubstr("'data[0]'"));
}

TEST(Operator, GoesThroughJsonUnchanged) {
  for (
      const char* text :
      {R"({"op": "sum", "shape": [256, 56, 56, 256], "axes": [0, 1, 2], "dtype": "f16", "out": "f32"})",
       R"({"name": "n", "op": "prod", "shape": [2, 3], "axes": [], "accumulator": "f64", "keepdims": true})",
       R"({"op": "min", "shape": [2, 3], "axes": [-1], "strides": [1, -2], "offset": 9, "dtype": "i64"})",
       R"({"op": "sum", "shape": [2], "strides": [1], "data": ["inf", 0.1, 7], "determinism": "run_to_run"})",
       R"({"op": "sum", "shape": [1, 3], "strides": [7, 1], "dtype": "bool", "data": [1, 0, 1]})",
       R"({"op": "sum", "shape": []})"}) {
    const Operator op = op_of(text);
    EXPECT_EQ(parse_operator(to_json(op), "again"), op) << text;
  }
}

TEST(Operator, KeysNameWhatChangesTheAnswerAndNothingElse) {
  const auto key = [](const std::string& rest) {
    return op_of(R"({"op": "sum", "shape": [1024, 1024], "axes": [1])" + rest + "}").key();
  };
  EXPECT_EQ(key(""), "sum(f32[1024,1024];axes=1)->f32");
  EXPECT_EQ(key(R"(, "name": "x", "keepdims": true, "strides": [1024, 1])"), key(""));
  EXPECT_EQ(key(R"(, "strides": [1, 1024], "offset": 3, "accumulator": "f64", "determinism": "run_to_run")"),
            "sum(f32[1024,1024];axes=1;strides=1,1024;offset=3;accumulator=f64;determinism=run_to_run)->f32");
  EXPECT_EQ(key(R"(, "dtype": "f16", "out": "f32")"), "sum(f16[1024,1024];axes=1)->f32");
  EXPECT_EQ(op_of(R"({"op": "max", "shape": [], "dtype": "i8"})").key(), "max(i8[];axes=none)->i8");
}

TEST(Operator, TitlesBracketWhatIsReduced) {
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [1024, 512], "axes": [1]})").title(), "sum f32 1024,[512]");
  EXPECT_EQ(op_of(R"({"op": "sum", "shape": [2, 3, 4, 5], "axes": [0, 2, 3]})").title(),
            "sum f32 [2],3,[4,5]");
  EXPECT_EQ(op_of(R"({"op": "max", "shape": []})").title(), "max f32 scalar");
}

TEST(ShortForm, ReadsCommandLineWords) {
  ShortForm form;
  form.shape = "4096x1024";
  form.axes = "-1";
  form.dtype = "bf16";
  form.strides = "1,4096";
  const Operator op = operator_from_short_form(form);
  EXPECT_THAT(op.input().shape, ElementsAre(4096, 1024));
  EXPECT_THAT(op.input().strides, ElementsAre(1, 4096));
  EXPECT_THAT(op.reduction().axes, ElementsAre(1));
  form.axes = "none";
  EXPECT_THAT(operator_from_short_form(form).reduction().axes, IsEmpty());
  form.op = "std";
  form.ddof = 1;
  EXPECT_EQ(operator_from_short_form(form).reduction().ddof, 1);
  form.ddof.reset();
  form.axes = "";
  EXPECT_THAT(operator_from_short_form(form).reduction().axes, ElementsAre(0, 1));
  form.shape = "[]";
  form.strides = "";
  EXPECT_THAT(operator_from_short_form(form).input().shape, IsEmpty());
}

TEST(ShortForm, NamesTheOptionOfABadWord) {
  ShortForm form;
  EXPECT_THAT(message_of([&] { operator_from_short_form(form); }), HasSubstr("--shape"));
  form.shape = "12y4";
  EXPECT_EQ(message_of([&] { operator_from_short_form(form); }), "--shape 12y4: '12y4' is not an integer");
  form.shape = "12";
  form.axes = "99999999999999999999";
  EXPECT_THAT(message_of([&] { operator_from_short_form(form); }), HasSubstr("--axes"));
  form.axes = "3";
  EXPECT_THAT(message_of([&] { operator_from_short_form(form); }),
              HasSubstr("axis 3, out of range for rank 1"));
}

}  // namespace
}  // namespace redtune
