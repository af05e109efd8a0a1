#include "codegen/nvrtc_library.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <type_traits>

#include "support/error.h"
#include "support/text.h"

#ifdef REDTUNE_HAVE_CUDA_HEADERS
#include <nvrtc.h>

namespace redtune {
namespace {

// NVRTC's prototype with its enum as the int that it is in memory.
template <typename T>
using Plain = std::conditional_t<std::is_same_v<T, nvrtcResult>, int, T>;
template <typename F>
struct PlainFunction;
template <typename R, typename... A>
struct PlainFunction<R (*)(A...)> {
  using type = Plain<R> (*)(Plain<A>...);
};
template <auto Theirs, typename Ours>
constexpr bool kSame = std::is_same_v<typename PlainFunction<decltype(Theirs)>::type, Ours>;

static_assert(std::is_same_v<nvrtcProgram, _nvrtcProgram*> && sizeof(nvrtcResult) == sizeof(int));
static_assert(kSame<&nvrtcGetErrorString, decltype(NvrtcFunctions::GetErrorString)>);
static_assert(kSame<&nvrtcVersion, decltype(NvrtcFunctions::Version)>);
static_assert(kSame<&nvrtcGetNumSupportedArchs, decltype(NvrtcFunctions::GetNumSupportedArchs)>);
static_assert(kSame<&nvrtcGetSupportedArchs, decltype(NvrtcFunctions::GetSupportedArchs)>);
static_assert(kSame<&nvrtcCreateProgram, decltype(NvrtcFunctions::CreateProgram)>);
static_assert(kSame<&nvrtcDestroyProgram, decltype(NvrtcFunctions::DestroyProgram)>);
static_assert(kSame<&nvrtcCompileProgram, decltype(NvrtcFunctions::CompileProgram)>);
static_assert(kSame<&nvrtcGetProgramLogSize, decltype(NvrtcFunctions::GetProgramLogSize)>);
static_assert(kSame<&nvrtcGetProgramLog, decltype(NvrtcFunctions::GetProgramLog)>);
static_assert(kSame<&nvrtcGetPTXSize, decltype(NvrtcFunctions::GetPTXSize)>);
static_assert(kSame<&nvrtcGetPTX, decltype(NvrtcFunctions::GetPTX)>);
static_assert(kSame<&nvrtcGetCUBINSize, decltype(NvrtcFunctions::GetCUBINSize)>);
static_assert(kSame<&nvrtcGetCUBIN, decltype(NvrtcFunctions::GetCUBIN)>);
static_assert(int{NVRTC_SUCCESS} == kNvrtcSuccess && int{NVRTC_ERROR_INVALID_OPTION} == kNvrtcInvalidOption &&
              int{NVRTC_ERROR_COMPILATION} == kNvrtcCompilation &&
              int{NVRTC_ERROR_BUILTIN_OPERATION_FAILURE} == kNvrtcBuiltinOperationFailure);

}  // namespace
}  // namespace redtune
#endif

namespace redtune {
namespace {

constexpr std::array kNames = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Fills one function pointer. Object and function pointers have one size wherever dlsym exists.
template <typename F>
bool resolve(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, name));
  return function != nullptr;
}

bool resolve_all(void* h, NvrtcFunctions& f) {
  resolve(h, "nvrtcSetFlowCallback", f.SetFlowCallback);
  return resolve(h, "nvrtcGetErrorString", f.GetErrorString) && resolve(h, "nvrtcVersion", f.Version) &&
         resolve(h, "nvrtcGetNumSupportedArchs", f.GetNumSupportedArchs) &&
         resolve(h, "nvrtcGetSupportedArchs", f.GetSupportedArchs) &&
         resolve(h, "nvrtcCreateProgram", f.CreateProgram) &&
         resolve(h, "nvrtcDestroyProgram", f.DestroyProgram) &&
         resolve(h, "nvrtcCompileProgram", f.CompileProgram) &&
         resolve(h, "nvrtcGetProgramLogSize", f.GetProgramLogSize) &&
         resolve(h, "nvrtcGetProgramLog", f.GetProgramLog) && resolve(h, "nvrtcGetPTXSize", f.GetPTXSize) &&
         resolve(h, "nvrtcGetPTX", f.GetPTX) && resolve(h, "nvrtcGetCUBINSize", f.GetCUBINSize) &&
         resolve(h, "nvrtcGetCUBIN", f.GetCUBIN);
}

}  // namespace

std::vector<std::string> nvrtc_candidates(const std::string& override_path) {
  if (!override_path.empty()) return {override_path};
  std::vector<std::string> candidates(kNames.begin(), kNames.end());
  for (const std::string& root :
       {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    for (const char* name : kNames) candidates.push_back(root + "/lib64/" + name);
  }
  return candidates;
}

std::unique_ptr<NvrtcLibrary> open_nvrtc(const std::vector<std::string>& candidates) {
  auto library = std::make_unique<NvrtcLibrary>();
  std::string reason;
  for (const std::string& path : candidates) {
    library->searched.push_back(path);
    // Never closed: NVRTC keeps threads and tables that outlive any use of ours.
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr && resolve_all(handle, library->call) &&
        library->call.Version(&library->major, &library->minor) == kNvrtcSuccess) {
      library->path = path;
      return library;
    }
    const char* complaint = handle == nullptr ? ::dlerror() : "lacks a needed function (older than 11.2)";
    if (reason.empty() && complaint != nullptr) reason = complaint;
  }
  throw NoDevice("NVRTC, the CUDA run-time compiler, was not found (" + reason + "); tried " +
                 join(library->searched, ", ") +
                 ". Install it (package cuda-nvrtc or nvidia-cuda-nvrtc), or set REDTUNE_NVRTC to the file "
                 "libnvrtc.so.<version>, or CUDA_HOME to the toolkit");
}

}  // namespace redtune
