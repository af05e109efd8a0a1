// Seeded random numbers. The same seed gives the same sequence on every machine (no std distributions).
#pragma once

#include <cstdint>

namespace redtune {

/// Mixes 64 bits; a counter put through it is a random sequence that can be entered anywhere.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// SplitMix64. Small, fast, good enough for choosing schedules and filling buffers.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(mix64(seed)) {}

  std::uint64_t next() { return mix64(state_++); }
  /// Uniform in [0, bound); bound > 0. Multiply-shift: bias below 2^-32 for the bounds used here.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace redtune
