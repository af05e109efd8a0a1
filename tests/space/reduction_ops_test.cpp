#include "space/reduction_ops.h"

#include <gtest/gtest.h>

#include <bit>

#include "support/error.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

TEST(DTypes, RowsAreInEnumOrderAndReadBack) {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kDTypes[i].id), i);
    EXPECT_EQ(parse_dtype(kDTypes[i].name), kDTypes[i].id);
  }
  EXPECT_EQ(message_of([] { parse_dtype("float32"); }).rfind("unknown dtype 'float32'", 0), 0u);
}

TEST(ReduceOps, RowsAreInEnumOrderAndReadBack) {
  for (std::size_t i = 0; i < kReduceOps.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kReduceOps[i].id), i);
    EXPECT_EQ(parse_reduce_op(kReduceOps[i].name), kReduceOps[i].id);
  }
  EXPECT_EQ(message_of([] { parse_reduce_op("smu"); }),
            "unknown op 'smu'; did you mean 'sum'? known: sum, prod, max, min, any, all, mean, argmax, "
            "argmin, l2norm, logsumexp, var, std, compensated_sum, compensated_mean");
}

TEST(ReduceOps, AccumulatorsWidenForSumAndProdOnly) {
  EXPECT_EQ(accumulator_of(ReduceOp::kSum, DType::kF16), DType::kF32);
  EXPECT_EQ(accumulator_of(ReduceOp::kSum, DType::kI8), DType::kI64);
  EXPECT_EQ(accumulator_of(ReduceOp::kProd, DType::kF64), DType::kF64);
  EXPECT_EQ(accumulator_of(ReduceOp::kMax, DType::kBF16), DType::kF32);
  EXPECT_EQ(accumulator_of(ReduceOp::kMin, DType::kI8), DType::kI8);
  EXPECT_EQ(default_result(ReduceOp::kSum, DType::kBool), DType::kI64);
  EXPECT_EQ(default_result(ReduceOp::kMax, DType::kBool), DType::kBool);
  EXPECT_EQ(default_result(ReduceOp::kSum, DType::kF16), DType::kF16);
}

TEST(ReduceOps, ComputeInTheTypeOfTheirArithmetic) {
  struct Row {
    const char* op;
    DType in, accumulator, result, finished;
  };
  using D = DType;
  for (const Row& row : {Row{"any", D::kF32, D::kI32, D::kBool, D::kI32},
                         {"all", D::kI64, D::kI32, D::kBool, D::kI32},
                         {"mean", D::kF16, D::kF32, D::kF16, D::kF32},
                         {"mean", D::kI8, D::kF64, D::kF64, D::kF64},
                         {"argmax", D::kBF16, D::kF32, D::kI64, D::kI32},
                         {"argmin", D::kF64, D::kF64, D::kI64, D::kI64},
                         {"argmax", D::kU8, D::kI32, D::kI64, D::kI32},
                         {"argmin", D::kI64, D::kI64, D::kI64, D::kI64},
                         {"l2norm", D::kBool, D::kF64, D::kF64, D::kF64},
                         {"logsumexp", D::kBF16, D::kF32, D::kBF16, D::kF32},
                         {"var", D::kI32, D::kF64, D::kF64, D::kF64},
                         {"std", D::kF64, D::kF64, D::kF64, D::kF64},
                         {"compensated_sum", D::kBF16, D::kF32, D::kBF16, D::kF32},
                         {"compensated_mean", D::kI64, D::kF64, D::kF64, D::kF64}}) {
    const ReduceOp op = parse_reduce_op(row.op);
    EXPECT_EQ(accumulator_of(op, row.in), row.accumulator) << row.op << " " << name(row.in);
    EXPECT_EQ(default_result(op, row.in), row.result) << row.op << " " << name(row.in);
    EXPECT_EQ(finished_type(op, row.accumulator), row.finished) << row.op << " " << name(row.in);
  }
}

TEST(ReduceOps, StatesHoldMembersOfOneWidth) {
  EXPECT_EQ(state_bytes(ReduceOp::kSum, DType::kI8), 1);
  EXPECT_EQ(state_bytes(ReduceOp::kArgMax, DType::kF32), 8);
  EXPECT_EQ(state_bytes(ReduceOp::kLogSumExp, DType::kF64), 16);
  EXPECT_EQ(state_bytes(ReduceOp::kVar, DType::kF32), 12);
  EXPECT_EQ(state_bytes(ReduceOp::kL2Norm, DType::kF64), 24);
  // What is one number can be finished or changed by one atomic, what is more cannot.
  for (const ReduceOpInfo& row : kReduceOps) {
    EXPECT_EQ(row.atomic == AtomicForm::kNone, row.state != State::kValue) << row.name;
    EXPECT_EQ(row.atomic == AtomicForm::kFinished, finishes(row.id) && row.state == State::kValue) << row.name;
  }
}

TEST(ReduceOps, NothingHasTheAnswersOfNumPy) {
  EXPECT_EQ(nothing_bits(ReduceOp::kSum, DType::kF32), 0u);
  EXPECT_EQ(nothing_bits(ReduceOp::kProd, DType::kI64), 1u);
  EXPECT_EQ(nothing_bits(ReduceOp::kAny, DType::kI32), 0u);
  EXPECT_EQ(nothing_bits(ReduceOp::kAll, DType::kI32), 1u);
  EXPECT_EQ(nothing_bits(ReduceOp::kL2Norm, DType::kF64), 0u);
  EXPECT_EQ(nothing_bits(ReduceOp::kLogSumExp, DType::kF32), 0xff800000u);
  EXPECT_EQ(nothing_bits(ReduceOp::kCompensatedSum, DType::kF32), 0u);
  for (ReduceOp op : {ReduceOp::kMean, ReduceOp::kCompensatedMean, ReduceOp::kVar, ReduceOp::kStd}) {
    const double nan = std::bit_cast<double>(nothing_bits(op, DType::kF64));
    EXPECT_NE(nan, nan) << name(op);
  }
  EXPECT_THROW(nothing_bits(ReduceOp::kArgMin, DType::kF32), InternalError);
}

TEST(ReduceOps, IdentitiesAreBitPatternsOfTheAccumulator) {
  EXPECT_EQ(identity_bits(ReduceOp::kSum, DType::kF32), 0u);
  EXPECT_EQ(identity_bits(ReduceOp::kProd, DType::kI64), 1u);
  EXPECT_EQ(identity_bits(ReduceOp::kProd, DType::kF32), std::bit_cast<std::uint32_t>(1.0f));
  EXPECT_EQ(identity_bits(ReduceOp::kProd, DType::kF16), 0x3c00u);
  EXPECT_EQ(identity_bits(ReduceOp::kMax, DType::kF32), 0xff800000u);
  EXPECT_EQ(identity_bits(ReduceOp::kMin, DType::kF64), 0x7ff0000000000000u);
  EXPECT_EQ(identity_bits(ReduceOp::kMax, DType::kF16), 0xfc00u);
  EXPECT_EQ(identity_bits(ReduceOp::kMin, DType::kBF16), 0x7f80u);
  EXPECT_EQ(identity_bits(ReduceOp::kMax, DType::kI32), 0x80000000u);
  EXPECT_EQ(identity_bits(ReduceOp::kMin, DType::kI32), 0x7fffffffu);
  EXPECT_EQ(identity_bits(ReduceOp::kMax, DType::kI64), 0x8000000000000000u);
  EXPECT_EQ(identity_bits(ReduceOp::kMin, DType::kI64), 0x7fffffffffffffffu);
  EXPECT_EQ(identity_bits(ReduceOp::kMax, DType::kI8), 0x80u);
  EXPECT_EQ(identity_bits(ReduceOp::kMax, DType::kU8), 0u);
  EXPECT_EQ(identity_bits(ReduceOp::kMin, DType::kU8), 255u);
  EXPECT_EQ(identity_bits(ReduceOp::kMin, DType::kBool), 1u);
}

}  // namespace
}  // namespace redtune
