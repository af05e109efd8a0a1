// Which config serves an operator on an actual device: lookup, the device's limits and the caller's demand together.
#pragma once

#include <string>

#include "configs/config_index.h"
#include "deploy/cuda_kernel.h"
#include "deploy/opencl_kernel.h"

namespace redtune::deploy {

/// The best answer that has a kernel computing exactly `op` and that fits the device. Throws Failure (REDTUNE_NOT_FOUND)
/// when there is none of at least the grade `lowest`, saying what there is instead.
Answer find_opencl(const ConfigIndex& store, const Operator& op, const std::string& key, cl_device_id device,
                   Grade lowest);
Answer find_cuda(const ConfigIndex& store, const Operator& op, const std::string& key, const CudaPlace& place,
                 Grade lowest);

}  // namespace redtune::deploy
