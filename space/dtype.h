// Element types: one table, one row each.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace redtune {

enum class DType : std::uint8_t { kBool, kI8, kU8, kI32, kI64, kF16, kBF16, kF32, kF64 };

struct DTypeInfo {
  DType id;
  std::string_view name;  // as in operator files: "f32"
  int bytes;              // storage size
  bool is_float;
  DType accumulator;     // what sum and prod accumulate in: f16, bf16 -> f32; integers -> i64
  std::string_view npy;  // NumPy descr; bf16 travels as "<u2" (NumPy has no word for it)
};

/// Rows in enum order.
inline constexpr std::array<DTypeInfo, 9> kDTypes{{
    {DType::kBool, "bool", 1, false, DType::kI64, "|b1"},
    {DType::kI8, "i8", 1, false, DType::kI64, "|i1"},
    {DType::kU8, "u8", 1, false, DType::kI64, "|u1"},
    {DType::kI32, "i32", 4, false, DType::kI64, "<i4"},
    {DType::kI64, "i64", 8, false, DType::kI64, "<i8"},
    {DType::kF16, "f16", 2, true, DType::kF32, "<f2"},
    {DType::kBF16, "bf16", 2, true, DType::kF32, "<u2"},
    {DType::kF32, "f32", 4, true, DType::kF32, "<f4"},
    {DType::kF64, "f64", 8, true, DType::kF64, "<f8"},
}};

constexpr const DTypeInfo& info(DType t) { return kDTypes[static_cast<std::size_t>(t)]; }
constexpr std::string_view name(DType t) { return info(t).name; }
constexpr int bytes_of(DType t) { return info(t).bytes; }

/// Throws UserError "unknown dtype ...; did you mean ...".
DType parse_dtype(std::string_view word);

}  // namespace redtune
