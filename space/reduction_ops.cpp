#include "space/reduction_ops.h"

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "support/error.h"
#include "support/half.h"

namespace redtune {
namespace {

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

std::uint64_t number_bits(DType t, double value) {
  switch (t) {
    case DType::kF64:
      return std::bit_cast<std::uint64_t>(value);
    case DType::kF32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::kF16:
      return f16_from_f64(value);
    case DType::kBF16:
      return bf16_from_f64(value);
    default:
      break;
  }
  const auto bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return bytes_of(t) == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes_of(t))) - 1);
}

ReduceOp parse_reduce_op(std::string_view word) {
  std::vector<std::string> known;
  for (const ReduceOpInfo& row : kReduceOps) {
    if (row.name == word) return row.id;
    known.emplace_back(row.name);
  }
  throw UserError(unknown_word_message("op", word, known));
}

DType accumulator_of(ReduceOp op, DType in) {
  const bool is_float = info(in).is_float, half = in == DType::kF16 || in == DType::kBF16;
  switch (info(op).arithmetic) {
    case Arithmetic::kWide:
      return info(in).accumulator;
    case Arithmetic::kElement:
      return half ? DType::kF32 : in;
    case Arithmetic::kTruth:
      return DType::kI32;
    case Arithmetic::kOrder:
      return half ? DType::kF32 : bytes_of(in) < 4 ? DType::kI32 : in;
    case Arithmetic::kReal:
      return is_float ? info(in).accumulator : DType::kF64;
  }
  RT_CHECK(false, "arithmetic without a type");
}

DType default_result(ReduceOp op, DType in) {
  const bool is_float = info(in).is_float;
  switch (info(op).result) {
    case ResultType::kWideInt:
      return is_float ? in : DType::kI64;
    case ResultType::kElement:
      return in;
    case ResultType::kTruth:
      return DType::kBool;
    case ResultType::kPosition:
      return DType::kI64;
    case ResultType::kReal:
      return is_float ? in : DType::kF64;
  }
  RT_CHECK(false, "result without a type");
}

DType finished_type(ReduceOp op, DType acc) {
  if (info(op).state != State::kArg) return acc;
  return bytes_of(acc) == 8 ? DType::kI64 : DType::kI32;
}

int state_members(ReduceOp op) {
  switch (info(op).state) {
    case State::kValue:
      return 1;
    case State::kArg:
    case State::kLogSum:
    case State::kCompensated:
      return 2;
    case State::kScaled:
    case State::kMoments:
      return 3;
  }
  RT_CHECK(false, "state without members");
}

int state_bytes(ReduceOp op, DType acc) { return state_members(op) * bytes_of(acc); }

std::uint64_t identity_bits(ReduceOp op, DType acc) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool is_float = info(acc).is_float;
  switch (op) {
    case ReduceOp::kProd:
    case ReduceOp::kAll:
      return number_bits(acc, 1);
    case ReduceOp::kMax:
      return is_float ? number_bits(acc, -kInfinity) : smallest_bits(acc);
    case ReduceOp::kMin:
      return is_float ? number_bits(acc, kInfinity) : largest_bits(acc);
    default:
      return 0;
  }
}

std::uint64_t nothing_bits(ReduceOp op, DType acc) {
  switch (info(op).nothing) {
    case OfNothing::kIdentity:
      return identity_bits(op, acc);
    case OfNothing::kNan:
      return number_bits(acc, std::numeric_limits<double>::quiet_NaN());
    case OfNothing::kMinusInf:
      return number_bits(acc, -std::numeric_limits<double>::infinity());
    case OfNothing::kError:
      break;
  }
  RT_CHECK(false, std::string(name(op)) + " of nothing has no answer");
}

}  // namespace redtune
