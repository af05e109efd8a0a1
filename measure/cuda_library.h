// The CUDA driver library, opened at run time: the build needs no toolkit and the tool starts without a
// driver. For measure/cuda_*.cpp and the doctor; runs in worker processes where a device is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// The driver's own names for what its handles point to.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUuuid_st;

namespace redtune {

using CudaAddress = unsigned long long;  // of memory on the device

/// Return codes that are acted on; the others are only reported.
enum CudaCode : int {
  kCudaSuccess = 0,
  kCudaOutOfMemory = 2,
  kCudaStubLibrary = 34,
  kCudaNoDevice = 100,
  kCudaOutOfResources = 701,
};

enum CudaDeviceAttribute : int {
  kCudaMaxThreadsPerBlock = 1,
  kCudaMaxGridX = 5,
  kCudaMaxGridY = 6,
  kCudaSharedPerBlock = 8,
  kCudaWarpSize = 10,
  kCudaClockKilohertz = 13,
  kCudaMultiprocessors = 16,
  kCudaMemoryClockKilohertz = 36,
  kCudaMemoryBusBits = 37,
  kCudaL2Bytes = 38,
  kCudaThreadsPerMultiprocessor = 39,
  kCudaCapabilityMajor = 75,
  kCudaCapabilityMinor = 76,
  kCudaRegistersPerMultiprocessor = 82,
  kCudaCooperativeLaunch = 95,
  kCudaSharedPerBlockOptIn = 97,
  kCudaBlocksPerMultiprocessor = 106,
};

enum CudaFunctionAttribute : int {
  kCudaFunctionMaxThreads = 0,
  kCudaFunctionSharedBytes = 1,
  kCudaFunctionRegisters = 4,
  kCudaFunctionMaxDynamicShared = 8,
};

inline constexpr unsigned kCudaStreamNonBlocking = 1;
inline constexpr unsigned kCudaEventDefault = 0;
inline constexpr unsigned kCudaHostMemoryMapped = 2;
inline constexpr unsigned kCudaWaitUntilAtLeast = 0;

/// The functions used, by their names without "cu". Enums are ints. Checked against cuda.h where the build
/// finds it.
struct CudaFunctions {
  int (*GetErrorName)(int, const char**);
  int (*Init)(unsigned);
  int (*DriverGetVersion)(int*);
  int (*DeviceGetCount)(int*);
  int (*DeviceGet)(int*, int);
  int (*DeviceGetName)(char*, int, int);
  int (*DeviceGetUuid)(CUuuid_st*, int);
  int (*DeviceTotalMem)(std::size_t*, int);
  int (*DeviceGetAttribute)(int*, int, int);
  int (*DevicePrimaryCtxRetain)(CUctx_st**, int);
  int (*DevicePrimaryCtxRelease)(int);
  int (*CtxSetCurrent)(CUctx_st*);
  int (*MemGetInfo)(std::size_t*, std::size_t*);
  int (*MemAlloc)(CudaAddress*, std::size_t);
  int (*MemFree)(CudaAddress);
  int (*MemHostAlloc)(void**, std::size_t, unsigned);
  int (*MemFreeHost)(void*);
  int (*MemHostGetDevicePointer)(CudaAddress*, void*, unsigned);
  int (*MemcpyHtoD)(CudaAddress, const void*, std::size_t);
  int (*MemcpyDtoH)(void*, CudaAddress, std::size_t);
  int (*MemsetD8Async)(CudaAddress, unsigned char, std::size_t, CUstream_st*);
  int (*ModuleLoadData)(CUmod_st**, const void*);
  int (*ModuleUnload)(CUmod_st*);
  int (*ModuleGetFunction)(CUfunc_st**, CUmod_st*, const char*);
  int (*FuncGetAttribute)(int*, int, CUfunc_st*);
  int (*FuncSetAttribute)(CUfunc_st*, int, int);
  int (*LaunchKernel)(CUfunc_st*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      CUstream_st*, void**, void**);
  int (*LaunchCooperativeKernel)(CUfunc_st*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                 CUstream_st*, void**);
  int (*OccupancyMaxActiveBlocksPerMultiprocessor)(int*, CUfunc_st*, int, std::size_t);
  int (*StreamCreate)(CUstream_st**, unsigned);
  int (*StreamDestroy)(CUstream_st*);
  int (*StreamSynchronize)(CUstream_st*);
  int (*EventCreate)(CUevent_st**, unsigned);
  int (*EventDestroy)(CUevent_st*);
  int (*EventRecord)(CUevent_st*, CUstream_st*);
  int (*EventElapsedTime)(float*, CUevent_st*, CUevent_st*);
  /// Null in old drivers: launches then start as they are enqueued.
  int (*StreamWaitValue32)(CUstream_st*, CudaAddress, std::uint32_t, unsigned);
};

struct CudaLibrary {
  std::string path;        // what was opened
  int driver_version = 0;  // of the newest CUDA that it supports: 13000 is 13.0
  CudaFunctions call{};
  std::string version_text() const;  // "CUDA 13.0"
};

/// The one of this process, opened on first use and never closed: $REDTUNE_CUDA_DRIVER, else libcuda.so.1. It
/// has not been initialised. Throws NoDevice with the loader's reason and the remedy.
const CudaLibrary& cuda_library();

/// Opens one file. Throws as cuda_library does.
CudaLibrary open_cuda_library(const std::string& path);

/// "CUDA_ERROR_ILLEGAL_ADDRESS (700)".
std::string cuda_error_text(const CudaLibrary& library, int code);

/// True for errors after which a context, and with it the process, is of no further use.
bool ends_the_context(int code);

/// "GPU-01234567-89ab-cdef-0123-456789abcdef", as CUDA_VISIBLE_DEVICES and nvidia-smi have it; "" when the
/// driver does not tell.
std::string cuda_uuid(const CudaLibrary& library, int device);

}  // namespace redtune
