#include "support/hash.h"

namespace redtune {

std::string hex64(std::uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) result[i] = kDigits[value & 15];
  return result;
}

}  // namespace redtune
