#include "deploy/opencl_kernel.h"

#include <algorithm>
#include <array>

#include "deploy/failure.h"
#include "space/device_name.h"
#include "support/text.h"

namespace redtune::deploy {
namespace {

template <typename Value, typename Getter, typename Object, typename Key>
Value cl_value(Getter get, Object object, Key key, const char* what) {
  Value value{};
  check_cl(get(object, key, sizeof value, &value, nullptr), REDTUNE_BAD_INPUT, what);
  return value;
}

template <typename Getter, typename Object, typename Key>
std::string cl_text(Getter get, Object object, Key key, const char* what) {
  std::size_t size = 0;
  check_cl(get(object, key, 0, nullptr, &size), REDTUNE_BAD_INPUT, what);
  std::string text(size, '\0');
  if (size > 0) check_cl(get(object, key, size, text.data(), nullptr), REDTUNE_BAD_INPUT, what);
  return text.substr(0, text.find('\0'));
}

template <typename Value>
Value device_value(cl_device_id device, cl_device_info key) {
  return cl_value<Value>(opencl().GetDeviceInfo, device, key, "ask the device (is it a valid cl_device_id?)");
}

std::string device_text(cl_device_id device, cl_device_info key) {
  return cl_text(opencl().GetDeviceInfo, device, key, "ask the device (is it a valid cl_device_id?)");
}

OpenClNames names_of(cl_device_id device) {
  OpenClNames names;
  names.cpu = (device_value<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  names.device = device_text(device, CL_DEVICE_NAME);
  names.platform = cl_text(opencl().GetPlatformInfo, device_value<cl_platform_id>(device, CL_DEVICE_PLATFORM),
                           CL_PLATFORM_NAME, "ask the platform");
  names.driver_version = device_text(device, CL_DRIVER_VERSION);
  names.units = static_cast<int>(device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS));
  return names;
}

std::string bytes_text(std::size_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

void check_cl(cl_int code, redtune_status status, const std::string& what) {
  if (code == CL_SUCCESS) return;
  const bool memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY;
  throw Failure(memory ? REDTUNE_OUT_OF_MEMORY : status, what + ": " + opencl_error_text(code));
}

std::string device_name_of(cl_device_id device) { return opencl_device_name(names_of(device)); }

std::string why_not_on(cl_device_id device, const Config& config) {
  if (!config.kernel) return "it has no kernel text (written by an older redtune; tune again)";
  if (config.kernel->language != KernelLanguage::kOpenCl) return "its kernel is CUDA";
  const auto threads = static_cast<std::int64_t>(device_value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  const auto shared = static_cast<std::int64_t>(device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE));
  for (const KernelLaunch& launch : config.launches) {
    const std::int64_t block = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (block > threads) return "its blocks have " + std::to_string(block) + " threads, the device allows " +
                                std::to_string(threads);
    if (launch.shared_bytes > shared) return "it needs " + std::to_string(launch.shared_bytes) +
                                             " bytes of local memory, the device has " + std::to_string(shared);
  }
  return "";
}

struct OpenClKernel::Lane {
  std::mutex mutex;
  ClQueue queue;  // retained: while the lane lives no other queue gets its address
  bool in_order = true;
  bool dirty = false;  // a launch broke off between kernels: counters may hold anything
  std::vector<ClKernel> kernels;
  std::vector<ClMemory> workspace;  // per buffer; none for input and output
  ClEvent last;                     // out-of-order queues: the end of the launch before
};

OpenClKernel::OpenClKernel(cl_context context, cl_device_id device, const std::string& store,
                           const Config& config, const BinaryCache& cache)
    : device_(device), launches_(config.launches), buffers_(config.buffers), file_(*config.kernel) {
  check_cl(opencl().RetainContext(context), REDTUNE_BAD_INPUT, "use the context (is it a valid cl_context?)");
  context_.reset(context);
  for (const BufferSpec& buffer : buffers_) {
    if (buffer.kind == BufferKind::kInput) input_bytes_ = static_cast<std::size_t>(buffer.bytes());
    if (buffer.kind == BufferKind::kOutput) output_bytes_ = static_cast<std::size_t>(buffer.bytes());
  }
  if (!launches_.empty()) build(store, cache);
}

OpenClKernel::~OpenClKernel() = default;

void OpenClKernel::build(const std::string& store, const BinaryCache& cache) {
  const OpenClNames names = names_of(device_);
  const std::string key = "opencl\n" + file_.file + "\n" + file_.options + "\n" + names.device + "\n" +
                          names.platform + "\n" + names.driver_version + "\n" +
                          device_text(device_, CL_DEVICE_VERSION);
  if (const auto known = cache.find(key); known && build_from(*known, file_.options)) {
    was_cached_ = true;
    return;
  }
  const std::string text = read_kernel_text(store, file_);
  const char* source = text.data();
  const std::size_t size = text.size();
  cl_int code = CL_SUCCESS;
  program_.reset(opencl().CreateProgramWithSource(context_.get(), 1, &source, &size, &code));
  check_cl(code, REDTUNE_BUILD_FAILED, "hand over " + file_.file);
  code = opencl().BuildProgram(program_.get(), 1, &device_, file_.options.c_str(), nullptr, nullptr);
  if (code != CL_SUCCESS) {
    std::string log;
    try {
      std::size_t length = 0;
      opencl().GetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &length);
      log.resize(length);
      opencl().GetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, length, log.data(), nullptr);
    } catch (const std::bad_alloc&) {
      log.clear();
    }
    check_cl(code, REDTUNE_BUILD_FAILED, "build " + file_.file + ": " + trim(log.substr(0, log.find('\0'))));
  }
  if (const std::string made = binary(); !made.empty()) cache.store(key, made);
}

bool OpenClKernel::build_from(const std::string& binary, const std::string& options) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int code = CL_SUCCESS, status = CL_SUCCESS;
  program_.reset(
      opencl().CreateProgramWithBinary(context_.get(), 1, &device_, &size, &bytes, &status, &code));
  return code == CL_SUCCESS && status == CL_SUCCESS &&
         opencl().BuildProgram(program_.get(), 1, &device_, options.c_str(), nullptr, nullptr) == CL_SUCCESS;
}

// "" where the driver gives none. The program was made for one device of the context, which may have several.
std::string OpenClKernel::binary() const {
  const OpenClFunctions& cl = opencl();
  cl_uint count = 0;
  if (cl.GetProgramInfo(program_.get(), CL_PROGRAM_NUM_DEVICES, sizeof count, &count, nullptr) != CL_SUCCESS)
    return "";
  std::vector<cl_device_id> devices(count);
  std::vector<std::size_t> sizes(count);
  if (cl.GetProgramInfo(program_.get(), CL_PROGRAM_DEVICES, count * sizeof(cl_device_id), devices.data(),
                        nullptr) != CL_SUCCESS ||
      cl.GetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, count * sizeof(std::size_t), sizes.data(),
                        nullptr) != CL_SUCCESS)
    return "";
  std::vector<std::string> binaries;
  std::vector<unsigned char*> places;
  for (std::size_t size : sizes) binaries.emplace_back(size, '\0');
  for (std::string& one : binaries) places.push_back(reinterpret_cast<unsigned char*>(one.data()));
  if (cl.GetProgramInfo(program_.get(), CL_PROGRAM_BINARIES, count * sizeof(unsigned char*), places.data(),
                        nullptr) != CL_SUCCESS)
    return "";
  const auto mine = std::find(devices.begin(), devices.end(), device_);
  return mine == devices.end() ? "" : binaries[static_cast<std::size_t>(mine - devices.begin())];
}

std::unique_ptr<OpenClKernel::Lane> OpenClKernel::make_lane(cl_command_queue queue) const {
  const OpenClFunctions& cl = opencl();
  constexpr const char* kAsk = "ask the queue (is it a valid cl_command_queue?)";
  if (cl_value<cl_context>(cl.GetCommandQueueInfo, queue, CL_QUEUE_CONTEXT, kAsk) != context_.get())
    refuse("the queue belongs to another context than the kernel");
  if (cl_value<cl_device_id>(cl.GetCommandQueueInfo, queue, CL_QUEUE_DEVICE, kAsk) != device_)
    refuse("the queue belongs to another device than the kernel");
  auto lane = std::make_unique<Lane>();
  const auto properties =
      cl_value<cl_command_queue_properties>(cl.GetCommandQueueInfo, queue, CL_QUEUE_PROPERTIES, kAsk);
  lane->in_order = (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  check_cl(cl.RetainCommandQueue(queue), REDTUNE_BAD_INPUT, kAsk);
  lane->queue.reset(queue);
  cl_int code = CL_SUCCESS;
  for (const BufferSpec& buffer : buffers_) {
    ClMemory memory;
    if (buffer.kind == BufferKind::kScratch || buffer.kind == BufferKind::kCounter) {
      memory.reset(cl.CreateBuffer(context_.get(), CL_MEM_READ_WRITE,
                                   static_cast<std::size_t>(std::max<std::int64_t>(buffer.bytes(), 1)), nullptr,
                                   &code));
      check_cl(code, REDTUNE_LAUNCH_FAILED, "make the workspace '" + buffer.name + "'");
    }
    lane->workspace.push_back(std::move(memory));
  }
  for (const KernelLaunch& launch : launches_) {
    lane->kernels.emplace_back(cl.CreateKernel(program_.get(), launch.entry.c_str(), &code));
    check_cl(code, REDTUNE_BUILD_FAILED, "find kernel '" + launch.entry + "'");
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const cl_mem memory = lane->workspace[static_cast<std::size_t>(launch.arguments[i])].get();
      if (memory == nullptr) continue;
      check_cl(cl.SetKernelArg(lane->kernels.back().get(), static_cast<cl_uint>(i), sizeof memory, &memory),
               REDTUNE_LAUNCH_FAILED, "set an argument of '" + launch.entry + "'");
    }
  }
  zero_counters(*lane);
  return lane;
}

// Once; from then on every launch leaves them zero.
void OpenClKernel::zero_counters(Lane& lane) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].kind != BufferKind::kCounter || buffers_[i].bytes() == 0) continue;
    const unsigned char zero = 0;
    cl_event filled = nullptr;
    const cl_event before = lane.last.get();
    check_cl(opencl().EnqueueFillBuffer(lane.queue.get(), lane.workspace[i].get(), &zero, 1, 0,
                                        static_cast<std::size_t>(buffers_[i].bytes()), before != nullptr ? 1 : 0,
                                        before != nullptr ? &before : nullptr,
                                        lane.in_order ? nullptr : &filled),
             REDTUNE_LAUNCH_FAILED, "zero the counters");
    if (!lane.in_order) lane.last.reset(filled);
  }
  lane.dirty = false;
}

OpenClKernel::Lane& OpenClKernel::lane_of(cl_command_queue queue) {
  const auto find = [&]() -> Lane* {
    for (const auto& lane : lanes_) {
      if (lane->queue.get() == queue) return lane.get();
    }
    return nullptr;
  };
  {
    const std::shared_lock lock(lanes_mutex_);
    if (Lane* const lane = find()) return *lane;
  }
  const std::unique_lock lock(lanes_mutex_);
  if (Lane* const lane = find()) return *lane;
  lanes_.push_back(make_lane(queue));
  return *lanes_.back();
}

void OpenClKernel::check_buffers(cl_mem input, cl_mem output) const {
  constexpr const char* kAsk = "ask a buffer (is it a valid cl_mem?)";
  const auto check = [&](cl_mem memory, std::size_t needed, const char* what) {
    if (memory == nullptr && needed == 0) return;
    if (memory == nullptr) refuse(std::string("the ") + what + " is missing");
    const auto bytes = cl_value<std::size_t>(opencl().GetMemObjectInfo, memory, CL_MEM_SIZE, kAsk);
    if (bytes < needed) {
      refuse(std::string("the ") + what + " has " + bytes_text(bytes) + ", the operator needs " +
             bytes_text(needed));
    }
  };
  check(input, input_bytes_, "input");
  check(output, output_bytes_, "output");
  if (input != nullptr && input == output) refuse("input and output are one buffer");
}

void OpenClKernel::launch(cl_command_queue queue, cl_mem input, cl_mem output, cl_uint wait_count,
                          const cl_event* wait, cl_event* done) {
  if (queue == nullptr) refuse("the queue is missing");
  if ((wait_count == 0) != (wait == nullptr)) refuse("the count of events to wait for does not go with the list");
  check_buffers(input, output);
  if (launches_.empty()) {
    if (done != nullptr || wait_count > 0) {
      check_cl(opencl().EnqueueMarkerWithWaitList(queue, wait_count, wait, done), REDTUNE_LAUNCH_FAILED, "wait");
    }
    return;
  }
  Lane& lane = lane_of(queue);
  const std::lock_guard lock(lane.mutex);
  if (lane.dirty) zero_counters(lane);
  lane.dirty = true;
  enqueue(lane, input, output, wait_count, wait, done);
  lane.dirty = false;
}

void OpenClKernel::enqueue(Lane& lane, cl_mem input, cl_mem output, cl_uint wait_count, const cl_event* wait,
                           cl_event* done) {
  const OpenClFunctions& cl = opencl();
  std::vector<cl_event> first(wait, wait + wait_count);
  if (!lane.in_order && lane.last) first.push_back(lane.last.get());
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    const KernelLaunch& launch = launches_[i];
    const cl_kernel kernel = lane.kernels[i].get();
    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
      const BufferKind kind = buffers_[static_cast<std::size_t>(launch.arguments[a])].kind;
      if (kind != BufferKind::kInput && kind != BufferKind::kOutput) continue;
      const cl_mem memory = kind == BufferKind::kInput ? input : output;
      check_cl(cl.SetKernelArg(kernel, static_cast<cl_uint>(a), sizeof memory, &memory), REDTUNE_LAUNCH_FAILED,
               "set an argument");
    }
    std::array<std::size_t, 3> global{}, local{};
    for (std::size_t d = 0; d < 3; ++d) {
      local[d] = static_cast<std::size_t>(launch.block[d]);
      global[d] = static_cast<std::size_t>(launch.grid[d]) * local[d];
    }
    const bool last = i + 1 == launches_.size();
    const bool wants_event = !lane.in_order || (last && done != nullptr);
    cl_event event = nullptr;
    const cl_event before = lane.last.get();
    const cl_uint waits = i == 0 ? static_cast<cl_uint>(first.size()) : lane.in_order ? 0 : 1;
    check_cl(cl.EnqueueNDRangeKernel(lane.queue.get(), kernel, 3, nullptr, global.data(), local.data(), waits,
                                     waits == 0 ? nullptr : i == 0 ? first.data() : &before,
                                     wants_event ? &event : nullptr),
             REDTUNE_LAUNCH_FAILED, "launch '" + launch.entry + "'");
    if (!lane.in_order) lane.last.reset(event);
    if (last && done != nullptr) {
      if (!lane.in_order) cl.RetainEvent(event);
      *done = event;
    }
  }
}

}  // namespace redtune::deploy
