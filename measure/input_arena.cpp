#include "measure/input_arena.h"

#include <algorithm>
#include <cstring>

namespace redtune {
namespace {

constexpr std::int64_t kAlignment = 128;  // what OpenCL asks of sub-buffers on CPU devices, and a GPU's line

}  // namespace

ArenaLayout arena_layout(std::int64_t input_bytes, std::int64_t last_level_cache_bytes, bool cold,
                         std::int64_t most_bytes) {
  ArenaLayout layout;
  layout.input_bytes = input_bytes;
  layout.stride_bytes = (input_bytes + kGuardBytes + kAlignment - 1) / kAlignment * kAlignment;
  if (!cold || input_bytes == 0) return layout;
  const std::int64_t enough = last_level_cache_bytes + last_level_cache_bytes / 4;
  if (input_bytes > enough) return layout;
  const std::int64_t fitting = std::max<std::int64_t>(most_bytes / layout.stride_bytes, 1);
  layout.copies = std::min(enough / layout.stride_bytes + 1, fitting);
  return layout;
}

SharedMemory make_arena(const ArenaLayout& layout, std::span<const unsigned char> input) {
  SharedMemory arena = SharedMemory::create("redtune-input", layout.bytes());
  if (input.empty()) return arena;
  for (std::int64_t copy = 0; copy < layout.copies; ++copy) {
    std::memcpy(arena.data() + layout.offset(copy), input.data(), input.size());
  }
  return arena;
}

}  // namespace redtune
