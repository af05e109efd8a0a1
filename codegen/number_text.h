// Integers in kernel text. For the emitters of this folder.
#pragma once

#include <cstdint>
#include <string>

namespace redtune {

inline std::string num(std::int64_t value) { return std::to_string(value); }

}  // namespace redtune
