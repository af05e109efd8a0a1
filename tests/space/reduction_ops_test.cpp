#include "space/reduction_ops.h"

#include <gtest/gtest.h>

#include <bit>

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
            "unknown op 'smu'; did you mean 'sum'? known: sum, prod, max, min");
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
