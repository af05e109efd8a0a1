// CUDA devices, through the driver's interface; runs in worker processes only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/device.h"
#include "measure/driver.h"

namespace redtune {

/// Every device that the driver shows (CUDA_VISIBLE_DEVICES is the driver's), as "cuda:0", "cuda:1", ..., or
/// none and a note that says what is missing: driver, GPU or NVRTC. Each says which clock it will be timed
/// by; where that is not CUPTI, the note says why.
std::vector<DeviceInfo> list_cuda_devices(std::string& note);

/// Throws NoDevice when there is no such device, or when the clock that is asked for cannot be had: times of
/// two clocks must never meet. For compiling alone no context is made and no memory of the device is taken.
std::unique_ptr<Driver> open_cuda_device(const DeviceUse& use);

}  // namespace redtune
