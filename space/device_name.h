// What devices are called in logs and configs. Whoever looks a config up must spell the name as who measured did.
#pragma once

#include <string>
#include <string_view>

namespace redtune {

/// What an OpenCL driver reports of a device, as text.
struct OpenClNames {
  bool cpu = false;
  std::string device, platform, driver_version;
  int units = 1;
};

/// "PoCL 3.1+debian"
std::string opencl_driver_name(const OpenClNames& names);
/// "cpu: Intel(R) Xeon(R) Processor, 2 units, PoCL 3.1+debian"; the model of a CPU comes from the system.
std::string opencl_device_name(const OpenClNames& names);

/// "NVIDIA H200 (GPU-01234567-...)"; without an identifier the name alone.
std::string cuda_device_name(const std::string& name, const std::string& uuid);

/// The name without what tells one board from its twins: "NVIDIA H200". Times of one board hold for another of the
/// same model.
std::string_view device_model(std::string_view name);

}  // namespace redtune
