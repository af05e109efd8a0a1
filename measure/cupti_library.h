// CUPTI, opened at run time: kernel times from activity records. For measure/cuda_*.cpp and the doctor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/sampling.h"

struct CUctx_st;             // the driver's
struct CUpti_Subscriber_st;  // CUPTI's own name for what its handle points to

namespace redtune {

/// Return codes that are acted on; the others are only reported.
enum CuptiCode : int {
  kCuptiSuccess = 0,
  kCuptiInsufficientPrivileges = 35,
  kCuptiMultipleSubscribers = 39,
  kCuptiVirtualizedInsufficientPrivileges = 40,
};

enum CuptiActivityKind : int { kCuptiMemset = 2, kCuptiConcurrentKernel = 10 };

inline constexpr int kCuptiDriverApi = 1;                 // domain of callbacks
inline constexpr std::uint32_t kCuptiLaunchCooperativeKernel = 477;  // cuLaunchCooperativeKernel in it
inline constexpr std::uint32_t kCuptiLaunchKernel = 307;  // cuLaunchKernel in it
inline constexpr std::uint32_t kCuptiFlushForced = 1;

using CuptiCallback = void (*)(void*, int, std::uint32_t, const void*);
using CuptiBufferRequest = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using CuptiBufferComplete = void (*)(CUctx_st*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

/// The functions used, by their names without "cupti". Enums are ints, a record is a void*. Checked against
/// cupti.h where the build finds it.
struct CuptiFunctions {
  int (*GetVersion)(std::uint32_t*);
  int (*GetResultString)(int, const char**);
  int (*Subscribe)(CUpti_Subscriber_st**, CuptiCallback, void*);
  int (*Unsubscribe)(CUpti_Subscriber_st*);
  int (*EnableCallback)(std::uint32_t, CUpti_Subscriber_st*, int, std::uint32_t);
  int (*ActivityEnable)(int);
  int (*ActivityDisable)(int);
  int (*ActivityRegisterCallbacks)(CuptiBufferRequest, CuptiBufferComplete);
  int (*ActivityFlushAll)(std::uint32_t);
  int (*ActivityGetNextRecord)(std::uint8_t*, std::size_t, void**);
};

struct CuptiLibrary {
  std::string path;           // what was opened
  std::uint32_t version = 0;  // of its interface
  CuptiFunctions call{};
};

/// Where CUPTI is looked for: only `override_path` when it is not empty; otherwise the known names on the
/// loader's path, then the toolkits that CUDA_HOME and CUDA_PATH name, then /usr/local/cuda.
std::vector<std::string> cupti_candidates(const std::string& override_path);

/// Opens the first candidate that loads and has the needed functions; it stays open until the process ends.
/// Throws NoDevice with the places tried, the loader's first reason, and the remedy.
CuptiLibrary open_cupti(const std::vector<std::string>& candidates);

/// The one of this process, opened on first use: $REDTUNE_CUPTI, else the places of cupti_candidates().
const CuptiLibrary& cupti_library();

/// What a refusal means and what helps, in one line: "CUPTI_ERROR_... (39): another tool ...".
std::string cupti_error_text(const CuptiLibrary& library, int code);

struct ActivityTime {
  std::uint32_t correlation = 0;  // of the call that caused it
  LaunchTime time;
};

/// Kernels and memsets of one record as CUPTI wrote it; nullopt for other kinds. Every CUPTI since CUDA 9
/// begins these records in the same way.
std::optional<ActivityTime> activity_time(const void* record);

/// Of what a callback on a driver function is told: the id that its activity record will bear.
std::uint32_t correlation_of_callback(const void* callback_data);

}  // namespace redtune
