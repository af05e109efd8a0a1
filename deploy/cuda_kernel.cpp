#include "deploy/cuda_kernel.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "codegen/nvrtc.h"
#include "deploy/failure.h"
#include "space/device_name.h"
#include "support/error.h"

namespace redtune::deploy {
namespace {

void check_cuda(int code, redtune_status status, const std::string& what) {
  if (code == kCudaSuccess) return;
  throw Failure(code == kCudaOutOfMemory ? REDTUNE_OUT_OF_MEMORY : status,
                what + ": " + cuda_error_text(cuda_library(), code));
}

int cuda_attribute(int device, int which) {
  int value = 0;
  check_cuda(cuda_library().call.DeviceGetAttribute(&value, which, device), REDTUNE_NO_DEVICE,
             "ask the device");
  return value;
}

// "sm_86" -> 86; 0 for names with a letter behind, which run on that very architecture only.
int number_of(const std::string& architecture) {
  const std::size_t begin = architecture.find('_') + 1;
  int number = 0;
  const char* const end = architecture.data() + architecture.size();
  const auto [stop, error] = std::from_chars(architecture.data() + begin, end, number);
  return error == std::errc() && stop == end ? number : 0;
}

// The newest image of the format that the device runs: a cubin within its major version, PTX of any older
// one.
const KernelImage* fitting(const KernelFile& file, const std::string& format, int capability) {
  const KernelImage* best = nullptr;
  for (const KernelImage& image : file.images) {
    const int number = number_of(image.architecture);
    if (image.format != format || number == 0 || number > capability) continue;
    if (format == "cubin" && number / 10 != capability / 10) continue;
    if (best == nullptr || number > number_of(best->architecture)) best = &image;
  }
  return best;
}

}  // namespace

CudaPlace current_cuda_place() {
  const CudaFunctions& call = cuda_library().call;
  CudaPlace place;
  check_cuda(call.CtxGetCurrent(&place.context), REDTUNE_NO_DEVICE, "ask for the current context");
  if (place.context == nullptr)
    refuse("no CUDA context is current in this thread; make one, or use the runtime once");
  check_cuda(call.CtxGetDevice(&place.device), REDTUNE_NO_DEVICE, "ask for the device of the context");
  std::array<char, 256> name{};
  check_cuda(call.DeviceGetName(name.data(), static_cast<int>(name.size()) - 1, place.device),
             REDTUNE_NO_DEVICE, "ask for the name");
  place.name = cuda_device_name(name.data(), cuda_uuid(cuda_library(), place.device));
  place.capability = 10 * cuda_attribute(place.device, kCudaCapabilityMajor) +
                     cuda_attribute(place.device, kCudaCapabilityMinor);
  return place;
}

std::string why_not_on(const CudaPlace& place, const Config& config) {
  if (!config.kernel) return "it has no kernel text (written by an older redtune; tune again)";
  if (config.kernel->language != KernelLanguage::kCuda) return "its kernel is OpenCL";
  const std::int64_t threads = cuda_attribute(place.device, kCudaMaxThreadsPerBlock);
  const std::int64_t shared = std::max(cuda_attribute(place.device, kCudaSharedPerBlock),
                                       cuda_attribute(place.device, kCudaSharedPerBlockOptIn));
  for (const KernelLaunch& launch : config.launches) {
    const std::int64_t block = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (block > threads)
      return "its blocks have " + std::to_string(block) + " threads, the device allows " +
             std::to_string(threads);
    const std::int64_t bytes = launch.shared_bytes + launch.dynamic_shared_bytes;
    if (bytes > shared)
      return "it needs " + std::to_string(bytes) + " bytes of shared memory, the device has " +
             std::to_string(shared);
  }
  return "";
}

struct CudaKernel::Lane {
  struct MemoryTraits {
    using handle = CudaAddress;
    static handle invalid() { return 0; }
    static void close(handle h) noexcept { cuda_library().call.MemFree(h); }
  };
  CUstream_st* stream = nullptr;
  bool dirty = true;  // counters may hold anything
  std::vector<UniqueHandle<MemoryTraits>> workspace;
};

CudaKernel::CudaKernel(const CudaPlace& place, const std::string& store, const Config& config,
                       const BinaryCache& cache)
    : context_(place.context), launches_(config.launches), buffers_(config.buffers) {
  for (const BufferSpec& buffer : buffers_) {
    if (buffer.kind == BufferKind::kInput) input_bytes_ = static_cast<std::size_t>(buffer.bytes());
    if (buffer.kind == BufferKind::kOutput) output_bytes_ = static_cast<std::size_t>(buffer.bytes());
  }
  if (launches_.empty()) return;
  const std::string image = image_for(place, store, *config.kernel, cache);
  const CudaFunctions& call = cuda_library().call;
  CUmod_st* module = nullptr;
  // c_str: PTX must end in a zero, a cubin tells its own size.
  check_cuda(call.ModuleLoadData(&module, image.c_str()), REDTUNE_BUILD_FAILED,
             "load " + config.kernel->file);
  module_.reset(module);
  for (const KernelLaunch& launch : launches_) {
    CUfunc_st* function = nullptr;
    check_cuda(call.ModuleGetFunction(&function, module, launch.entry.c_str()), REDTUNE_BUILD_FAILED,
               "find kernel '" + launch.entry + "'");
    int threads = 0;
    check_cuda(call.FuncGetAttribute(&threads, kCudaFunctionMaxThreads, function), REDTUNE_BUILD_FAILED,
               "ask what '" + launch.entry + "' needs");
    if (std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2] > threads) {
      throw Failure(REDTUNE_BUILD_FAILED, "kernel '" + launch.entry + "': with its registers blocks of " +
                                              std::to_string(threads) + " threads are possible");
    }
    if (launch.dynamic_shared_bytes > 0) {
      check_cuda(call.FuncSetAttribute(function, kCudaFunctionMaxDynamicShared,
                                       static_cast<int>(launch.dynamic_shared_bytes)),
                 REDTUNE_BUILD_FAILED, "give '" + launch.entry + "' its shared memory");
    }
    functions_.push_back(function);
  }
}

CudaKernel::~CudaKernel() = default;

std::string CudaKernel::image_for(const CudaPlace& place, const std::string& store, const KernelFile& file,
                                  const BinaryCache& cache) {
  if (const KernelImage* const cubin = fitting(file, "cubin", place.capability)) {
    was_cached_ = true;
    return read_kernel_image(store, *cubin);
  }
  const std::string capability = std::to_string(place.capability);
  std::string no_nvrtc;
  try {
    Nvrtc& nvrtc = Nvrtc::instance();
    const std::string key = "cuda\n" + file.file + "\nsm_" + capability + "\nNVRTC " + nvrtc.version();
    if (auto known = cache.find(key)) {
      was_cached_ = true;
      return *std::move(known);
    }
    NvrtcOptions options;
    options.compute_capability = place.capability;
    const std::vector<int>& supported = nvrtc.supported_architectures();
    if (!supported.empty() && !std::binary_search(supported.begin(), supported.end(), place.capability)) {
      options.compute_capability = nvrtc.newest_usable(place.capability);
      options.ptx = true;
    }
    const NvrtcResult result = nvrtc.compile(read_kernel_text(store, file), options);
    if (!result.ok) throw Failure(REDTUNE_BUILD_FAILED, "compile " + file.file + ": " + result.error);
    const std::string image(result.image.begin(), result.image.end());
    cache.store(key, image);
    return image;
  } catch (const NoDevice& error) {
    no_nvrtc = error.what();
  }
  if (const KernelImage* const ptx = fitting(file, "ptx", place.capability))
    return read_kernel_image(store, *ptx);
  throw Failure(REDTUNE_BUILD_FAILED, "no image in the store fits sm_" + capability + ", and " + no_nvrtc);
}

CudaKernel::Lane& CudaKernel::lane_of(CUstream_st* stream) {
  for (const auto& lane : lanes_) {
    if (lane->stream == stream) return *lane;
  }
  auto lane = std::make_unique<Lane>();
  lane->stream = stream;
  for (const BufferSpec& buffer : buffers_) {
    CudaAddress address = 0;
    if (buffer.kind == BufferKind::kScratch || buffer.kind == BufferKind::kCounter) {
      check_cuda(cuda_library().call.MemAlloc(
                     &address, static_cast<std::size_t>(std::max<std::int64_t>(buffer.bytes(), 1))),
                 REDTUNE_LAUNCH_FAILED, "make the workspace '" + buffer.name + "'");
    }
    lane->workspace.emplace_back(address);
  }
  lanes_.push_back(std::move(lane));
  return *lanes_.back();
}

void CudaKernel::zero_counters(Lane& lane, CUstream_st* stream) const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].kind != BufferKind::kCounter || buffers_[i].bytes() == 0) continue;
    check_cuda(cuda_library().call.MemsetD8Async(lane.workspace[i].get(), 0,
                                                 static_cast<std::size_t>(buffers_[i].bytes()), stream),
               REDTUNE_LAUNCH_FAILED, "zero the counters");
  }
}

void CudaKernel::check_addresses(CudaAddress input, CudaAddress output) const {
  constexpr CudaAddress kAlignment = 16;  // of the widest vector load
  if (input == 0 && input_bytes_ > 0) refuse("the input is missing");
  if (output == 0 && output_bytes_ > 0) refuse("the output is missing");
  if (input % kAlignment != 0) refuse("the input is not aligned to 16 bytes");
  if (output % kAlignment != 0) refuse("the output is not aligned to 16 bytes");
  if (input < output + output_bytes_ && output < input + input_bytes_) refuse("input and output overlap");
}

void CudaKernel::launch(CUstream_st* stream, CudaAddress input, CudaAddress output) {
  check_addresses(input, output);
  if (launches_.empty()) return;
  const CudaFunctions& call = cuda_library().call;
  CUctx_st* context = nullptr;
  check_cuda(call.CtxGetCurrent(&context), REDTUNE_LAUNCH_FAILED, "ask for the current context");
  if (context != context_) refuse("another CUDA context is current than the one that the kernel was made in");
  // One at a time: launches on one stream must not mix, and the driver takes its own lock anyway.
  const std::lock_guard lock(mutex_);
  Lane& lane = lane_of(stream);
  if (lane.dirty) zero_counters(lane, stream);
  lane.dirty = true;
  std::array<CudaAddress, 8> values{};
  std::array<void*, 8> arguments{};
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    const KernelLaunch& launch = launches_[i];
    RT_CHECK(launch.arguments.size() <= values.size(), "a kernel of more than 8 arguments");
    for (std::size_t a = 0; a < launch.arguments.size(); ++a) {
      const auto index = static_cast<std::size_t>(launch.arguments[a]);
      const BufferKind kind = buffers_[index].kind;
      values[a] = kind == BufferKind::kInput    ? input
                  : kind == BufferKind::kOutput ? output
                                                : lane.workspace[index].get();
      arguments[a] = &values[a];
    }
    const auto grid = [&](std::size_t d) { return static_cast<unsigned>(launch.grid[d]); };
    const auto block = [&](std::size_t d) { return static_cast<unsigned>(launch.block[d]); };
    const auto shared = static_cast<unsigned>(launch.dynamic_shared_bytes);
    // Blocks that wait for each other must all be resident: the driver refuses the launch where they cannot.
    check_cuda(launch.cooperative
                   ? call.LaunchCooperativeKernel(functions_[i], grid(0), grid(1), grid(2), block(0),
                                                  block(1), block(2), shared, stream, arguments.data())
                   : call.LaunchKernel(functions_[i], grid(0), grid(1), grid(2), block(0), block(1), block(2),
                                       shared, stream, arguments.data(), nullptr),
               REDTUNE_LAUNCH_FAILED, "launch '" + launch.entry + "'");
  }
  lane.dirty = false;
}

}  // namespace redtune::deploy
