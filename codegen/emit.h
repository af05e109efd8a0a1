// The emitter: kernel plan -> text in the common subset of CUDA C++ and OpenCL C. Prints, decides nothing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/plan.h"

namespace redtune {

/// Order of partial results in their buffer: by output, its partials side by side (a row kernel reads them), or by
/// block, all outputs of a block side by side (a column kernel reads them).
enum class PartialLayout : std::uint8_t { kByOutput, kByBlock };

struct EmitOptions {
  PartialLayout partials = PartialLayout::kByOutput;
  std::int64_t outputs = 1;  // number of outputs: row length of kByBlock
};

/// Text of one kernel, without the lines that whole texts share (index type).
std::string emit_kernel(const KernelPlan& plan, const EmitOptions& options);

/// Text of the kernel that fills the output with the number of type `type` that has these bits; `chunk` elements per
/// block of `threads`.
std::string emit_fill(DType type, std::uint64_t bits, DType result, std::int64_t outputs, std::int64_t chunk,
                      int threads, const std::string& entry = "rt_fill");

}  // namespace redtune
