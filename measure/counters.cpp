#include "measure/counters.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "measure/cupti_library.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

// CUPTI's own parameter blocks, with enums as the ints that they are in memory; each begins with its size up
// to the last member that this program knows, so that newer libraries accept them.
struct HostObject;

struct SupportedChips {
  std::size_t size = sizeof(SupportedChips);
  void* reserved = nullptr;
  std::size_t count = 0;
  const char* const* names = nullptr;
};

struct HostInitialize {
  std::size_t size = sizeof(HostInitialize);
  void* reserved = nullptr;
  int profiler = 0;  // range profiler
  const char* chip = nullptr;
  const std::uint8_t* availability = nullptr;
  HostObject* host = nullptr;
};

struct HostDeinitialize {
  std::size_t size = sizeof(HostDeinitialize);
  void* reserved = nullptr;
  HostObject* host = nullptr;
};

struct MetricProperties {
  std::size_t size = offsetof(MetricProperties, type) + sizeof(int);
  void* reserved = nullptr;
  HostObject* host = nullptr;
  const char* metric = nullptr;
  const char* description = nullptr;
  const char* hardware_unit = nullptr;
  const char* unit = nullptr;
  int type = 0;
};

struct AddMetrics {
  std::size_t size = sizeof(AddMetrics);
  void* reserved = nullptr;
  HostObject* host = nullptr;
  const char** metrics = nullptr;
  std::size_t count = 0;
};

struct ConfigImageSize {
  std::size_t size = sizeof(ConfigImageSize);
  void* reserved = nullptr;
  HostObject* host = nullptr;
  std::size_t bytes = 0;
};

struct ConfigImage {
  std::size_t size = sizeof(ConfigImage);
  void* reserved = nullptr;
  HostObject* host = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
};

struct PassCount {
  std::size_t size = sizeof(PassCount);
  void* reserved = nullptr;
  std::size_t bytes = 0;
  std::uint8_t* image = nullptr;
  std::size_t passes = 0;
};

}  // namespace
}  // namespace redtune

#if defined(REDTUNE_HAVE_CUPTI_HEADERS) && __has_include(<cupti_profiler_host.h>)
#include <cupti_profiler_host.h>

namespace redtune {
namespace {

static_assert(sizeof(SupportedChips) == CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
static_assert(offsetof(SupportedChips, names) ==
              offsetof(CUpti_Profiler_Host_GetSupportedChips_Params, ppChipNames));
static_assert(sizeof(HostInitialize) == CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
static_assert(offsetof(HostInitialize, host) == offsetof(CUpti_Profiler_Host_Initialize_Params, pHostObject));
static_assert(CUPTI_PROFILER_TYPE_RANGE_PROFILER == 0);
static_assert(sizeof(HostDeinitialize) == CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
static_assert(offsetof(MetricProperties, type) + sizeof(int) ==
              CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
static_assert(offsetof(MetricProperties, unit) ==
              offsetof(CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit));
static_assert(sizeof(AddMetrics) == CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
static_assert(sizeof(ConfigImageSize) == CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
static_assert(sizeof(ConfigImage) == CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
static_assert(sizeof(PassCount) == CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);

}  // namespace
}  // namespace redtune
#endif

namespace redtune {
namespace {

constexpr std::array kCounters = {
    Counter{"dram_throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed",
            "share of the peak rate of memory; a reduction that reads everything once should be near it"},
    Counter{"dram_read_bytes", "dram__bytes_read.sum",
            "bytes read from memory; more than the input says that lines are read twice"},
    Counter{"dram_write_bytes", "dram__bytes_write.sum",
            "bytes written to memory; partial results that leave the cache show here"},
    Counter{"l2_hit_rate", "lts__t_sector_hit_rate.pct",
            "lookups of the L2 cache that hit; partial results and atomics should"},
    Counter{"sectors_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
            "sectors of 32 bytes per load of a warp; 4 for coalesced 4-byte loads, 16 for 16-byte ones"},
    Counter{"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active",
            "warps in flight over the most that fit"},
    Counter{"reduction_rate", "lts__t_sectors_op_red.sum.per_second",
            "atomics without a result that L2 carries out per second"},
    Counter{"atomic_rate", "lts__t_sectors_op_atom.sum.per_second",
            "atomics with a result (tickets, loops of compare-and-swap) per second"},
};

// The profiler names chips, not architectures: the largest of each.
constexpr std::array<std::pair<std::string_view, const char*>, 8> kChips = {{{"sm_70", "GV100"},
                                                                             {"sm_75", "TU102"},
                                                                             {"sm_80", "GA100"},
                                                                             {"sm_86", "GA102"},
                                                                             {"sm_89", "AD102"},
                                                                             {"sm_90", "GH100"},
                                                                             {"sm_100", "GB100"},
                                                                             {"sm_120", "GB202"}}};

const char* chip_of(const Target& target) {
  if (target.kind == TargetKind::kOpenClCpu) {
    throw UserError("target '" + target.name +
                    "' has no counters of a GPU; give a CUDA target, as --target sm_90");
  }
  std::vector<std::string> known;
  for (const auto& [architecture, chip] : kChips) {
    if (target.name == architecture) return chip;
    known.emplace_back(architecture);
  }
  throw UserError("the counters of target '" + target.name + "' are not known; known are " +
                  join(known, ", "));
}

// The profiler host functions of the CUPTI library that is open already.
class ProfilerHost {
 public:
  explicit ProfilerHost(const char* chip) : library_(cupti_library()) {
    handle_ = ::dlopen(library_.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    HostInitialize initialize;
    initialize.chip = chip;
    const int code = call("cuptiProfilerHostInitialize", initialize);
    if (code != kCuptiSuccess) {
      throw NoDevice("CUPTI (" + library_.path + ") has no counters of chip " + chip + ": " +
                     cupti_error_text(library_, code) +
                     ". Install the toolkit of a CUDA version that supports it");
    }
    host_ = initialize.host;
  }
  ~ProfilerHost() {
    HostDeinitialize end;
    end.host = host_;
    call("cuptiProfilerHostDeinitialize", end);
  }
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;

  // Whether the chip has it; fills unit and description.
  bool describe(CounterOfChip& counter) {
    const std::string metric(counter.counter.metric);
    MetricProperties properties;
    properties.host = host_;
    properties.metric = metric.c_str();
    if (call("cuptiProfilerHostGetMetricProperties", properties) != kCuptiSuccess) return false;
    counter.unit = properties.unit != nullptr ? properties.unit : "";
    counter.description = properties.description != nullptr ? properties.description : "";
    return true;
  }

  std::size_t passes(const std::vector<std::string>& metrics) {
    std::vector<const char*> names;
    for (const std::string& metric : metrics) names.push_back(metric.c_str());
    AddMetrics add;
    add.host = host_;
    add.metrics = names.data();
    add.count = names.size();
    check("cuptiProfilerHostConfigAddMetrics", add);
    ConfigImageSize size;
    size.host = host_;
    check("cuptiProfilerHostGetConfigImageSize", size);
    std::vector<std::uint8_t> bytes(size.bytes);
    ConfigImage image;
    image.host = host_;
    image.bytes = bytes.size();
    image.image = bytes.data();
    check("cuptiProfilerHostGetConfigImage", image);
    PassCount count;
    count.bytes = bytes.size();
    count.image = bytes.data();
    check("cuptiProfilerHostGetNumOfPasses", count);
    return count.passes;
  }

 private:
  template <typename Parameters>
  int call(const char* name, Parameters& parameters) {
    const auto function =
        reinterpret_cast<int (*)(Parameters*)>(handle_ != nullptr ? ::dlsym(handle_, name) : nullptr);
    if (function == nullptr) {
      throw NoDevice("CUPTI (" + library_.path + ") lacks " + name +
                     ": it came with CUDA 12.6. Install a newer package "
                     "cuda-cupti, or set REDTUNE_CUPTI to the file libcupti.so.<version> of a newer toolkit");
    }
    return function(&parameters);
  }

  template <typename Parameters>
  void check(const char* name, Parameters& parameters) {
    const int code = call(name, parameters);
    if (code != kCuptiSuccess) throw NoDevice(std::string(name) + ": " + cupti_error_text(library_, code));
  }

  const CuptiLibrary& library_;
  void* handle_ = nullptr;
  HostObject* host_ = nullptr;
};

}  // namespace

std::span<const Counter> counters() { return kCounters; }

ChipCounters counters_of(const Target& target) {
  ChipCounters result;
  result.chip = chip_of(target);
  ProfilerHost host(result.chip.c_str());
  std::vector<std::string> metrics;
  for (const Counter& counter : kCounters) {
    CounterOfChip& row = result.counters.emplace_back(CounterOfChip{counter, false, "", ""});
    row.available = host.describe(row);
    if (row.available) metrics.emplace_back(counter.metric);
  }
  if (!metrics.empty()) result.passes = host.passes(metrics);
  return result;
}

}  // namespace redtune
