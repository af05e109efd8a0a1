#include "support/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/rng.h"

namespace redtune {
namespace {

static_assert(f16_from_f32(1.0f) == 0x3c00 && bf16_from_f32(1.0f) == 0x3f80, "usable in constant expressions");

float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
bool f16_nan(std::uint16_t h) { return (h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0; }
bool bf16_nan(std::uint16_t h) { return (h & 0x7f80) == 0x7f80 && (h & 0x7f) != 0; }

// The value by the definition of the format, in f64 where it is exact.
double f16_by_definition(std::uint16_t h) {
  const double sign = h & 0x8000 ? -1 : 1;
  const int exponent = (h >> 10) & 31, mantissa = h & 0x3ff;
  if (exponent == 31) return sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25));
}

TEST(F16, EveryValueIsExactAndComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto h = static_cast<std::uint16_t>(bits);
    const float value = f32_from_f16(h);
    if (f16_nan(h)) {
      ASSERT_TRUE(std::isnan(value)) << std::hex << bits;
      ASSERT_EQ(f16_from_f32(value), h | 0x200) << "sign and payload stay";
      continue;
    }
    ASSERT_EQ(static_cast<double>(value), f16_by_definition(h)) << std::hex << bits;
    ASSERT_EQ(std::signbit(value), (h & 0x8000) != 0);
    ASSERT_EQ(f16_from_f32(value), h) << std::hex << bits;
  }
}

TEST(F16, HalfwayGoesToEvenAndItsNeighboursDoNot) {
  for (std::uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits), high = static_cast<std::uint16_t>(bits + 1);
    const double middle = (f16_by_definition(low) + f16_by_definition(high)) / 2;
    const auto half = static_cast<float>(middle);  // exact: one more bit than f16
    const std::uint16_t even = low & 1 ? high : low;
    ASSERT_EQ(f16_from_f32(half), even) << std::hex << bits;
    ASSERT_EQ(f16_from_f32(std::nextafter(half, 0.0f)), low) << std::hex << bits;
    ASSERT_EQ(f16_from_f32(std::nextafter(half, HUGE_VALF)), high) << std::hex << bits;
    ASSERT_EQ(f16_from_f32(-half), even | 0x8000);
    // From f64 at once: a first rounding to f32 would turn "just above the middle" into a tie.
    ASSERT_EQ(f16_from_f64(std::nextafter(middle, HUGE_VAL)), high) << std::hex << bits;
    ASSERT_EQ(f16_from_f64(std::nextafter(middle, 0.0)), low) << std::hex << bits;
    ASSERT_EQ(f16_from_f64(middle), even);
  }
}

TEST(F16, OverflowsToInfinityFrom65520) {
  EXPECT_EQ(f16_from_f32(65504.0f), 0x7bff);
  EXPECT_EQ(f16_from_f32(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(f16_from_f32(65520.0f), 0x7c00);
  EXPECT_EQ(f16_from_f32(-1e30f), 0xfc00);
  EXPECT_EQ(f16_from_f32(HUGE_VALF), 0x7c00);
  EXPECT_EQ(f16_from_f64(1e300), 0x7c00);
  EXPECT_EQ(f16_from_f64(-HUGE_VAL), 0xfc00);
}

TEST(F16, UnderflowsToSignedZero) {
  EXPECT_EQ(f16_from_f32(0x1p-25f), 0);
  EXPECT_EQ(f16_from_f32(std::nextafter(0x1p-25f, 1.0f)), 1);
  EXPECT_EQ(f16_from_f32(-1e-40f), 0x8000);
  EXPECT_EQ(f16_from_f64(-5e-324), 0x8000);
}

TEST(Halves, NanWithOnlyLowPayloadBitsStaysNan) {
  for (std::uint32_t payload : {0x1u, 0xffffu, 0x1fffu, 0x7fffffu, 0x400000u}) {
    for (std::uint32_t sign : {0u, 0x80000000u}) {
      const float nan = from_bits(sign | 0x7f800000u | payload);
      EXPECT_TRUE(f16_nan(f16_from_f32(nan))) << std::hex << payload;
      EXPECT_TRUE(bf16_nan(bf16_from_f32(nan))) << std::hex << payload;
      EXPECT_EQ(f16_from_f32(nan) >> 15, sign >> 31);
      EXPECT_EQ(bf16_from_f32(nan) >> 15, sign >> 31);
    }
  }
  EXPECT_TRUE(f16_nan(f16_from_f64(std::nan(""))));
  EXPECT_TRUE(bf16_nan(bf16_from_f64(std::nan(""))));
}

TEST(Bf16, EveryValueComesBackAndHalfwayGoesToEven) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto h = static_cast<std::uint16_t>(bits);
    if (bf16_nan(h)) {
      ASSERT_EQ(bf16_from_f32(f32_from_bf16(h)), h | 0x40);
      continue;
    }
    ASSERT_EQ(bf16_from_f32(f32_from_bf16(h)), h);
    if ((h & 0x7fff) == 0x7f80) continue;
    const auto high = static_cast<std::uint16_t>(h + 1);
    ASSERT_EQ(bf16_from_f32(from_bits(bits << 16 | 0x8000)), h & 1 ? high : h);
    ASSERT_EQ(bf16_from_f32(from_bits(bits << 16 | 0x7fff)), h);
    ASSERT_EQ(bf16_from_f32(from_bits(bits << 16 | 0x8001)), high);
  }
}

TEST(RoundToOdd, KeepsExactValuesAndLandsOnOddOtherwise) {
  Rng rng(5);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::bit_cast<double>(rng.next());
    if (std::isnan(value)) continue;
    const float rounded = f32_round_to_odd(value);
    if (static_cast<double>(rounded) == value) continue;
    ASSERT_TRUE(std::bit_cast<std::uint32_t>(rounded) & 1) << value;
    const double low = std::nextafter(rounded, -HUGE_VALF), high = std::nextafter(rounded, HUGE_VALF);
    ASSERT_TRUE(low <= value && value <= high) << value;
  }
}

}  // namespace
}  // namespace redtune
