// Elapsed wall time. Header only, no state.
#pragma once

#include <chrono>

namespace redtune {

/// Seconds of the steady clock; only differences mean something.
inline double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace redtune
