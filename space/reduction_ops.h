// Reduction operators: one table, one row each. What an operator is made of - what it accumulates in, what
// its state holds, how parts combine, what comes of nothing - is known here and in the combine routines of
// codegen/device; nothing else asks for an operator by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "space/dtype.h"

namespace redtune {

enum class ReduceOp : std::uint8_t {
  kSum,
  kProd,
  kMax,
  kMin,
  kAny,
  kAll,
  kMean,
  kArgMax,
  kArgMin,
  kL2Norm,
  kLogSumExp,
  kVar,
  kStd,
  kCompensatedSum,
  kCompensatedMean
};

/// The type that an operator computes in, by the type of its elements.
enum class Arithmetic : std::uint8_t {
  kWide,     // floats: f32, f64 for f64; integers: i64
  kElement,  // the element's own; 16-bit floats: f32
  kTruth,    // i32: 0 or 1 for zero or not
  kOrder,    // what compares like the element: f32, f64, i32, i64
  kReal,     // floats as kWide; integers: f64, as in NumPy
};

/// What a partial result holds. All members have the width of the accumulator.
enum class State : std::uint8_t {
  kValue,    // one number
  kArg,      // a: extreme value, b: its position, an integer; the lower position wins a tie, a NaN wins over
             // numbers
  kScaled,   // sums of squares of small (a), ordinary (b) and large (c) elements, those of a and c scaled
             // (Blue 1978)
  kLogSum,   // a: maximum, b: sum of exp(x - a)
  kCompensated,  // a: sum, b: what its additions rounded away (Neumaier 1974, by Knuth's two-sum)
  kMoments,  // a: count, b: mean, c: sum of squared distances from it (Welford; Chan, Golub, LeVeque)
};

/// Type of the result when the operator does not say.
enum class ResultType : std::uint8_t {
  kWideInt,  // integers: i64; floats: the element's
  kElement,
  kTruth,     // bool
  kPosition,  // i64
  kReal,      // integers: f64; floats: the element's
};

/// What comes of a reduced axis without elements.
enum class OfNothing : std::uint8_t { kIdentity, kNan, kMinusInf, kError };

/// How results of blocks or threads can be added to the output itself.
enum class AtomicForm : std::uint8_t {
  kState,     // the state is one number and the result: by the combine step itself
  kFinished,  // the last step is linear, so finished parts may be added: no launch behind the atomics
  kNone,      // the state is more than what one atomic instruction can change
};

struct ReduceOpInfo {
  ReduceOp id;
  std::string_view name;
  std::string_view combine;  // of the combine routine in codegen/device
  Arithmetic arithmetic;
  State state;
  ResultType result;
  bool exact;  // free of order: every mapping gives the same bits, so atomics are run_to_run too
  OfNothing nothing;
  AtomicForm atomic;
};

/// Rows in enum order.
inline constexpr std::array<ReduceOpInfo, 15> kReduceOps = [] {
  using O = ReduceOp;
  using A = Arithmetic;
  using S = State;
  using R = ResultType;
  using N = OfNothing;
  using F = AtomicForm;
  return std::array<ReduceOpInfo, 15>{{
      // clang-format off
  {O::kSum,       "sum",       "sum",       A::kWide,    S::kValue,   R::kWideInt,  false, N::kIdentity, F::kState},
  {O::kProd,      "prod",      "prod",      A::kWide,    S::kValue,   R::kWideInt,  false, N::kIdentity, F::kState},
  {O::kMax,       "max",       "max",       A::kElement, S::kValue,   R::kElement,  true,  N::kError,    F::kState},
  {O::kMin,       "min",       "min",       A::kElement, S::kValue,   R::kElement,  true,  N::kError,    F::kState},
  {O::kAny,       "any",       "any",       A::kTruth,   S::kValue,   R::kTruth,    true,  N::kIdentity, F::kState},
  {O::kAll,       "all",       "all",       A::kTruth,   S::kValue,   R::kTruth,    true,  N::kIdentity, F::kState},
  {O::kMean,      "mean",      "sum",       A::kReal,    S::kValue,   R::kReal,     false, N::kNan,      F::kFinished},
  {O::kArgMax,    "argmax",    "argmax",    A::kOrder,   S::kArg,     R::kPosition, true,  N::kError,    F::kNone},
  {O::kArgMin,    "argmin",    "argmin",    A::kOrder,   S::kArg,     R::kPosition, true,  N::kError,    F::kNone},
  {O::kL2Norm,    "l2norm",    "l2norm",    A::kReal,    S::kScaled,  R::kReal,     false, N::kIdentity, F::kNone},
  {O::kLogSumExp, "logsumexp", "logsumexp", A::kReal,    S::kLogSum,  R::kReal,     false, N::kMinusInf, F::kNone},
  {O::kVar,       "var",       "var",       A::kReal,    S::kMoments, R::kReal,     false, N::kNan,      F::kNone},
  {O::kStd,       "std",       "std",       A::kReal,    S::kMoments, R::kReal,     false, N::kNan,      F::kNone},
  {O::kCompensatedSum,  "compensated_sum",  "compensated_sum",
   A::kReal, S::kCompensated, R::kReal, false, N::kIdentity, F::kNone},
  {O::kCompensatedMean, "compensated_mean", "compensated_mean",
   A::kReal, S::kCompensated, R::kReal, false, N::kNan,      F::kNone},
      // clang-format on
  }};
}();

constexpr const ReduceOpInfo& info(ReduceOp op) { return kReduceOps[static_cast<std::size_t>(op)]; }
constexpr std::string_view name(ReduceOp op) { return info(op).name; }

/// Whether a last step makes the result of the state.
constexpr bool finishes(ReduceOp op) { return info(op).atomic != AtomicForm::kState; }
/// Whether partial results are sums, whose error grows with the number of additions one after the other: those that
/// keep what they round away do not.
constexpr bool adds_up(ReduceOp op) {
  return !info(op).exact && op != ReduceOp::kProd && info(op).state != State::kCompensated;
}
/// Whether that step divides by the number of elements less `ddof`.
constexpr bool has_ddof(ReduceOp op) { return info(op).state == State::kMoments; }

/// Throws UserError with the nearest known name.
ReduceOp parse_reduce_op(std::string_view word);

/// The type in which `op` over `in` accumulates (Arithmetic).
DType accumulator_of(ReduceOp op, DType in);

/// The result type when the operator does not say (ResultType).
DType default_result(ReduceOp op, DType in);

/// The type of what the last step yields, before it is stored: the position of kArg, else the accumulator.
DType finished_type(ReduceOp op, DType acc);

/// Members of a state, and the bytes of one in type `acc`.
int state_members(ReduceOp op);
int state_bytes(ReduceOp op, DType acc);

/// The bit pattern of the identity in type `acc` (0, 1, -inf / +inf, smallest / largest integer),
/// zero-extended. Of a state of several members: 0, which is not used.
std::uint64_t identity_bits(ReduceOp op, DType acc);

/// The result of no elements in type finished_type(op, acc), zero-extended. Not for OfNothing::kError.
std::uint64_t nothing_bits(ReduceOp op, DType acc);

/// `value` as bits of the float or integer type `t`, zero-extended; integers wrap.
std::uint64_t number_bits(DType t, double value);

}  // namespace redtune
