#include "measure/cuda_device.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "codegen/nvrtc.h"
#include "measure/cuda_clock.h"
#include "measure/cuda_compile.h"
#include "measure/cuda_library.h"
#include "measure/cuda_targets.h"
#include "measure/cupti_library.h"
#include "measure/launch_gate.h"
#include "space/device_name.h"
#include "support/error.h"
#include "support/text.h"
#include "support/unique_handle.h"

namespace redtune {
namespace {

[[noreturn]] void fail(int code, const std::string& what) {
  const std::string text = what + ": " + cuda_error_text(cuda_library(), code);
  if (ends_the_context(code)) throw CandidateFailure(OutcomeKind::kCrashed, text, "", WorkerAfter::kLost);
  throw CandidateFailure(OutcomeKind::kLaunchFailed, text);
}

void check(int code, const std::string& what) {
  if (code != kCudaSuccess) fail(code, what);
}

struct MemoryTraits {
  using handle = CudaAddress;
  static handle invalid() { return 0; }
  static void close(handle h) noexcept { cuda_library().call.MemFree(h); }
};
struct ModuleTraits {
  using handle = CUmod_st*;
  static handle invalid() { return nullptr; }
  static void close(handle h) noexcept { cuda_library().call.ModuleUnload(h); }
};
struct StreamTraits {
  using handle = CUstream_st*;
  static handle invalid() { return nullptr; }
  static void close(handle h) noexcept { cuda_library().call.StreamDestroy(h); }
};
using Memory = UniqueHandle<MemoryTraits>;
using Module = UniqueHandle<ModuleTraits>;
using Stream = UniqueHandle<StreamTraits>;

int attribute_of(int device, int which) {
  int value = 0;
  return cuda_library().call.DeviceGetAttribute(&value, which, device) == kCudaSuccess ? value : 0;
}

// Opens the driver; "" when there is one and it shows devices, else what is missing.
std::string start_driver(int& count) {
  const CudaLibrary& cuda = cuda_library();
  int code = cuda.call.Init(0);
  if (code == kCudaSuccess) code = cuda.call.DeviceGetCount(&count);
  if (code == kCudaSuccess && count > 0) return "";
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string hidden =
      visible != nullptr ? std::string("; CUDA_VISIBLE_DEVICES is '") + visible + "'" : "";
  if (code == kCudaSuccess || code == kCudaNoDevice)
    return "the driver (" + cuda.path + ") shows no GPU" + hidden;
  if (code == kCudaStubLibrary)
    return cuda.path + " is the toolkit's stub; the driver's own library must come first";
  return "the driver (" + cuda.path + ") does not start: " + cuda_error_text(cuda, code) +
         "; `nvidia-smi` tells whether it works at all" + hidden;
}

// The current context of a scope.
class PrimaryContext {
 public:
  explicit PrimaryContext(int device) : device_(device) {
    const CudaFunctions& call = cuda_library().call;
    CUctx_st* context = nullptr;
    check(call.DevicePrimaryCtxRetain(&context, device_), "make a context");
    check(call.CtxSetCurrent(context), "use the context");
  }
  ~PrimaryContext() { cuda_library().call.DevicePrimaryCtxRelease(device_); }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;

 private:
  int device_;
};

struct LoadedKernel {
  CUfunc_st* function = nullptr;
  KernelLaunch launch;
};

class CudaDriver : public Driver {
 public:
  CudaDriver(int device, const std::string& clock)
      : cuda_(cuda_library()), device_(device), context_(device), stream_(make_stream()) {
    if (clock == kCuptiClock) {
      clock_ = make_cupti_clock();
    } else {
      clock_ = make_event_clock(cuda_, stream_.get());
    }
    gate_.emplace(cuda_, stream_.get());
  }

  DeviceLimits limits() const override;
  void set_input(const unsigned char* arena, const ArenaLayout& layout) override;
  void load(const Program& program, const Target& target) override;
  bool prime() override { return true; }
  void fill(std::size_t buffer, std::int64_t offset, std::int64_t bytes, unsigned char value) override;
  void read(std::size_t buffer, std::int64_t offset, std::span<unsigned char> into) override;
  std::vector<LaunchTime> launch(std::int64_t copy) override;

 private:
  Stream make_stream() const;
  Memory allocate(std::int64_t bytes, const std::string& what) const;
  void unload();
  void check_launch(const LoadedKernel& kernel) const;
  void check_residency(const LoadedKernel& kernel) const;
  LoadedKernel find_kernel(const KernelLaunch& launch) const;
  void flush_cache();
  void enqueue(const LoadedKernel& kernel, CudaAddress input) const;

  const CudaLibrary& cuda_;
  int device_;
  PrimaryContext context_;
  Stream stream_;
  std::unique_ptr<CudaClock> clock_;
  std::optional<LaunchGate> gate_;
  const unsigned char* host_arena_ = nullptr;
  ArenaLayout layout_;
  Memory arena_, flush_;
  std::int64_t flush_bytes_ = 0;
  Module module_;
  std::vector<BufferSpec> specs_;
  std::vector<Memory> buffers_;
  std::vector<LoadedKernel> kernels_;
  bool launched_before_ = false;  // the loaded program
};

Stream CudaDriver::make_stream() const {
  CUstream_st* stream = nullptr;
  check(cuda_.call.StreamCreate(&stream, kCudaStreamNonBlocking), "make a stream");
  return Stream(stream);
}

DeviceLimits CudaDriver::limits() const {
  std::size_t free = 0, total = 0;
  check(cuda_.call.MemGetInfo(&free, &total), "ask for the free memory");
  DeviceLimits limits;
  limits.memory_bytes = static_cast<std::int64_t>(total);
  limits.buffer_bytes = static_cast<std::int64_t>(free);
  limits.block_threads = attribute_of(device_, kCudaMaxThreadsPerBlock);
  limits.shared_bytes =
      std::max(attribute_of(device_, kCudaSharedPerBlock), attribute_of(device_, kCudaSharedPerBlockOptIn));
  return limits;
}

Memory CudaDriver::allocate(std::int64_t bytes, const std::string& what) const {
  CudaAddress address = 0;
  const int code = cuda_.call.MemAlloc(&address, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)));
  if (code == kCudaSuccess) return Memory(address);
  std::size_t free = 0, total = 0;
  if (code != kCudaOutOfMemory || cuda_.call.MemGetInfo(&free, &total) != kCudaSuccess) fail(code, what);
  fail(code,
       what + " of " + format_bytes(bytes) + ", free are " + format_bytes(static_cast<std::int64_t>(free)));
}

void CudaDriver::set_input(const unsigned char* arena, const ArenaLayout& layout) {
  host_arena_ = arena;
  layout_ = layout;
  arena_.reset();
  arena_ = allocate(layout.bytes(), "make the input");
  if (layout.bytes() > 0) {
    check(cuda_.call.MemcpyHtoD(arena_.get(), arena, static_cast<std::size_t>(layout.bytes())),
          "copy the input");
  }
  // One copy that is larger than the cache would still find its tail in it.
  const std::int64_t cache = attribute_of(device_, kCudaL2Bytes);
  flush_bytes_ = layout.copies == 1 && layout.input_bytes > cache ? cache : 0;
  flush_.reset();
  if (flush_bytes_ > 0) flush_ = allocate(flush_bytes_, "make a buffer that empties the cache");
}

void CudaDriver::unload() {
  kernels_.clear();
  buffers_.clear();
  specs_.clear();
  module_.reset();
  launched_before_ = false;
}

void CudaDriver::check_launch(const LoadedKernel& kernel) const {
  const KernelLaunch& launch = kernel.launch;
  const auto refuse = [&](const std::string& why) {
    throw CandidateFailure(OutcomeKind::kLaunchFailed, "kernel '" + launch.entry + "': " + why);
  };
  const auto report = [&](CudaFunctionAttribute which) {
    int value = 0;
    check(cuda_.call.FuncGetAttribute(&value, which, kernel.function),
          "ask what '" + launch.entry + "' needs");
    return std::int64_t{value};
  };
  const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const std::int64_t most = report(kCudaFunctionMaxThreads);
  if (threads > most) {
    refuse("block of " + std::to_string(threads) + " threads, with its " +
           std::to_string(report(kCudaFunctionRegisters)) + " registers possible are " +
           std::to_string(most));
  }
  const std::int64_t shared = report(kCudaFunctionSharedBytes) + launch.dynamic_shared_bytes;
  const std::int64_t most_shared = limits().shared_bytes;
  if (shared > most_shared) {
    refuse(format_bytes(shared) + " of shared memory, possible are " + format_bytes(most_shared));
  }
  const std::array<std::int64_t, 3> most_blocks{attribute_of(device_, kCudaMaxGridX),
                                                attribute_of(device_, kCudaMaxGridY),
                                                attribute_of(device_, kCudaMaxGridY)};
  for (std::size_t i = 0; i < 3; ++i) {
    if (launch.grid[i] <= most_blocks[i]) continue;
    refuse("grid of " + std::to_string(launch.grid[i]) + " blocks in dimension " + std::to_string(i) +
           ", possible are " + std::to_string(most_blocks[i]));
  }
  if (launch.cooperative) check_residency(kernel);
}

/// Blocks that wait for each other hang when one of them finds no place.
void CudaDriver::check_residency(const LoadedKernel& kernel) const {
  const KernelLaunch& launch = kernel.launch;
  const std::int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  int per_unit = 0;
  check(cuda_.call.OccupancyMaxActiveBlocksPerMultiprocessor(
            &per_unit, kernel.function, launch.block[0] * launch.block[1] * launch.block[2],
            static_cast<std::size_t>(launch.dynamic_shared_bytes)),
        "ask how many blocks of '" + launch.entry + "' are resident");
  const std::int64_t resident = attribute_of(device_, kCudaCooperativeLaunch) == 0
                                    ? 0
                                    : std::int64_t{per_unit} * attribute_of(device_, kCudaMultiprocessors);
  if (blocks <= resident) return;
  throw CandidateFailure(OutcomeKind::kLaunchFailed,
                         "kernel '" + launch.entry + "': " + std::to_string(blocks) +
                             " blocks wait for each other, and " + std::to_string(resident) +
                             " can be resident at once");
}

LoadedKernel CudaDriver::find_kernel(const KernelLaunch& launch) const {
  LoadedKernel kernel{nullptr, launch};
  check(cuda_.call.ModuleGetFunction(&kernel.function, module_.get(), launch.entry.c_str()),
        "find kernel '" + launch.entry + "'");
  check_launch(kernel);
  if (launch.dynamic_shared_bytes > 0) {
    check(
        cuda_.call.FuncSetAttribute(kernel.function, kCudaFunctionMaxDynamicShared,
                                    static_cast<int>(launch.dynamic_shared_bytes)),
        "let '" + launch.entry + "' have " + format_bytes(launch.dynamic_shared_bytes) + " of shared memory");
  }
  return kernel;
}

void CudaDriver::load(const Program& program, const Target& target) {
  unload();
  const std::vector<char> image = compile_for_cuda(program, target);
  CUmod_st* module = nullptr;
  const int code = cuda_.call.ModuleLoadData(&module, image.data());
  check(code, "load the kernel that NVRTC " + Nvrtc::instance().version() + " compiled for " + target.name +
                  " (driver: " + cuda_.version_text() + ")");
  module_.reset(module);
  specs_ = program.buffers;
  for (const BufferSpec& spec : specs_) {
    const bool input = spec.kind == BufferKind::kInput;
    buffers_.push_back(input ? Memory()
                             : allocate(spec.bytes() + kGuardBytes, "make buffer '" + spec.name + "'"));
  }
  for (const KernelLaunch& launch : program.launches) kernels_.push_back(find_kernel(launch));
  // No memory is read-only here: an earlier candidate may have written to the copy that this one is checked
  // on.
  if (layout_.input_bytes > 0) {
    check(cuda_.call.MemcpyHtoD(arena_.get(), host_arena_, static_cast<std::size_t>(layout_.input_bytes)),
          "copy the input");
  }
}

void CudaDriver::fill(std::size_t buffer, std::int64_t offset, std::int64_t bytes, unsigned char value) {
  if (bytes == 0) return;
  check(cuda_.call.MemsetD8Async(buffers_[buffer].get() + static_cast<CudaAddress>(offset), value,
                                 static_cast<std::size_t>(bytes), stream_.get()),
        "fill buffer '" + specs_[buffer].name + "'");
}

void CudaDriver::read(std::size_t buffer, std::int64_t offset, std::span<unsigned char> into) {
  if (into.empty()) return;
  check(cuda_.call.StreamSynchronize(stream_.get()), "wait for the device");
  check(cuda_.call.MemcpyDtoH(into.data(), buffers_[buffer].get() + static_cast<CudaAddress>(offset),
                              into.size()),
        "read buffer '" + specs_[buffer].name + "'");
}

// Outside of what is timed: the stream is idle when this returns.
void CudaDriver::flush_cache() {
  if (flush_) {
    check(cuda_.call.MemsetD8Async(flush_.get(), 0, static_cast<std::size_t>(flush_bytes_), stream_.get()),
          "empty the cache");
  }
  check(cuda_.call.StreamSynchronize(stream_.get()), "wait for the device");
}

void CudaDriver::enqueue(const LoadedKernel& kernel, CudaAddress input) const {
  const KernelLaunch& launch = kernel.launch;
  std::vector<CudaAddress> values;
  for (const int index : launch.arguments) {
    const auto i = static_cast<std::size_t>(index);
    values.push_back(specs_[i].kind == BufferKind::kInput ? input + static_cast<CudaAddress>(specs_[i].begin) : buffers_[i].get());
  }
  std::vector<void*> arguments;
  for (CudaAddress& value : values) arguments.push_back(&value);
  const auto grid = [&](std::size_t i) { return static_cast<unsigned>(launch.grid[i]); };
  const auto block = [&](std::size_t i) { return static_cast<unsigned>(launch.block[i]); };
  const auto shared = static_cast<unsigned>(launch.dynamic_shared_bytes);
  check(launch.cooperative
            ? cuda_.call.LaunchCooperativeKernel(kernel.function, grid(0), grid(1), grid(2), block(0), block(1),
                                                 block(2), shared, stream_.get(), arguments.data())
            : cuda_.call.LaunchKernel(kernel.function, grid(0), grid(1), grid(2), block(0), block(1), block(2),
                                      shared, stream_.get(), arguments.data(), nullptr),
        "launch '" + launch.entry + "'");
}

std::vector<LaunchTime> CudaDriver::launch(std::int64_t copy) {
  const CudaAddress input = arena_.get() + static_cast<CudaAddress>(layout_.offset(copy));
  flush_cache();
  // A first launch may have to wait for the device while the driver loads the kernel: no gate then. An
  // exception on the way opens the gate again.
  struct Opener {
    LaunchGate& gate;
    ~Opener() { gate.open(); }
  };
  {
    const Opener opener{*gate_};
    if (launched_before_) gate_->close();
    clock_->begin();
    for (const LoadedKernel& kernel : kernels_) {
      enqueue(kernel, input);
      clock_->launched();
    }
  }
  check(cuda_.call.StreamSynchronize(stream_.get()), "run");
  launched_before_ = true;
  return clock_->times();
}

/// Fills the kernel cache and knows no GPU.
class CudaCompiler : public Driver {
 public:
  DeviceLimits limits() const override { return {}; }
  void set_input(const unsigned char*, const ArenaLayout&) override {}
  void load(const Program& program, const Target& target) override { compile_for_cuda(program, target); }
  bool prime() override { return true; }
  void fill(std::size_t, std::int64_t, std::int64_t, unsigned char) override { refuse(); }
  void read(std::size_t, std::int64_t, std::span<unsigned char>) override { refuse(); }
  std::vector<LaunchTime> launch(std::int64_t) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw InternalError("a compile worker was asked to use the device"); }
};

struct ClockChoice {
  std::string clock, why_not_cupti;
};

// Found on one device for all: it depends on the driver, the user and other tools.
ClockChoice choose_clock() {
  std::string why;
  try {
    int device = 0;
    check(cuda_library().call.DeviceGet(&device, 0), "open the first device");
    const PrimaryContext context(device);
    why = why_no_cupti(cuda_library());
  } catch (const CandidateFailure& failure) {
    why = failure.what();
  }
  if (why.empty()) return {std::string(kCuptiClock), ""};
  return {std::string(kCudaEventsClock),
          "timed by CUDA events, to which gaps between launches count, because CUPTI cannot be used: " + why};
}

DeviceInfo describe(int index, const ClockChoice& choice) {
  const CudaLibrary& cuda = cuda_library();
  int device = 0;
  check(cuda.call.DeviceGet(&device, index), "open device " + std::to_string(index));
  std::array<char, 256> name{};
  check(cuda.call.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device), "ask for the name");
  std::size_t memory = 0;
  check(cuda.call.DeviceTotalMem(&memory, device), "ask for the memory");
  DeviceInfo info;
  info.id = "cuda:" + std::to_string(index);
  const std::string uuid = cuda_uuid(cuda, device);
  info.name = cuda_device_name(name.data(), uuid);
  info.driver = cuda.version_text();
  info.target = cuda_target([&](int which) { return attribute_of(device, which); });
  info.clock = choice.clock;
  info.facts["uuid"] = uuid;
  info.facts["memory_bytes"] = memory;
  info.facts["nvrtc"] = Nvrtc::instance().version();
  if (info.clock == kCuptiClock) info.facts["cupti"] = cupti_library().version;
  info.facts["clock_policy"] = "not set by redtune";
  info.facts["nominal_clock_hz"] = std::int64_t{attribute_of(device, kCudaClockKilohertz)} * 1000;
  if (!choice.why_not_cupti.empty()) info.facts["clock_note"] = choice.why_not_cupti;
  return info;
}

}  // namespace

std::vector<DeviceInfo> list_cuda_devices(std::string& note) {
  std::vector<DeviceInfo> devices;
  try {
    int count = 0;
    note = start_driver(count);
    if (!note.empty()) {
      note = "no CUDA device: " + note;
      return devices;
    }
    Nvrtc::instance();
    const ClockChoice choice = choose_clock();
    for (int i = 0; i < count; ++i) devices.push_back(describe(i, choice));
    if (!choice.why_not_cupti.empty()) note = "CUDA devices are " + choice.why_not_cupti;
  } catch (const NoDevice& error) {
    note = std::string("no CUDA device: ") + error.what();
    return {};
  }
  return devices;
}

std::unique_ptr<Driver> open_cuda_device(const DeviceUse& use) {
  if (use.compile_only) return std::make_unique<CudaCompiler>();
  int count = 0, index = -1, device = 0;
  const std::string missing = start_driver(count);
  if (!missing.empty()) throw NoDevice("no CUDA device: " + missing);
  const std::size_t colon = use.id.find(':') + 1;
  std::from_chars(use.id.data() + colon, use.id.data() + use.id.size(), index);
  if (index < 0 || index >= count) {
    throw NoDevice("no device '" + use.id + "': " + std::to_string(count) + " visible to CUDA");
  }
  check(cuda_library().call.DeviceGet(&device, index), "open '" + use.id + "'");
  try {
    return std::make_unique<CudaDriver>(device, use.clock);
  } catch (const ClockRefused& refused) {
    throw NoDevice("times of '" + use.id + "' are those of CUPTI, and it refuses now: " + refused.what());
  }
}

}  // namespace redtune
