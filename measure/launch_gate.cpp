#include "measure/launch_gate.h"

#include <algorithm>
#include <chrono>

namespace redtune {

LaunchGate::LaunchGate(const CudaLibrary& cuda, CUstream_st* stream) : cuda_(cuda), stream_(stream) {
  if (cuda_.call.StreamWaitValue32 == nullptr) return;
  void* word = nullptr;
  if (cuda_.call.MemHostAlloc(&word, sizeof *word_, kCudaHostMemoryMapped) != kCudaSuccess) return;
  word_ = static_cast<std::uint32_t*>(word);
  *word_ = 0;
  if (cuda_.call.MemHostGetDevicePointer(&word_address_, word, 0) != kCudaSuccess) return;
  works_ = true;
  watchdog_ = std::thread([this] { watch(); });
}

LaunchGate::~LaunchGate() {
  open();
  if (watchdog_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    wake_.notify_all();
    watchdog_.join();
  }
  if (word_ != nullptr) cuda_.call.MemFreeHost(word_);
}

void LaunchGate::close() {
  if (!works_) return;
  const std::uint32_t ticket = closed_ + 1;
  if (cuda_.call.StreamWaitValue32(stream_, word_address_, ticket, kCudaWaitUntilAtLeast) != kCudaSuccess) {
    works_ = false;
    return;
  }
  closed_ = ticket;
}

void LaunchGate::open() { release(closed_); }

// Two threads may release: the word only ever grows.
void LaunchGate::release(std::uint32_t ticket) {
  if (word_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  const std::atomic_ref<std::uint32_t> word(*word_);
  word.store(std::max(word.load(), ticket));
  opened_ = std::max(opened_.load(), ticket);
}

// Looks from time to time instead of being told: nothing here may cost a launch time.
void LaunchGate::watch() {
  constexpr auto kPatience = std::chrono::milliseconds(500);
  std::uint32_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (wake_.wait_for(lock, kPatience, [this] { return ending_; })) return;
    }
    const std::uint32_t closed = closed_;
    if (closed > opened_ && closed == seen) {
      works_ = false;
      release(closed);
    }
    seen = closed;
  }
}

}  // namespace redtune
