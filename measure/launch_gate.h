// Holds a CUDA stream back while a repetition is enqueued, so that its launches follow each other without the
// host's gaps.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "measure/cuda_library.h"

namespace redtune {

/// The stream waits for a word in host memory that the device reads. Where the driver lacks that, or
/// something (a profiler that runs kernels one by one) makes launches wait for the stream, the gate stays
/// open for good.
class LaunchGate {
 public:
  /// The stream outlives the gate.
  LaunchGate(const CudaLibrary& cuda, CUstream_st* stream);
  ~LaunchGate();
  LaunchGate(const LaunchGate&) = delete;
  LaunchGate& operator=(const LaunchGate&) = delete;

  /// What is enqueued from here on waits for `open`.
  void close();
  void open();
  /// False once it stays open.
  bool works() const { return works_; }

 private:
  void watch();
  void release(std::uint32_t ticket);

  const CudaLibrary& cuda_;
  CUstream_st* stream_;
  std::uint32_t* word_ = nullptr;  // highest ticket that may pass
  CudaAddress word_address_ = 0;   // the same, for the device
  std::atomic<std::uint32_t> closed_{0}, opened_{0};
  std::atomic<bool> works_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread watchdog_;
};

}  // namespace redtune
