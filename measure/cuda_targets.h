// Targets of CUDA devices: what a driver reports, on top of what is known of the architecture.
#pragma once

#include <functional>
#include <string>

#include "space/target.h"

namespace redtune {

/// `attribute`: value of a CudaDeviceAttribute, 0 when the driver does not tell. The shipped target of the
/// architecture gives what no driver tells (native atomics, useful vector width); an architecture without one
/// takes that of the next older. What is unknown keeps the shipped number.
Target cuda_target(const std::function<int(int)>& attribute);

}  // namespace redtune
