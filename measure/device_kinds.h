// The kinds of devices, best first. To add one: its prelude, its driver file pair, and its row.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/device.h"
#include "measure/driver.h"

namespace redtune {

struct DeviceKind {
  std::string_view word;  // "opencl"
  /// Runs in a worker process. `note` says what is missing when there is none.
  std::vector<DeviceInfo> (*list)(std::string& note);
  bool (*owns)(std::string_view device_id);
  /// Runs in a worker process. Throws NoDevice.
  std::unique_ptr<Driver> (*open)(const DeviceUse& use);
};

/// The one list.
std::span<const DeviceKind> device_kinds();

/// The kind that `device_id` belongs to; null when none owns it.
const DeviceKind* kind_of_device(std::string_view device_id);

/// False when compiling and measuring would fight for the same cores.
bool measures_while_compiling(const Target& target);

}  // namespace redtune
