#include "measure/cuda_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "measure/plain_prototype.h"
#include "support/error.h"

#ifdef REDTUNE_HAVE_CUDA_HEADERS
#include <cuda.h>

namespace redtune {
namespace {

static_assert(std::is_same_v<CUdeviceptr, CudaAddress> && sizeof(CUresult) == sizeof(int) &&
              sizeof(CUuuid) == 16);
static_assert(kSamePrototype<&cuGetErrorName, decltype(CudaFunctions::GetErrorName)>);
static_assert(kSamePrototype<&cuInit, decltype(CudaFunctions::Init)>);
static_assert(kSamePrototype<&cuDriverGetVersion, decltype(CudaFunctions::DriverGetVersion)>);
static_assert(kSamePrototype<&cuDeviceGetCount, decltype(CudaFunctions::DeviceGetCount)>);
static_assert(kSamePrototype<&cuDeviceGet, decltype(CudaFunctions::DeviceGet)>);
static_assert(kSamePrototype<&cuDeviceGetName, decltype(CudaFunctions::DeviceGetName)>);
static_assert(kSamePrototype<&cuDeviceGetUuid, decltype(CudaFunctions::DeviceGetUuid)>);
static_assert(kSamePrototype<&cuDeviceTotalMem, decltype(CudaFunctions::DeviceTotalMem)>);
static_assert(kSamePrototype<&cuDeviceGetAttribute, decltype(CudaFunctions::DeviceGetAttribute)>);
static_assert(kSamePrototype<&cuDevicePrimaryCtxRetain, decltype(CudaFunctions::DevicePrimaryCtxRetain)>);
static_assert(kSamePrototype<&cuDevicePrimaryCtxRelease, decltype(CudaFunctions::DevicePrimaryCtxRelease)>);
static_assert(kSamePrototype<&cuCtxSetCurrent, decltype(CudaFunctions::CtxSetCurrent)>);
static_assert(kSamePrototype<&cuMemGetInfo, decltype(CudaFunctions::MemGetInfo)>);
static_assert(kSamePrototype<&cuMemAlloc, decltype(CudaFunctions::MemAlloc)>);
static_assert(kSamePrototype<&cuMemFree, decltype(CudaFunctions::MemFree)>);
static_assert(kSamePrototype<&cuMemHostAlloc, decltype(CudaFunctions::MemHostAlloc)>);
static_assert(kSamePrototype<&cuMemFreeHost, decltype(CudaFunctions::MemFreeHost)>);
static_assert(kSamePrototype<&cuMemHostGetDevicePointer, decltype(CudaFunctions::MemHostGetDevicePointer)>);
static_assert(kSamePrototype<&cuMemcpyHtoD, decltype(CudaFunctions::MemcpyHtoD)>);
static_assert(kSamePrototype<&cuMemcpyDtoH, decltype(CudaFunctions::MemcpyDtoH)>);
static_assert(kSamePrototype<&cuMemsetD8Async, decltype(CudaFunctions::MemsetD8Async)>);
static_assert(kSamePrototype<&cuModuleLoadData, decltype(CudaFunctions::ModuleLoadData)>);
static_assert(kSamePrototype<&cuModuleUnload, decltype(CudaFunctions::ModuleUnload)>);
static_assert(kSamePrototype<&cuModuleGetFunction, decltype(CudaFunctions::ModuleGetFunction)>);
static_assert(kSamePrototype<&cuFuncGetAttribute, decltype(CudaFunctions::FuncGetAttribute)>);
static_assert(kSamePrototype<&cuFuncSetAttribute, decltype(CudaFunctions::FuncSetAttribute)>);
static_assert(kSamePrototype<&cuLaunchKernel, decltype(CudaFunctions::LaunchKernel)>);
static_assert(
    kSamePrototype<&cuLaunchCooperativeKernel, decltype(CudaFunctions::LaunchCooperativeKernel)>);
static_assert(kSamePrototype<&cuOccupancyMaxActiveBlocksPerMultiprocessor,
                             decltype(CudaFunctions::OccupancyMaxActiveBlocksPerMultiprocessor)>);
static_assert(kSamePrototype<&cuStreamCreate, decltype(CudaFunctions::StreamCreate)>);
static_assert(kSamePrototype<&cuStreamDestroy, decltype(CudaFunctions::StreamDestroy)>);
static_assert(kSamePrototype<&cuStreamSynchronize, decltype(CudaFunctions::StreamSynchronize)>);
static_assert(kSamePrototype<&cuEventCreate, decltype(CudaFunctions::EventCreate)>);
static_assert(kSamePrototype<&cuEventDestroy, decltype(CudaFunctions::EventDestroy)>);
static_assert(kSamePrototype<&cuEventRecord, decltype(CudaFunctions::EventRecord)>);
static_assert(kSamePrototype<&cuEventElapsedTime, decltype(CudaFunctions::EventElapsedTime)>);
static_assert(kSamePrototype<&cuStreamWaitValue32, decltype(CudaFunctions::StreamWaitValue32)>);
static_assert(int{CUDA_ERROR_OUT_OF_MEMORY} == kCudaOutOfMemory &&
              int{CUDA_ERROR_NO_DEVICE} == kCudaNoDevice &&
              int{CUDA_ERROR_STUB_LIBRARY} == kCudaStubLibrary &&
              int{CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES} == kCudaOutOfResources);
static_assert(int{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK} == kCudaMaxThreadsPerBlock &&
              int{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X} == kCudaMaxGridX &&
              int{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y} == kCudaMaxGridY &&
              int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK} == kCudaSharedPerBlock &&
              int{CU_DEVICE_ATTRIBUTE_WARP_SIZE} == kCudaWarpSize &&
              int{CU_DEVICE_ATTRIBUTE_CLOCK_RATE} == kCudaClockKilohertz &&
              int{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT} == kCudaMultiprocessors &&
              int{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE} == kCudaMemoryClockKilohertz &&
              int{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH} == kCudaMemoryBusBits &&
              int{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE} == kCudaL2Bytes &&
              int{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR} == kCudaThreadsPerMultiprocessor &&
              int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR} == kCudaCapabilityMajor &&
              int{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR} == kCudaCapabilityMinor &&
              int{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR} == kCudaRegistersPerMultiprocessor &&
              int{CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH} == kCudaCooperativeLaunch &&
              int{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN} == kCudaSharedPerBlockOptIn &&
              int{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR} == kCudaBlocksPerMultiprocessor);
static_assert(int{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK} == kCudaFunctionMaxThreads &&
              int{CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES} == kCudaFunctionSharedBytes &&
              int{CU_FUNC_ATTRIBUTE_NUM_REGS} == kCudaFunctionRegisters &&
              int{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES} == kCudaFunctionMaxDynamicShared);
static_assert(CU_STREAM_NON_BLOCKING == kCudaStreamNonBlocking && CU_EVENT_DEFAULT == kCudaEventDefault &&
              CU_MEMHOSTALLOC_DEVICEMAP == kCudaHostMemoryMapped &&
              CU_STREAM_WAIT_VALUE_GEQ == kCudaWaitUntilAtLeast);

}  // namespace
}  // namespace redtune
#endif

namespace redtune {
namespace {

constexpr const char* kName = "libcuda.so.1";
constexpr const char* kRemedy =
    "install the NVIDIA driver (a GPU is needed to tune on one), or set REDTUNE_CUDA_DRIVER to its "
    "libcuda.so.1";

// The first function of the library that is missing; "" when all that are needed are there.
class Resolver {
 public:
  explicit Resolver(void* library) : library_(library) {}

  template <typename F>
  void need(F*& function, const char* symbol) {
    optional(function, symbol);
    if (function == nullptr && missing_.empty()) missing_ = symbol;
  }
  template <typename F>
  void optional(F*& function, const char* symbol) {
    function = reinterpret_cast<F*>(::dlsym(library_, symbol));
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

// The suffixed names are those behind cuda.h's macros: the plain ones are of CUDA 3.
std::string resolve_all(void* handle, CudaFunctions& f) {
  Resolver r(handle);
  r.need(f.GetErrorName, "cuGetErrorName");
  r.need(f.Init, "cuInit");
  r.need(f.DriverGetVersion, "cuDriverGetVersion");
  r.need(f.DeviceGetCount, "cuDeviceGetCount");
  r.need(f.DeviceGet, "cuDeviceGet");
  r.need(f.DeviceGetName, "cuDeviceGetName");
  r.need(f.DeviceGetUuid, "cuDeviceGetUuid");
  r.need(f.DeviceTotalMem, "cuDeviceTotalMem_v2");
  r.need(f.DeviceGetAttribute, "cuDeviceGetAttribute");
  r.need(f.DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  r.need(f.DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  r.need(f.CtxSetCurrent, "cuCtxSetCurrent");
  r.need(f.MemGetInfo, "cuMemGetInfo_v2");
  r.need(f.MemAlloc, "cuMemAlloc_v2");
  r.need(f.MemFree, "cuMemFree_v2");
  r.need(f.MemHostAlloc, "cuMemHostAlloc");
  r.need(f.MemFreeHost, "cuMemFreeHost");
  r.need(f.MemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2");
  r.need(f.MemcpyHtoD, "cuMemcpyHtoD_v2");
  r.need(f.MemcpyDtoH, "cuMemcpyDtoH_v2");
  r.need(f.MemsetD8Async, "cuMemsetD8Async");
  r.need(f.ModuleLoadData, "cuModuleLoadData");
  r.need(f.ModuleUnload, "cuModuleUnload");
  r.need(f.ModuleGetFunction, "cuModuleGetFunction");
  r.need(f.FuncGetAttribute, "cuFuncGetAttribute");
  r.need(f.FuncSetAttribute, "cuFuncSetAttribute");
  r.need(f.LaunchKernel, "cuLaunchKernel");
  r.need(f.LaunchCooperativeKernel, "cuLaunchCooperativeKernel");
  r.need(f.OccupancyMaxActiveBlocksPerMultiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  r.need(f.StreamCreate, "cuStreamCreate");
  r.need(f.StreamDestroy, "cuStreamDestroy_v2");
  r.need(f.StreamSynchronize, "cuStreamSynchronize");
  r.need(f.EventCreate, "cuEventCreate");
  r.need(f.EventDestroy, "cuEventDestroy_v2");
  r.need(f.EventRecord, "cuEventRecord");
  r.need(f.EventElapsedTime, "cuEventElapsedTime");
  r.optional(f.StreamWaitValue32, "cuStreamWaitValue32_v2");
  return r.missing();
}

}  // namespace

std::string CudaLibrary::version_text() const {
  return "CUDA " + std::to_string(driver_version / 1000) + "." + std::to_string(driver_version % 1000 / 10);
}

CudaLibrary open_cuda_library(const std::string& path) {
  // Never closed: the driver keeps threads and tables that outlive any use of ours.
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    throw NoDevice("the CUDA driver library " + path + " is not here (" +
                   (reason != nullptr ? reason : "no reason") + "); " + kRemedy);
  }
  CudaLibrary library;
  library.path = path;
  const std::string missing = resolve_all(handle, library.call);
  if (!missing.empty()) {
    throw NoDevice("the CUDA driver library " + path + " lacks " + missing + " (older than CUDA 11); " +
                   kRemedy);
  }
  if (library.call.DriverGetVersion(&library.driver_version) != kCudaSuccess) library.driver_version = 0;
  return library;
}

const CudaLibrary& cuda_library() {
  static const CudaLibrary* const library = [] {
    const char* const chosen = std::getenv("REDTUNE_CUDA_DRIVER");
    return new CudaLibrary(open_cuda_library(chosen != nullptr && *chosen != '\0' ? chosen : kName));
  }();
  return *library;
}

std::string cuda_error_text(const CudaLibrary& library, int code) {
  const char* name = nullptr;
  if (library.call.GetErrorName(code, &name) != kCudaSuccess || name == nullptr) name = "CUDA error";
  return std::string(name) + " (" + std::to_string(code) + ")";
}

bool ends_the_context(int code) {
  constexpr std::array kEnds = {
      214,  // ECC_UNCORRECTABLE
      220,  // NVLINK_UNCORRECTABLE
      226,  // CONTAINED
      700,  // ILLEGAL_ADDRESS
      702,  // LAUNCH_TIMEOUT
      709,  // CONTEXT_IS_DESTROYED
      710,  // ASSERT
      714,  // HARDWARE_STACK_ERROR
      715,  // ILLEGAL_INSTRUCTION
      716,  // MISALIGNED_ADDRESS
      717,  // INVALID_ADDRESS_SPACE
      718,  // INVALID_PC
      719,  // LAUNCH_FAILED
      721,  // TENSOR_MEMORY_LEAK
      999,  // UNKNOWN
  };
  return std::ranges::find(kEnds, code) != kEnds.end();
}

std::string cuda_uuid(const CudaLibrary& library, int device) {
  std::array<unsigned char, 16> bytes{};
  if (library.call.DeviceGetUuid(reinterpret_cast<CUuuid_st*>(bytes.data()), device) != kCudaSuccess)
    return "";
  std::string text = "GPU";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    constexpr const char* kDigits = "0123456789abcdef";
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace redtune
