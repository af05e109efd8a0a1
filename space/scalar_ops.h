// Elementwise functions of the expression form: one table, one row each. What they compute is known to the interpreter
// (measure/) and to codegen/device/elementwise.*.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "space/dtype.h"

namespace redtune {

enum class ScalarOp : std::uint8_t {
  kAdd, kSub, kMul, kDiv, kNeg, kAbs, kMin, kMax,
  kExp, kLog, kSqrt, kRsqrt, kTanh, kSigmoid, kErf, kPow,
  kLt, kLe, kGt, kGe, kEq, kNe,
  kAnd, kOr, kNot,
  kSelect, kCast
};

/// What goes in and what comes out.
enum class ScalarTypes : std::uint8_t {
  kNumber,   // numbers of one type; the same
  kFloat,    // floats of one type; the same
  kCompare,  // two of one type; bool
  kTruth,    // bool; bool
  kSelect,   // bool and two of one type; that type
  kCast,     // any; what the call names
};

struct ScalarOpInfo {
  ScalarOp id;
  std::string_view name;    // of the function in compute strings and of the device routine
  std::string_view symbol;  // "" when it is written as a function
  int arguments;
  ScalarTypes types;
};

/// Rows in enum order.
inline constexpr std::array<ScalarOpInfo, 27> kScalarOps = [] {
  using O = ScalarOp;
  using T = ScalarTypes;
  return std::array<ScalarOpInfo, 27>{{
      {O::kAdd, "add", "+", 2, T::kNumber},     {O::kSub, "sub", "-", 2, T::kNumber},
      {O::kMul, "mul", "*", 2, T::kNumber},     {O::kDiv, "div", "/", 2, T::kFloat},
      {O::kNeg, "neg", "-", 1, T::kNumber},     {O::kAbs, "abs", "", 1, T::kNumber},
      {O::kMin, "min", "", 2, T::kNumber},      {O::kMax, "max", "", 2, T::kNumber},
      {O::kExp, "exp", "", 1, T::kFloat},       {O::kLog, "log", "", 1, T::kFloat},
      {O::kSqrt, "sqrt", "", 1, T::kFloat},     {O::kRsqrt, "rsqrt", "", 1, T::kFloat},
      {O::kTanh, "tanh", "", 1, T::kFloat},     {O::kSigmoid, "sigmoid", "", 1, T::kFloat},
      {O::kErf, "erf", "", 1, T::kFloat},       {O::kPow, "pow", "", 2, T::kFloat},
      {O::kLt, "lt", "<", 2, T::kCompare},      {O::kLe, "le", "<=", 2, T::kCompare},
      {O::kGt, "gt", ">", 2, T::kCompare},      {O::kGe, "ge", ">=", 2, T::kCompare},
      {O::kEq, "eq", "==", 2, T::kCompare},     {O::kNe, "ne", "!=", 2, T::kCompare},
      {O::kAnd, "and", "&&", 2, T::kTruth},     {O::kOr, "or", "||", 2, T::kTruth},
      {O::kNot, "not", "!", 1, T::kTruth},      {O::kSelect, "select", "", 3, T::kSelect},
      {O::kCast, "cast", "", 1, T::kCast},
  }};
}();

constexpr const ScalarOpInfo& info(ScalarOp op) { return kScalarOps[static_cast<std::size_t>(op)]; }
constexpr std::string_view name(ScalarOp op) { return info(op).name; }

}  // namespace redtune
