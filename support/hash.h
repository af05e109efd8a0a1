// Stable 64-bit hashes for keys and caches (FNV-1a, finished by a mixer). Not for security.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redtune {

/// The same text gives the same value on every machine and in every version.
constexpr std::uint64_t hash64(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325ull) {
  std::uint64_t h = seed;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ull;
  return h ^ (h >> 32);
}

/// 16 lower-case hex digits.
std::string hex64(std::uint64_t value);

}  // namespace redtune
