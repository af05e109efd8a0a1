// Targets of OpenCL devices: what a driver reports, and what it leaves out or gets wrong.
#pragma once

#include <cstdint>

#include "space/target.h"

namespace redtune {

/// OpenCL reports neither warps nor useful group sizes of a CPU device, and its cache is often that of one
/// slice: these come from the operating system, or from what kernels on CPU devices were measured to like.
/// `float_lanes`: native width of float vectors.
Target opencl_cpu_target(int float_lanes);

Target opencl_gpu_target(int most_group_threads, std::int64_t cache_bytes);

}  // namespace redtune
