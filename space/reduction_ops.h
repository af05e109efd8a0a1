// Reduction operators: one table, one row each. How an operator combines is known here and in the combine
// routine of codegen/device; nothing else asks for an operator by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "space/dtype.h"

namespace redtune {

enum class ReduceOp : std::uint8_t { kSum, kProd, kMax, kMin };

struct ReduceOpInfo {
  ReduceOp id;
  std::string_view name;
  bool widens;  // accumulates in info(dtype).accumulator; otherwise in the element type (16-bit floats: f32)
  bool exact;   // integer or order-free: every mapping gives the same bits, so atomics are run_to_run too
  bool empty_is_error;  // an empty reduced axis has no answer
};

/// Rows in enum order.
inline constexpr std::array<ReduceOpInfo, 4> kReduceOps{{
    {ReduceOp::kSum, "sum", true, false, false},
    {ReduceOp::kProd, "prod", true, false, false},
    {ReduceOp::kMax, "max", false, true, true},
    {ReduceOp::kMin, "min", false, true, true},
}};

constexpr const ReduceOpInfo& info(ReduceOp op) { return kReduceOps[static_cast<std::size_t>(op)]; }
constexpr std::string_view name(ReduceOp op) { return info(op).name; }

/// Throws UserError with the nearest known name.
ReduceOp parse_reduce_op(std::string_view word);

/// The type in which `op` over `in` accumulates: sum/prod widen (f16 -> f32, i32 -> i64), max/min keep the
/// element type except that 16-bit floats are compared as f32.
DType accumulator_of(ReduceOp op, DType in);

/// The result type when the operator does not say: integers of sum/prod give i64, everything else gives `in`.
DType default_result(ReduceOp op, DType in);

/// The bit pattern of the identity in type `acc` (0, 1, -inf / +inf, smallest / largest integer),
/// zero-extended.
std::uint64_t identity_bits(ReduceOp op, DType acc);

}  // namespace redtune
