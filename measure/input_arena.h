// The input of a task as timing needs it: one block of memory with as many copies of the input as it takes
// for a copy to have left the caches before its turn comes again.
#pragma once

#include <cstdint>
#include <span>

#include "measure/shared_memory.h"

namespace redtune {

/// Bytes behind every buffer that no kernel may change.
inline constexpr std::int64_t kGuardBytes = 64;

struct ArenaLayout {
  std::int64_t input_bytes = 0;
  std::int64_t stride_bytes = 0;  // from copy to copy: a multiple of 128, with a guard behind each
  std::int64_t copies = 1;
  std::int64_t bytes() const { return stride_bytes * copies; }
  std::int64_t offset(std::int64_t copy) const { return stride_bytes * copy; }
  friend bool operator==(const ArenaLayout&, const ArenaLayout&) = default;
};

/// Cold: copies of more than 1.25 times the last-level cache together, within `most_bytes`, and one copy
/// where the input alone is that large. Hot: one copy.
ArenaLayout arena_layout(std::int64_t input_bytes, std::int64_t last_level_cache_bytes, bool cold,
                         std::int64_t most_bytes);

/// Shared memory of that layout, every copy filled from `input`.
SharedMemory make_arena(const ArenaLayout& layout, std::span<const unsigned char> input);

}  // namespace redtune
