#include "measure/device_kinds.h"

#include "measure/cuda_device.h"
#include "measure/opencl_device.h"

namespace redtune {
namespace {

bool is_opencl(std::string_view id) { return id == "cpu" || id.starts_with("opencl:"); }

bool is_cuda(std::string_view id) { return id.starts_with("cuda:"); }

constexpr DeviceKind kKinds[] = {
    {"cuda", list_cuda_devices, is_cuda, open_cuda_device},
    {"opencl", list_opencl_devices, is_opencl, open_opencl_device},
};

}  // namespace

std::span<const DeviceKind> device_kinds() { return kKinds; }

const DeviceKind* kind_of_device(std::string_view device_id) {
  for (const DeviceKind& kind : kKinds) {
    if (kind.owns(device_id)) return &kind;
  }
  return nullptr;
}

bool measures_while_compiling(const Target& target) { return target.kind != TargetKind::kOpenClCpu; }

}  // namespace redtune
