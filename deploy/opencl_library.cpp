#include "deploy/opencl_library.h"

#include <dlfcn.h>

#include <utility>

#include "deploy/failure.h"

namespace redtune::deploy {
namespace {

class ClResolver {
 public:
  explicit ClResolver(void* library) : library_(library) {}
  template <typename F>
  void need(F*& function, const char* symbol) {
    function = reinterpret_cast<F*>(::dlsym(library_, symbol));
    if (function == nullptr && missing_.empty()) missing_ = symbol;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

std::string resolve_opencl(void* library, OpenClFunctions& f) {
  ClResolver r(library);
#define REDTUNE_NEED(name) r.need(f.name, "cl" #name)
  REDTUNE_NEED(GetPlatformIDs);
  REDTUNE_NEED(GetPlatformInfo);
  REDTUNE_NEED(GetDeviceIDs);
  REDTUNE_NEED(GetDeviceInfo);
  REDTUNE_NEED(CreateContext);
  REDTUNE_NEED(ReleaseContext);
  REDTUNE_NEED(RetainContext);
  REDTUNE_NEED(CreateCommandQueue);
  REDTUNE_NEED(RetainCommandQueue);
  REDTUNE_NEED(ReleaseCommandQueue);
  REDTUNE_NEED(GetCommandQueueInfo);
  REDTUNE_NEED(CreateBuffer);
  REDTUNE_NEED(GetMemObjectInfo);
  REDTUNE_NEED(ReleaseMemObject);
  REDTUNE_NEED(CreateProgramWithSource);
  REDTUNE_NEED(CreateProgramWithBinary);
  REDTUNE_NEED(BuildProgram);
  REDTUNE_NEED(GetProgramInfo);
  REDTUNE_NEED(GetProgramBuildInfo);
  REDTUNE_NEED(ReleaseProgram);
  REDTUNE_NEED(CreateKernel);
  REDTUNE_NEED(GetKernelWorkGroupInfo);
  REDTUNE_NEED(SetKernelArg);
  REDTUNE_NEED(ReleaseKernel);
  REDTUNE_NEED(EnqueueNDRangeKernel);
  REDTUNE_NEED(EnqueueFillBuffer);
  REDTUNE_NEED(EnqueueReadBuffer);
  REDTUNE_NEED(EnqueueMarkerWithWaitList);
  REDTUNE_NEED(RetainEvent);
  REDTUNE_NEED(ReleaseEvent);
  REDTUNE_NEED(WaitForEvents);
  REDTUNE_NEED(Finish);
#undef REDTUNE_NEED
  return r.missing();
}

const OpenClFunctions* open_opencl() {
  void* const library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = ::dlerror();
    throw Failure(REDTUNE_NO_DEVICE, std::string("the OpenCL loader is not here (") +
                                         (reason != nullptr ? reason : "no reason") +
                                         "); install ocl-icd-libopencl1 and a driver (for the CPU "
                                         "pocl-opencl-icd)");
  }
  auto* const functions = new OpenClFunctions{};
  const std::string missing = resolve_opencl(library, *functions);
  if (missing.empty()) return functions;
  delete functions;
  throw Failure(REDTUNE_NO_DEVICE, "libOpenCL.so.1 lacks " + missing + ": OpenCL 1.2 is needed");
}

}  // namespace

const OpenClFunctions& opencl() {
  static const OpenClFunctions* const functions = open_opencl();
  return *functions;
}

std::string opencl_error_text(cl_int code) {
  constexpr std::pair<cl_int, const char*> kNames[] = {
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
      {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
      {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
      {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
      {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
      {CL_INVALID_EVENT_WAIT_LIST, "CL_INVALID_EVENT_WAIT_LIST"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
      {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
  };
  for (const auto& [known, text] : kNames) {
    if (known == code) return std::string(text) + " (" + std::to_string(code) + ")";
  }
  return "OpenCL error " + std::to_string(code);
}

}  // namespace redtune::deploy
