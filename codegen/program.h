// What a schedule becomes: kernel text with its launches and buffers. Everything a device needs to run it and
// nothing about how it was made. Travels as JSON to workers and into configs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "space/dtype.h"
#include "support/json.h"

namespace redtune {

enum class BufferKind : std::uint8_t { kInput, kOutput, kScratch };

/// One device buffer. Kernel arguments are pointers to buffers, in the order of KernelLaunch::arguments.
struct BufferSpec {
  std::string name;
  BufferKind kind = BufferKind::kInput;
  DType dtype = DType::kF32;
  std::int64_t elements = 0;  // storage elements; inputs: including what strides and offset walk over
  std::int64_t bytes() const { return elements * bytes_of(dtype); }
  friend bool operator==(const BufferSpec&, const BufferSpec&) = default;
};

/// One kernel launch, in order. Sizes are blocks and threads (OpenCL global size = grid * block).
struct KernelLaunch {
  std::string entry;
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int32_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;  // static shared memory that the text declares (for limits and reports)
  std::vector<int> arguments;     // indices into Program::buffers
  friend bool operator==(const KernelLaunch&, const KernelLaunch&) = default;
};

/// Launches run in order on one stream; together they are one repetition: nothing else must be reset.
struct Program {
  std::string text;  // without prelude
  std::vector<BufferSpec> buffers;
  std::vector<KernelLaunch> launches;
  friend bool operator==(const Program&, const Program&) = default;
};

Json to_json(const Program& program);
/// Throws UserError naming `origin` and field.
Program parse_program(const Json& json, const std::string& origin);

}  // namespace redtune
