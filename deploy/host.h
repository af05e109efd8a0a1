// Arrays in memory on an OpenCL device that the library opens itself: for callers without OpenCL of their own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "deploy/opencl_kernel.h"

namespace redtune::deploy {

class Host {
 public:
  /// `device` as `redtune devices` names it; "": the first. Throws Failure (REDTUNE_NO_DEVICE).
  explicit Host(const std::string& device);

  const std::string& name() const { return name_; }

  /// The kernel that serves `op`, made on first use and kept; `answer` gets what it was made from.
  std::shared_ptr<OpenClKernel> kernel(const ConfigIndex& store, const Operator& op, const std::string& key,
                                       Grade lowest, Answer& answer);
  /// Copies in, runs, copies out, waits. Any number of threads: one at a time.
  void run(OpenClKernel& kernel, std::span<const unsigned char> input, std::span<unsigned char> output);

 private:
  cl_device_id device_ = nullptr;
  std::string name_;
  ClContext context_;
  ClQueue queue_;
  BinaryCache cache_{nullptr};
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<OpenClKernel>> kernels_;  // by store, text and operator
};

}  // namespace redtune::deploy
