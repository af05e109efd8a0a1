#include "deploy/host.h"

#include <vector>

#include "deploy/failure.h"
#include "deploy/lookup.h"

namespace redtune::deploy {
namespace {

// All devices in the order of their platforms, by the names of `redtune devices`.
std::vector<std::pair<std::string, cl_device_id>> named_devices() {
  const OpenClFunctions& cl = opencl();
  std::vector<std::pair<std::string, cl_device_id>> named;
  cl_uint count = 0;
  if (cl.GetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return named;
  std::vector<cl_platform_id> platforms(count);
  cl.GetPlatformIDs(count, platforms.data(), nullptr);
  bool cpu_named = false;
  for (cl_platform_id platform : platforms) {
    if (cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr);
    for (cl_device_id device : devices) {
      cl_device_type type = 0;
      cl.GetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
      const bool first_cpu = (type & CL_DEVICE_TYPE_CPU) != 0 && !cpu_named;
      cpu_named = cpu_named || first_cpu;
      named.emplace_back(first_cpu ? "cpu" : "opencl:" + std::to_string(named.size()), device);
    }
  }
  return named;
}

}  // namespace

Host::Host(const std::string& device) {
  const auto named = named_devices();
  if (named.empty()) {
    throw Failure(REDTUNE_NO_DEVICE, "no OpenCL device: no driver found (for the CPU install pocl-opencl-icd)");
  }
  std::string present;
  for (const auto& [name, id] : named) {
    present += (present.empty() ? "" : ", ") + name;
    if (device_ == nullptr && (device.empty() || device == name)) device_ = id;
  }
  if (device_ == nullptr) throw Failure(REDTUNE_NO_DEVICE, "no device '" + device + "'; there are " + present);
  name_ = device_name_of(device_);
  cl_int code = CL_SUCCESS;
  context_.reset(opencl().CreateContext(nullptr, 1, &device_, nullptr, nullptr, &code));
  check_cl(code, REDTUNE_NO_DEVICE, "make a context");
  queue_.reset(opencl().CreateCommandQueue(context_.get(), device_, 0, &code));
  check_cl(code, REDTUNE_NO_DEVICE, "make a queue");
}

std::shared_ptr<OpenClKernel> Host::kernel(const ConfigIndex& store, const Operator& op, const std::string& key,
                                           Grade lowest, Answer& answer) {
  answer = find_opencl(store, op, key, device_, lowest);
  const std::lock_guard lock(mutex_);
  const Config& config = *answer.config;
  std::shared_ptr<OpenClKernel>& kernel = kernels_[store.directory() + "\n" + config.kernel->file + "\n" + key];
  if (!kernel) {
    kernel = std::make_shared<OpenClKernel>(context_.get(), device_, store.directory(), config, cache_);
  }
  return kernel;
}

void Host::run(OpenClKernel& kernel, std::span<const unsigned char> input, std::span<unsigned char> output) {
  const OpenClFunctions& cl = opencl();
  const std::lock_guard lock(mutex_);
  const auto make = [&](cl_mem_flags flags, std::size_t bytes, const void* from) {
    cl_int code = CL_SUCCESS;
    ClMemory memory;
    if (bytes == 0) return memory;
    memory.reset(cl.CreateBuffer(context_.get(), flags, bytes, const_cast<void*>(from), &code));
    check_cl(code, REDTUNE_OUT_OF_MEMORY, "make a buffer of " + std::to_string(bytes) + " bytes");
    return memory;
  };
  const ClMemory in = make(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, input.size(), input.data());
  const ClMemory out = make(CL_MEM_READ_WRITE, output.size(), nullptr);
  kernel.launch(queue_.get(), in.get(), out.get(), 0, nullptr, nullptr);
  if (out) {
    check_cl(cl.EnqueueReadBuffer(queue_.get(), out.get(), CL_TRUE, 0, output.size(), output.data(), 0, nullptr,
                                  nullptr),
             REDTUNE_LAUNCH_FAILED, "read the output");
  } else {
    check_cl(cl.Finish(queue_.get()), REDTUNE_LAUNCH_FAILED, "finish");
  }
}

}  // namespace redtune::deploy
