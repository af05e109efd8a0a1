// Integer arithmetic that several folders need. Header only, no state.
#pragma once

#include <cstdint>

namespace redtune {

/// The least integer not below a / b, for a >= 0 and b > 0; does not overflow.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace redtune
