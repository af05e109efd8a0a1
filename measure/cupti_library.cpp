#include "measure/cupti_library.h"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "measure/plain_prototype.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

// The beginnings of CUPTI's records and of its callback data; what follows differs by version.
struct KernelRecord {
  std::uint32_t kind;
  std::uint8_t cache, shared;
  std::uint16_t registers;
  std::uint32_t partitioned_requested, partitioned_executed;
  std::uint64_t start, end, completed;
  std::uint32_t device, context, stream;
  std::int32_t grid[3], block[3], static_shared, dynamic_shared;
  std::uint32_t local_per_thread, local_total, correlation;
};

struct MemsetRecord {
  std::uint32_t kind, value;
  std::uint64_t bytes, start, end;
  std::uint32_t device, context, stream, correlation;
};

struct CallbackData {
  std::uint32_t site;
  const char* function;
  const void* parameters;
  void* returned;
  const char* symbol;
  CUctx_st* context;
  std::uint32_t context_id;
  std::uint64_t* correlation_data;
  std::uint32_t correlation;
};

}  // namespace
}  // namespace redtune

#ifdef REDTUNE_HAVE_CUPTI_HEADERS
#include <cupti.h>

namespace redtune {

template <>
struct PlainType<CUpti_Activity**> {
  using type = void**;
};

namespace {

static_assert(kSamePrototype<&cuptiGetVersion, decltype(CuptiFunctions::GetVersion)>);
static_assert(kSamePrototype<&cuptiGetResultString, decltype(CuptiFunctions::GetResultString)>);
static_assert(kSamePrototype<&cuptiSubscribe, decltype(CuptiFunctions::Subscribe)>);
static_assert(kSamePrototype<&cuptiUnsubscribe, decltype(CuptiFunctions::Unsubscribe)>);
static_assert(kSamePrototype<&cuptiEnableCallback, decltype(CuptiFunctions::EnableCallback)>);
static_assert(kSamePrototype<&cuptiActivityEnable, decltype(CuptiFunctions::ActivityEnable)>);
static_assert(kSamePrototype<&cuptiActivityDisable, decltype(CuptiFunctions::ActivityDisable)>);
static_assert(kSamePrototype<&cuptiActivityRegisterCallbacks, decltype(CuptiFunctions::ActivityRegisterCallbacks)>);
static_assert(kSamePrototype<&cuptiActivityFlushAll, decltype(CuptiFunctions::ActivityFlushAll)>);
static_assert(kSamePrototype<&cuptiActivityGetNextRecord, decltype(CuptiFunctions::ActivityGetNextRecord)>);
static_assert(int{CUPTI_ERROR_INSUFFICIENT_PRIVILEGES} == kCuptiInsufficientPrivileges &&
              int{CUPTI_ACTIVITY_KIND_MEMSET} == kCuptiMemset &&
              int{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL} == kCuptiConcurrentKernel &&
              int{CUPTI_CB_DOMAIN_DRIVER_API} == kCuptiDriverApi &&
              int{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel} == kCuptiLaunchKernel &&
              int{CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel} == kCuptiLaunchCooperativeKernel &&
              int{CUPTI_ACTIVITY_FLAG_FLUSH_FORCED} == kCuptiFlushForced);
static_assert(offsetof(CUpti_CallbackData, correlationId) == offsetof(CallbackData, correlation));
#if CUPTI_API_VERSION >= 18  // CUDA 12
static_assert(int{CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED} == kCuptiMultipleSubscribers &&
              int{CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES} ==
                  kCuptiVirtualizedInsufficientPrivileges);
static_assert(offsetof(CUpti_ActivityKernel9, start) == offsetof(KernelRecord, start) &&
              offsetof(CUpti_ActivityKernel9, end) == offsetof(KernelRecord, end) &&
              offsetof(CUpti_ActivityKernel9, correlationId) == offsetof(KernelRecord, correlation));
static_assert(offsetof(CUpti_ActivityMemset4, start) == offsetof(MemsetRecord, start) &&
              offsetof(CUpti_ActivityMemset4, end) == offsetof(MemsetRecord, end) &&
              offsetof(CUpti_ActivityMemset4, correlationId) == offsetof(MemsetRecord, correlation));
#endif

}  // namespace
}  // namespace redtune
#endif

namespace redtune {
namespace {

constexpr std::array kNames = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
constexpr std::array kFolders = {"/extras/CUPTI/lib64/", "/lib64/", "/lib/"};

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

template <typename F>
bool resolve(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(::dlsym(library, name));
  return function != nullptr;
}

bool resolve_all(void* h, CuptiFunctions& f) {
  return resolve(h, "cuptiGetVersion", f.GetVersion) &&
         resolve(h, "cuptiGetResultString", f.GetResultString) && resolve(h, "cuptiSubscribe", f.Subscribe) &&
         resolve(h, "cuptiUnsubscribe", f.Unsubscribe) &&
         resolve(h, "cuptiEnableCallback", f.EnableCallback) &&
         resolve(h, "cuptiActivityEnable", f.ActivityEnable) &&
         resolve(h, "cuptiActivityDisable", f.ActivityDisable) &&
         resolve(h, "cuptiActivityRegisterCallbacks", f.ActivityRegisterCallbacks) &&
         resolve(h, "cuptiActivityFlushAll", f.ActivityFlushAll) &&
         resolve(h, "cuptiActivityGetNextRecord", f.ActivityGetNextRecord);
}

// Records are packed to 8 bytes and may lie anywhere: copied, not cast.
template <typename Record>
ActivityTime time_of(const void* record) {
  Record copy;
  std::memcpy(&copy, record, sizeof copy);
  return {copy.correlation, {copy.start, copy.end}};
}

}  // namespace

std::vector<std::string> cupti_candidates(const std::string& override_path) {
  if (!override_path.empty()) return {override_path};
  std::vector<std::string> candidates(kNames.begin(), kNames.end());
  for (const std::string& root :
       {environment("CUDA_HOME"), environment("CUDA_PATH"), std::string("/usr/local/cuda")}) {
    if (root.empty()) continue;
    for (const char* folder : kFolders) {
      for (const char* name : kNames) candidates.push_back(root + folder + name);
    }
  }
  return candidates;
}

CuptiLibrary open_cupti(const std::vector<std::string>& candidates) {
  std::string reason;
  for (const std::string& path : candidates) {
    // Never closed: CUPTI leaves hooks in the driver.
    void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    CuptiLibrary library;
    if (handle != nullptr && resolve_all(handle, library.call)) {
      library.path = path;
      if (library.call.GetVersion(&library.version) != kCuptiSuccess) library.version = 0;
      return library;
    }
    const char* const complaint = handle == nullptr ? ::dlerror() : "lacks a needed function";
    if (reason.empty() && complaint != nullptr) reason = complaint;
  }
  throw NoDevice("CUPTI was not found (" + reason + "); tried " + join(candidates, ", ") +
                 ". Install it (package cuda-cupti or nvidia-cuda-cupti), or set REDTUNE_CUPTI to the file "
                 "libcupti.so.<version>, or CUDA_HOME to the toolkit");
}

const CuptiLibrary& cupti_library() {
  static const CuptiLibrary* const library =
      new CuptiLibrary(open_cupti(cupti_candidates(environment("REDTUNE_CUPTI"))));
  return *library;
}

std::string cupti_error_text(const CuptiLibrary& library, int code) {
  const char* name = nullptr;
  if (library.call.GetResultString(code, &name) != kCuptiSuccess || name == nullptr) name = "CUPTI error";
  const std::string text = std::string(name) + " (" + std::to_string(code) + ")";
  switch (code) {
    case kCuptiMultipleSubscribers:
      return text +
             ": another tool (a profiler, a sanitizer) holds CUPTI's only subscription; run without it";
    case kCuptiInsufficientPrivileges:
    case kCuptiVirtualizedInsufficientPrivileges:
      return text +
             ": ERR_NVGPUCTRPERM, this user may not profile; load the nvidia module with "
             "NVreg_RestrictProfilingToAdminUsers=0, or run as root, in a container with --cap-add=SYS_ADMIN";
    default:
      return text;
  }
}

std::optional<ActivityTime> activity_time(const void* record) {
  std::uint32_t kind = 0;
  std::memcpy(&kind, record, sizeof kind);
  if (kind == kCuptiConcurrentKernel) return time_of<KernelRecord>(record);
  if (kind == kCuptiMemset) return time_of<MemsetRecord>(record);
  return std::nullopt;
}

std::uint32_t correlation_of_callback(const void* callback_data) {
  return static_cast<const CallbackData*>(callback_data)->correlation;
}

}  // namespace redtune
