#include "measure/opencl_device.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "codegen/codegen.h"
#include "measure/build_log.h"
#include "measure/opencl_targets.h"
#include "space/device_name.h"
#include "support/cpu_facts.h"
#include "support/error.h"
#include "support/text.h"
#include "support/unique_handle.h"

namespace redtune {
namespace {

template <typename Handle, cl_int (*release)(Handle)>
struct ClTraits {
  using handle = Handle;
  static Handle invalid() { return nullptr; }
  static void close(Handle h) noexcept { release(h); }
};
using Context = UniqueHandle<ClTraits<cl_context, clReleaseContext>>;
using Queue = UniqueHandle<ClTraits<cl_command_queue, clReleaseCommandQueue>>;
using ProgramHandle = UniqueHandle<ClTraits<cl_program, clReleaseProgram>>;
using Kernel = UniqueHandle<ClTraits<cl_kernel, clReleaseKernel>>;
using Memory = UniqueHandle<ClTraits<cl_mem, clReleaseMemObject>>;
using Event = UniqueHandle<ClTraits<cl_event, clReleaseEvent>>;

std::string error_name(cl_int code) {
  constexpr std::pair<cl_int, const char*> kNames[] = {
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
      {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
      {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
      {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
      {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
  };
  for (const auto& [known, text] : kNames) {
    if (known == code) return std::string(text) + " (" + std::to_string(code) + ")";
  }
  return "OpenCL error " + std::to_string(code);
}

void check(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw CandidateFailure(OutcomeKind::kLaunchFailed, what + ": " + error_name(code));
}

template <typename Value, typename Getter, typename Object, typename Key>
Value value_of(Getter get, Object object, Key key) {
  Value value{};
  check(get(object, key, sizeof value, &value, nullptr), "read a property");
  return value;
}

template <typename Getter, typename Object, typename Key>
std::string text_of(Getter get, Object object, Key key) {
  std::size_t size = 0;
  check(get(object, key, 0, nullptr, &size), "read a property");
  std::string text(size, '\0');
  if (size > 0) check(get(object, key, size, text.data(), nullptr), "read a property");
  return text.substr(0, text.find('\0'));
}

template <typename Value>
Value device_value(cl_device_id device, cl_device_info key) {
  return value_of<Value>(clGetDeviceInfo, device, key);
}

std::string device_text(cl_device_id device, cl_device_info key) {
  return text_of(clGetDeviceInfo, device, key);
}

bool is_cpu(cl_device_id device) {
  return (device_value<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
}

struct NamedDevice {
  std::string id;
  cl_device_id device;
};

std::vector<NamedDevice> named_devices() {
  std::vector<NamedDevice> named;
  cl_uint platforms = 0;
  // Without any driver the loader answers with an error: no platforms, not a failure.
  if (clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS || platforms == 0) return named;
  std::vector<cl_platform_id> ids(platforms);
  check(clGetPlatformIDs(platforms, ids.data(), nullptr), "list platforms");
  bool cpu_named = false;
  for (cl_platform_id platform : ids) {
    cl_uint count = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0)
      continue;
    std::vector<cl_device_id> devices(count);
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr), "list devices");
    for (cl_device_id device : devices) {
      const bool first_cpu = is_cpu(device) && !cpu_named;
      cpu_named = cpu_named || first_cpu;
      named.push_back({first_cpu ? "cpu" : "opencl:" + std::to_string(named.size()), device});
    }
  }
  return named;
}

Target target_of(cl_device_id device) {
  if (is_cpu(device)) {
    return opencl_cpu_target(
        static_cast<int>(device_value<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT)));
  }
  return opencl_gpu_target(
      static_cast<int>(device_value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE)),
      static_cast<std::int64_t>(device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE)));
}

DeviceInfo describe(const NamedDevice& named) {
  const cl_device_id device = named.device;
  const bool cpu = is_cpu(device);
  const auto platform = device_value<cl_platform_id>(device, CL_DEVICE_PLATFORM);
  DeviceInfo info;
  info.id = named.id;
  info.target = target_of(device);
  info.target.units = static_cast<int>(device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  constexpr std::int64_t kMostUsefulShared = 524288;  // a CPU device counts a whole cache that others use too
  info.target.shared_bytes_per_block = std::min(
      static_cast<std::int64_t>(device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE)), kMostUsefulShared);
  info.target.shared_bytes_per_block_optin = info.target.shared_bytes_per_block;
  info.target.atomic_i64 =
      device_text(device, CL_DEVICE_EXTENSIONS).find("cl_khr_int64_base_atomics") != std::string::npos;
  OpenClNames names;
  names.cpu = cpu;
  names.device = device_text(device, CL_DEVICE_NAME);
  names.platform = text_of(clGetPlatformInfo, platform, CL_PLATFORM_NAME);
  names.driver_version = device_text(device, CL_DRIVER_VERSION);
  names.units = info.target.units;
  info.driver = opencl_driver_name(names);
  info.facts["clock_policy"] = cpu ? "governor " + clock_governor() : std::string("not set by redtune");
  info.name = opencl_device_name(names);
  return info;
}

struct LoadedKernel {
  Kernel kernel;
  KernelLaunch launch;
};

class OpenClDriver : public Driver {
 public:
  explicit OpenClDriver(cl_device_id device) : device_(device) {
    cl_int code = CL_SUCCESS;
    context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code));
    check(code, "create a context");
    queue_.reset(clCreateCommandQueue(context_.get(), device_, CL_QUEUE_PROFILING_ENABLE, &code));
    check(code, "create a profiling queue");
  }

  DeviceLimits limits() const override;
  void set_input(const unsigned char* arena, const ArenaLayout& layout) override;
  void load(const Program& program, const Target& target) override;
  bool prime() override;
  void fill(std::size_t buffer, std::int64_t offset, std::int64_t bytes, unsigned char value) override;
  void read(std::size_t buffer, std::int64_t offset, std::span<unsigned char> into) override;
  std::vector<LaunchTime> launch(std::int64_t copy) override;

 private:
  void unload();
  void build(const std::string& text, const std::string& options);
  Memory make_buffer(const BufferSpec& spec);
  Kernel make_kernel(const KernelLaunch& launch);
  void bind(std::int64_t copy);
  Event enqueue(const LoadedKernel& loaded, const std::array<std::size_t, 3>& grid);

  cl_device_id device_;
  Context context_;
  Queue queue_;
  Memory arena_;
  ArenaLayout layout_;
  std::int64_t bound_copy_ = -1;
  ProgramHandle program_;
  std::vector<BufferSpec> specs_;
  std::vector<Memory> buffers_;
  std::vector<LoadedKernel> kernels_;
};

DeviceLimits OpenClDriver::limits() const {
  DeviceLimits limits;
  limits.memory_bytes = static_cast<std::int64_t>(device_value<cl_ulong>(device_, CL_DEVICE_GLOBAL_MEM_SIZE));
  limits.buffer_bytes =
      static_cast<std::int64_t>(device_value<cl_ulong>(device_, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  limits.block_threads =
      static_cast<std::int64_t>(device_value<std::size_t>(device_, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  limits.shared_bytes = static_cast<std::int64_t>(device_value<cl_ulong>(device_, CL_DEVICE_LOCAL_MEM_SIZE));
  return limits;
}

void OpenClDriver::set_input(const unsigned char* arena, const ArenaLayout& layout) {
  // A CPU device reads the shared memory where it lies; a GPU gets its own copy, in its own memory.
  const cl_mem_flags how = is_cpu(device_) ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR;
  cl_int code = CL_SUCCESS;
  arena_.reset(clCreateBuffer(context_.get(), CL_MEM_READ_ONLY | how,
                              static_cast<std::size_t>(layout.bytes()), const_cast<unsigned char*>(arena),
                              &code));
  check(code, "make the input of " + format_bytes(layout.bytes()));
  layout_ = layout;
}

void OpenClDriver::unload() {
  kernels_.clear();
  buffers_.clear();
  specs_.clear();
  program_.reset();
  bound_copy_ = -1;
}

void OpenClDriver::build(const std::string& text, const std::string& options) {
  const char* source = text.data();
  const std::size_t size = text.size();
  cl_int code = CL_SUCCESS;
  program_.reset(clCreateProgramWithSource(context_.get(), 1, &source, &size, &code));
  check(code, "hand over the kernel text");
  code = clBuildProgram(program_.get(), 1, &device_, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return;
  std::string log;
  std::size_t length = 0;
  if (clGetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &length) ==
      CL_SUCCESS) {
    log.resize(length);
    clGetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, length, log.data(), nullptr);
    log.resize(std::min(log.find('\0'), log.size()));
  }
  const std::string line = fatal_line(log);
  throw CandidateFailure(OutcomeKind::kCompileFailed, line.empty() ? error_name(code) + ", empty log" : line,
                         log);
}

Memory OpenClDriver::make_buffer(const BufferSpec& spec) {
  if (spec.kind == BufferKind::kInput) return Memory();
  cl_int code = CL_SUCCESS;
  const auto bytes = static_cast<std::size_t>(spec.bytes() + kGuardBytes);
  Memory memory(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  check(code, "make buffer '" + spec.name + "' of " + format_bytes(spec.bytes()));
  return memory;
}

Kernel OpenClDriver::make_kernel(const KernelLaunch& launch) {
  cl_int code = CL_SUCCESS;
  Kernel kernel(clCreateKernel(program_.get(), launch.entry.c_str(), &code));
  check(code, "find kernel '" + launch.entry + "'");
  std::size_t most = 0;
  check(
      clGetKernelWorkGroupInfo(kernel.get(), device_, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr),
      "ask for the group size of '" + launch.entry + "'");
  const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  if (threads > static_cast<std::int64_t>(most)) {
    throw CandidateFailure(OutcomeKind::kLaunchFailed, "kernel '" + launch.entry + "': block of " +
                                                           std::to_string(threads) +
                                                           " threads, possible are " + std::to_string(most));
  }
  return kernel;
}

void OpenClDriver::load(const Program& program, const Target& target) {
  unload();
  build(full_text(program, target.kind), build_options(target));
  specs_ = program.buffers;
  for (const BufferSpec& spec : specs_) buffers_.push_back(make_buffer(spec));
  for (const KernelLaunch& launch : program.launches) kernels_.push_back({make_kernel(launch), launch});
}

void OpenClDriver::bind(std::int64_t copy) {
  if (copy == bound_copy_) return;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    if (specs_[i].kind != BufferKind::kInput) continue;
    const cl_buffer_region region{static_cast<std::size_t>(layout_.offset(copy) + specs_[i].begin),
                                  static_cast<std::size_t>(std::max<std::int64_t>(specs_[i].bytes(), 1))};
    cl_int code = CL_SUCCESS;
    buffers_[i].reset(
        clCreateSubBuffer(arena_.get(), CL_MEM_READ_ONLY, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    check(code, "choose a copy of input '" + specs_[i].name + "'");
  }
  for (const LoadedKernel& loaded : kernels_) {
    for (std::size_t i = 0; i < loaded.launch.arguments.size(); ++i) {
      const auto index = static_cast<std::size_t>(loaded.launch.arguments[i]);
      const cl_mem handle = buffers_[index].get();
      check(clSetKernelArg(loaded.kernel.get(), static_cast<cl_uint>(i), sizeof handle, &handle),
            "set argument " + std::to_string(i) + " of '" + loaded.launch.entry + "'");
    }
  }
  bound_copy_ = copy;
}

Event OpenClDriver::enqueue(const LoadedKernel& loaded, const std::array<std::size_t, 3>& grid) {
  std::size_t global[3], local[3];
  for (std::size_t i = 0; i < 3; ++i) {
    local[i] = static_cast<std::size_t>(loaded.launch.block[i]);
    global[i] = grid[i] * local[i];
  }
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(queue_.get(), loaded.kernel.get(), 3, nullptr, global, local, 0, nullptr,
                               &event),
        "launch '" + loaded.launch.entry + "'");
  return Event(event);
}

// PoCL compiles a kernel for its group size when it is first launched, and once more for grids of 65536
// work-items or more in a dimension: the smallest grid of the same kind makes it do so. Blocks that do run
// find their own memory.
bool OpenClDriver::prime() {
  if (!is_cpu(device_)) return true;
  constexpr std::int64_t kLargeGrid = 65536;
  constexpr auto kPatience = std::chrono::seconds(1);
  bind(0);
  for (const LoadedKernel& loaded : kernels_) {
    std::array<std::size_t, 3> grid{1, 1, 1};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t block = loaded.launch.block[i];
      if (loaded.launch.grid[i] * block < kLargeGrid) continue;
      grid[i] = static_cast<std::size_t>(std::min(loaded.launch.grid[i], kLargeGrid / block + 1));
    }
    const Event event = enqueue(loaded, grid);
    check(clFlush(queue_.get()), "flush");
    auto running_since = std::chrono::steady_clock::time_point::max();
    for (;;) {
      const auto status = value_of<cl_int>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS);
      if (status <= CL_COMPLETE) break;
      const auto now = std::chrono::steady_clock::now();
      if (status == CL_RUNNING) running_since = std::min(running_since, now);
      if (now > running_since && now - running_since > kPatience) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
  return true;
}

void OpenClDriver::fill(std::size_t buffer, std::int64_t offset, std::int64_t bytes, unsigned char value) {
  if (bytes == 0) return;
  check(clEnqueueFillBuffer(queue_.get(), buffers_[buffer].get(), &value, 1, static_cast<std::size_t>(offset),
                            static_cast<std::size_t>(bytes), 0, nullptr, nullptr),
        "fill buffer '" + specs_[buffer].name + "'");
}

void OpenClDriver::read(std::size_t buffer, std::int64_t offset, std::span<unsigned char> into) {
  if (into.empty()) return;
  check(clEnqueueReadBuffer(queue_.get(), buffers_[buffer].get(), CL_TRUE, static_cast<std::size_t>(offset),
                            into.size(), into.data(), 0, nullptr, nullptr),
        "read buffer '" + specs_[buffer].name + "'");
}

std::vector<LaunchTime> OpenClDriver::launch(std::int64_t copy) {
  bind(copy);
  std::vector<Event> events;
  events.reserve(kernels_.size());
  for (const LoadedKernel& loaded : kernels_) {
    std::array<std::size_t, 3> grid;
    std::transform(loaded.launch.grid.begin(), loaded.launch.grid.end(), grid.begin(),
                   [](std::int64_t size) { return static_cast<std::size_t>(size); });
    events.push_back(enqueue(loaded, grid));
  }
  check(clFinish(queue_.get()), "finish");
  std::vector<LaunchTime> times;
  for (const Event& event : events) {
    check(std::min(value_of<cl_int>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS),
                   CL_COMPLETE),
          "run");
    LaunchTime time;
    // A device without these times leaves zeros, which the sampler refuses.
    const auto read_time = [&](cl_profiling_info which, std::uint64_t& into) {
      cl_ulong value = 0;
      if (clGetEventProfilingInfo(event.get(), which, sizeof value, &value, nullptr) == CL_SUCCESS)
        into = value;
    };
    read_time(CL_PROFILING_COMMAND_START, time.start_nanoseconds);
    read_time(CL_PROFILING_COMMAND_END, time.end_nanoseconds);
    times.push_back(time);
  }
  return times;
}

}  // namespace

std::vector<DeviceInfo> list_opencl_devices(std::string& note) {
  std::vector<DeviceInfo> devices;
  for (const NamedDevice& named : named_devices()) devices.push_back(describe(named));
  if (devices.empty()) note = "no OpenCL device: no driver found (for the CPU install pocl-opencl-icd)";
  return devices;
}

std::unique_ptr<Driver> open_opencl_device(const DeviceUse& use) {
  for (const NamedDevice& named : named_devices()) {
    if (named.id == use.id) return std::make_unique<OpenClDriver>(named.device);
  }
  throw NoDevice("no OpenCL device '" + use.id + "': its driver does not list it");
}

}  // namespace redtune
