// f16 (IEEE binary16) and bf16 as 16 bits, to and from f32 and f64. To 16 bits: round to nearest, ties to even;
// NaN stays NaN whatever its payload. From 16 bits: exact.
#pragma once

#include <bit>
#include <cstdint>

namespace redtune {

constexpr float f32_from_bf16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

constexpr std::uint16_t bf16_from_f32(float value) {
  std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  // Rounding could carry a NaN into infinity, and cutting could drop its only payload bits: set the quiet bit.
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<std::uint16_t>(bits >> 16);
}

constexpr float f32_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000u} << 16;
  const std::uint32_t exponent = (bits >> 10) & 31u;
  const std::uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // A subnormal is mantissa * 2^-24, which f32 holds exactly.
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(static_cast<float>(mantissa) * 0x1p-24f);
  return std::bit_cast<float>(sign | magnitude);
}

constexpr std::uint16_t f16_from_f32(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  } else if (magnitude >= 0x477ff000u) {  // 65520, halfway to what would be 65536: infinity
    result = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {  // 2^-14, the smallest normal f16
    magnitude -= 112u << 23;
    result = (magnitude + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  } else if (magnitude > 0x33000000u) {  // above 2^-25, half of the smallest subnormal
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t full = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t rest = full & ((1u << shift) - 1u), half = 1u << (shift - 1u);
    result = full >> shift;
    if (rest > half || (rest == half && (result & 1u))) ++result;
  }
  return static_cast<std::uint16_t>(sign | result);
}

/// f64 to f32 rounded to odd: rounding that once more to 16 bits is the same as rounding the f64 at once.
constexpr float f32_round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  if (static_cast<double>(nearest) == value || value != value || (bits & 1u)) return nearest;
  const double size = value < 0 ? -value : value;
  const double nearest_size = static_cast<double>(nearest < 0 ? -nearest : nearest);
  bits = nearest_size < size ? bits + 1 : bits - 1;
  return std::bit_cast<float>(bits);
}

constexpr std::uint16_t f16_from_f64(double value) { return f16_from_f32(f32_round_to_odd(value)); }
constexpr std::uint16_t bf16_from_f64(double value) { return bf16_from_f32(f32_round_to_odd(value)); }

}  // namespace redtune
