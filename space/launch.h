// Launch data: the buffers and launches of a program, without its text. What a config stores beside its schedule.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "space/dtype.h"
#include "support/json.h"

namespace redtune {

/// kScratch: contents undefined before every repetition. kCounter: zeroed once when allocated; every launch leaves it
/// zero (tickets of the last-block-done mapping).
enum class BufferKind : std::uint8_t { kInput, kOutput, kScratch, kCounter };

/// One device buffer. Kernel arguments are pointers to buffers, in the order of KernelLaunch::arguments.
struct BufferSpec {
  std::string name;
  BufferKind kind = BufferKind::kInput;
  DType dtype = DType::kF32;
  std::int64_t elements = 0;  // storage elements; inputs: including what strides and offset walk over
  std::int64_t begin = 0;     // inputs: first byte in the block that holds them all; a multiple of 128
  std::int64_t bytes() const { return elements * bytes_of(dtype); }
  friend bool operator==(const BufferSpec&, const BufferSpec&) = default;
};

/// One kernel launch, in order. Sizes are blocks and threads (OpenCL global size = grid * block).
struct KernelLaunch {
  std::string entry;
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int32_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;  // static shared memory that the text declares (for limits and reports)
  std::vector<int> arguments;     // indices into the buffers
  std::int64_t dynamic_shared_bytes = 0;  // on top, sized by the launch (CUDA only)
  bool cooperative = false;  // blocks wait for each other: all must be resident (CUDA only)
  friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};

/// As programs and configs write them; `bytes` is told for readers and must agree.
Json to_json(const BufferSpec& buffer);
Json to_json(const KernelLaunch& launch);
/// Throw UserError naming file and field.
BufferSpec parse_buffer(JsonObject json);
/// `buffers`: how many there are; arguments must name one of them.
KernelLaunch parse_launch(JsonObject json, std::size_t buffers);

}  // namespace redtune
