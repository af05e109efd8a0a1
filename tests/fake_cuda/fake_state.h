// What the three fake libraries in one file share: the driver, CUPTI and NVRTC.
#pragma once

#include <cstdint>

namespace redtune::fake {

/// A launch is about to be queued: CUPTI's subscriber hears of it. Returns its correlation id.
std::uint32_t tell_launch(std::uint32_t function);

/// A kernel (or memset) has run.
void record_activity(bool kernel, std::uint32_t correlation, std::uint64_t start, std::uint64_t end);

}  // namespace redtune::fake
