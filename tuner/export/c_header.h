// A C header with everything to run one reduction: the kernel and code that loads and launches it, by the CUDA driver
// (cubins inside) or by OpenCL (text inside). Needs cuda.h or CL/cl.h and nothing of redtune.
#pragma once

#include <string>

#include "tuner/export/shipped_kernel.h"

namespace redtune {

/// `redtune_sum_f32_...`: what every name in the header begins with.
std::string c_prefix(const ShippedKernel& kernel);

/// A CUDA kernel needs at least one image. C99 and C++.
std::string c_header(const ShippedKernel& kernel);

}  // namespace redtune
