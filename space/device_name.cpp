#include "space/device_name.h"

#include "support/cpu_facts.h"
#include "support/text.h"

namespace redtune {

std::string opencl_driver_name(const OpenClNames& names) {
  return (names.platform == "Portable Computing Language" ? "PoCL" : names.platform) + " " +
         names.driver_version;
}

std::string opencl_device_name(const OpenClNames& names) {
  const std::string model = names.cpu ? "cpu: " + cpu_model() : trim(names.device);
  return model + ", " + std::to_string(names.units) + (names.units == 1 ? " unit, " : " units, ") +
         opencl_driver_name(names);
}

std::string cuda_device_name(const std::string& name, const std::string& uuid) {
  return name + (uuid.empty() ? "" : " (" + uuid + ")");
}

std::string_view device_model(std::string_view name) { return name.substr(0, name.rfind(" (GPU-")); }

}  // namespace redtune
