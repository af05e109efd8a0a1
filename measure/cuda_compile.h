// Kernel text to an image that the driver loads, through the kernel cache that all workers share.
#pragma once

#include <vector>

#include "codegen/program.h"
#include "space/target.h"

namespace redtune {

/// A cubin for the target's architecture; where NVRTC is older than the device, PTX of the newest
/// architecture that it knows, ended by a zero. Throws CandidateFailure with the fatal line and the whole
/// log, and for what the compiled kernels need and the target has not; NoDevice without NVRTC.
std::vector<char> compile_for_cuda(const Program& program, const Target& target);

}  // namespace redtune
