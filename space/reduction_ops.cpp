#include "space/reduction_ops.h"

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "support/error.h"

namespace redtune {
namespace {

std::uint64_t bits_of(DType t, double value) {
  switch (t) {
    case DType::kF64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::kF32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    // The identities (0, 1, infinities) fit 16 bits exactly: cutting the f32 pattern and these patterns are
    // exact.
    case DType::kBF16:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16;
    case DType::kF16: {
      const std::uint64_t sign = value < 0 ? 0x8000 : 0;
      const double size = value < 0 ? -value : value;
      return sign | (size == 0 ? 0u : size == 1 ? 0x3c00u : 0x7c00u);
    }
    default:
      break;
  }
  RT_CHECK(false, "not a float type");
}

bool is_unsigned(DType t) { return t == DType::kU8 || t == DType::kBool; }

std::uint64_t largest_bits(DType t) {
  if (t == DType::kBool) return 1;
  const int bits = 8 * bytes_of(t) - (is_unsigned(t) ? 0 : 1);
  return (std::uint64_t{1} << bits) - 1;
}

std::uint64_t smallest_bits(DType t) {
  return is_unsigned(t) ? 0 : std::uint64_t{1} << (8 * bytes_of(t) - 1);
}

}  // namespace

ReduceOp parse_reduce_op(std::string_view word) {
  std::vector<std::string> known;
  for (const ReduceOpInfo& row : kReduceOps) {
    if (row.name == word) return row.id;
    known.emplace_back(row.name);
  }
  throw UserError(unknown_word_message("op", word, known));
}

DType accumulator_of(ReduceOp op, DType in) {
  if (info(op).widens) return info(in).accumulator;
  return in == DType::kF16 || in == DType::kBF16 ? DType::kF32 : in;
}

DType default_result(ReduceOp op, DType in) {
  return info(op).widens && !info(in).is_float ? DType::kI64 : in;
}

std::uint64_t identity_bits(ReduceOp op, DType acc) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_float = info(acc).is_float;
  switch (op) {
    case ReduceOp::kSum:
      return 0;
    case ReduceOp::kProd:
      return is_float ? bits_of(acc, 1) : 1;
    case ReduceOp::kMax:
      return is_float ? bits_of(acc, -kInfinity) : smallest_bits(acc);
    case ReduceOp::kMin:
      return is_float ? bits_of(acc, kInfinity) : largest_bits(acc);
  }
  RT_CHECK(false, "operator without a row");
}

}  // namespace redtune
