#include "measure/cuda_clock.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "measure/cupti_library.h"
#include "support/error.h"

namespace redtune {
namespace {

// CUPTI's callbacks for buffers carry no pointer of ours, and may still come while the process ends.
struct Records {
  std::mutex mutex;
  std::map<std::uint32_t, LaunchTime> of;  // by correlation id
};

Records& records() {
  static Records* const all = new Records;
  return *all;
}

void request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  constexpr std::size_t kBytes = 64 * 1024, kAlignment = 8;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
  *size = *buffer != nullptr ? kBytes : 0;
  *most_records = 0;  // as many as fit
}

void complete_buffer(CUctx_st*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const CuptiLibrary& cupti = cupti_library();
  void* record = nullptr;
  while (valid > 0 && cupti.call.ActivityGetNextRecord(buffer, valid, &record) == kCuptiSuccess) {
    if (const std::optional<ActivityTime> found = activity_time(record)) {
      const std::lock_guard lock(records().mutex);
      records().of[found->correlation] = found->time;
    }
  }
  std::free(buffer);
}

class CuptiClock : public CudaClock {
 public:
  CuptiClock() : cupti_(library()) {
    // The subscription tells each launch's correlation id; whoever holds it is the only one that can.
    check(cupti_.call.Subscribe(&subscriber_, &CuptiClock::on_launch, this));
    try {
      for (const std::uint32_t launch : {kCuptiLaunchKernel, kCuptiLaunchCooperativeKernel})
        check(cupti_.call.EnableCallback(1, subscriber_, kCuptiDriverApi, launch));
      check(cupti_.call.ActivityRegisterCallbacks(&request_buffer, &complete_buffer));
      check(cupti_.call.ActivityEnable(kCuptiConcurrentKernel));
      check(cupti_.call.ActivityEnable(kCuptiMemset));
    } catch (...) {
      cupti_.call.Unsubscribe(subscriber_);
      throw;
    }
  }

  ~CuptiClock() override {
    cupti_.call.ActivityDisable(kCuptiConcurrentKernel);
    cupti_.call.ActivityDisable(kCuptiMemset);
    cupti_.call.Unsubscribe(subscriber_);
  }
  CuptiClock(const CuptiClock&) = delete;
  CuptiClock& operator=(const CuptiClock&) = delete;

  void begin() override {
    launches_.clear();
    const std::lock_guard lock(records().mutex);
    records().of.clear();
  }

  void launched() override {}

  std::vector<LaunchTime> times() override {
    // Records of a kernel that has ended may take a moment to be complete; the last try takes what there is.
    constexpr int kTries = 20;
    for (int i = 0; i < kTries && !collect(i + 1 == kTries ? kCuptiFlushForced : 0); ++i) {
      if (i > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::vector<LaunchTime> found;
    const std::lock_guard lock(records().mutex);
    for (const std::uint32_t id : launches_) {
      const auto at = records().of.find(id);
      if (at != records().of.end()) found.push_back(at->second);
    }
    return found;
  }

  /// Records that have come, of whatever: for the first look.
  std::size_t flushed() {
    collect(0);
    collect(kCuptiFlushForced);
    const std::lock_guard lock(records().mutex);
    return records().of.size();
  }

 private:
  static const CuptiLibrary& library() {
    try {
      return cupti_library();
    } catch (const NoDevice& error) {
      throw ClockRefused(error.what());
    }
  }

  void check(int code) const {
    if (code != kCuptiSuccess) throw ClockRefused(cupti_error_text(cupti_, code));
  }

  // Called when a launch begins and when it returns, by the thread that launches.
  static void on_launch(void* self, int, std::uint32_t function, const void* data) {
    if (function != kCuptiLaunchKernel && function != kCuptiLaunchCooperativeKernel) return;
    std::vector<std::uint32_t>& launches = static_cast<CuptiClock*>(self)->launches_;
    const std::uint32_t id = correlation_of_callback(data);
    if (launches.empty() || launches.back() != id) launches.push_back(id);
  }

  bool collect(std::uint32_t how) {
    cupti_.call.ActivityFlushAll(how);
    const std::lock_guard lock(records().mutex);
    return std::ranges::all_of(launches_, [](std::uint32_t id) { return records().of.contains(id); });
  }

  const CuptiLibrary& cupti_;
  CUpti_Subscriber_st* subscriber_ = nullptr;
  std::vector<std::uint32_t> launches_;  // correlation ids of this repetition, in order
};

class EventClock : public CudaClock {
 public:
  EventClock(const CudaLibrary& cuda, CUstream_st* stream) : cuda_(cuda), stream_(stream) {}
  ~EventClock() override {
    for (CUevent_st* event : events_) cuda_.call.EventDestroy(event);
  }
  EventClock(const EventClock&) = delete;
  EventClock& operator=(const EventClock&) = delete;

  void begin() override {
    used_ = 0;
    mark();
  }
  void launched() override { mark(); }

  std::vector<LaunchTime> times() override {
    // From the first event on; the clock's own zero means nothing.
    constexpr std::uint64_t kFirst = 1;
    std::vector<LaunchTime> found;
    std::uint64_t before = kFirst;
    for (std::size_t i = 1; i < used_; ++i) {
      float milliseconds = 0;
      if (cuda_.call.EventElapsedTime(&milliseconds, events_[0], events_[i]) != kCudaSuccess) break;
      const std::uint64_t end = kFirst + static_cast<std::uint64_t>(std::max(milliseconds, 0.0f) * 1e6f);
      found.push_back({before, end});
      before = end;
    }
    return found;
  }

 private:
  void mark() {
    if (used_ == events_.size()) {
      CUevent_st* event = nullptr;
      if (cuda_.call.EventCreate(&event, kCudaEventDefault) != kCudaSuccess) return;
      events_.push_back(event);
    }
    if (cuda_.call.EventRecord(events_[used_], stream_) == kCudaSuccess) ++used_;
  }

  const CudaLibrary& cuda_;
  CUstream_st* stream_;
  std::vector<CUevent_st*> events_;
  std::size_t used_ = 0;
};

}  // namespace

std::unique_ptr<CudaClock> make_cupti_clock() { return std::make_unique<CuptiClock>(); }

std::unique_ptr<CudaClock> make_event_clock(const CudaLibrary& cuda, CUstream_st* stream) {
  return std::make_unique<EventClock>(cuda, stream);
}

std::string why_no_cupti(const CudaLibrary& cuda) {
  try {
    CuptiClock clock;
    clock.begin();
    CudaAddress address = 0;
    constexpr std::size_t kBytes = 4096;
    if (cuda.call.MemAlloc(&address, kBytes) != kCudaSuccess) return "no memory on the device to try it";
    const bool ran = cuda.call.MemsetD8Async(address, 0, kBytes, nullptr) == kCudaSuccess &&
                     cuda.call.StreamSynchronize(nullptr) == kCudaSuccess;
    const std::size_t found = ran ? clock.flushed() : 0;
    cuda.call.MemFree(address);
    return found > 0 ? "" : "it records nothing (" + cupti_library().path + " may not fit the driver)";
  } catch (const ClockRefused& refused) {
    return refused.what();
  }
}

}  // namespace redtune
