// OpenCL devices. The one file pair that knows OpenCL; runs in worker processes only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/device.h"
#include "measure/driver.h"

namespace redtune {

/// Every OpenCL device, or none and a note that says what is missing. The first CPU device is called "cpu",
/// the others "opencl:N" by their place in the order of the platforms. Throws CandidateFailure when a driver
/// misbehaves.
std::vector<DeviceInfo> list_opencl_devices(std::string& note);

/// Throws NoDevice when `use.id` names none. The clock is always that of event profiling.
std::unique_ptr<Driver> open_opencl_device(const DeviceUse& use);

}  // namespace redtune
