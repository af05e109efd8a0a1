// The two clocks of a CUDA device. One worker uses one of them from its start to its end.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "measure/cuda_library.h"
#include "measure/sampling.h"

namespace redtune {

inline constexpr std::string_view kCuptiClock = "cupti";             // activity records of kernels
inline constexpr std::string_view kCudaEventsClock = "cuda_events";  // events around launches: gaps count

/// Times the launches of one repetition. One thread.
class CudaClock {
 public:
  virtual ~CudaClock() = default;
  /// Nothing of the repetition has been enqueued, the stream is idle or held back.
  virtual void begin() = 0;
  /// One more launch has been enqueued.
  virtual void launched() = 0;
  /// The stream has ended. One time per launch in order; what the clock lost is missing, what it got wrong is
  /// not made better: the sampler judges (measure/sampling.h).
  virtual std::vector<LaunchTime> times() = 0;
};

/// Why CUPTI cannot be used, with the remedy.
class ClockRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws ClockRefused: no library, another subscriber, no permission, a version that does not fit the
/// driver. One at a time in a process.
std::unique_ptr<CudaClock> make_cupti_clock();

/// Resolution half a microsecond; the gaps between launches belong to them.
std::unique_ptr<CudaClock> make_event_clock(const CudaLibrary& cuda, CUstream_st* stream);

/// Whether CUPTI really records something here: opens it and looks for the record of a memset in the current
/// context. Returns "" or why not.
std::string why_no_cupti(const CudaLibrary& cuda);

}  // namespace redtune
