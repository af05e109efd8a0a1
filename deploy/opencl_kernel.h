// A kernel of a config on one OpenCL device: built once, launched on any queue of its context by any thread.
#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "configs/config_index.h"
#include "deploy/binary_cache.h"
#include "deploy/opencl_library.h"
#include "support/unique_handle.h"

namespace redtune::deploy {

template <typename Handle, auto Function>
struct ClHandleTraits {
  using handle = Handle;
  static Handle invalid() { return nullptr; }
  static void close(Handle h) noexcept { (opencl().*Function)(h); }
};
using ClContext = UniqueHandle<ClHandleTraits<cl_context, &OpenClFunctions::ReleaseContext>>;
using ClQueue = UniqueHandle<ClHandleTraits<cl_command_queue, &OpenClFunctions::ReleaseCommandQueue>>;
using ClProgram = UniqueHandle<ClHandleTraits<cl_program, &OpenClFunctions::ReleaseProgram>>;
using ClKernel = UniqueHandle<ClHandleTraits<cl_kernel, &OpenClFunctions::ReleaseKernel>>;
using ClMemory = UniqueHandle<ClHandleTraits<cl_mem, &OpenClFunctions::ReleaseMemObject>>;
using ClEvent = UniqueHandle<ClHandleTraits<cl_event, &OpenClFunctions::ReleaseEvent>>;

/// Throws Failure: REDTUNE_OUT_OF_MEMORY where the code says so, else `status`.
void check_cl(cl_int code, redtune_status status, const std::string& what);

/// The name that configs have for the device.
std::string device_name_of(cl_device_id device);

/// Why a config's launches do not fit the device; "" when they do. Register needs show only when it is built.
std::string why_not_on(cl_device_id device, const Config& config);

class OpenClKernel {
 public:
  /// Builds from the cache's binary, else from the text in the store; what was compiled is kept in the cache.
  OpenClKernel(cl_context context, cl_device_id device, const std::string& store, const Config& config,
               const BinaryCache& cache);
  ~OpenClKernel();

  /// One repetition; see redtune_opencl_launch.
  void launch(cl_command_queue queue, cl_mem input, cl_mem output, cl_uint wait_count, const cl_event* wait,
              cl_event* done);
  bool was_cached() const { return was_cached_; }

 private:
  struct Lane;  // what one queue needs for itself: kernel objects, whose arguments are state, and workspace
  void build(const std::string& store, const BinaryCache& cache);
  bool build_from(const std::string& binary, const std::string& options);
  std::string binary() const;
  Lane& lane_of(cl_command_queue queue);
  std::unique_ptr<Lane> make_lane(cl_command_queue queue) const;
  void check_buffers(cl_mem input, cl_mem output) const;
  void zero_counters(Lane& lane) const;
  void enqueue(Lane& lane, cl_mem input, cl_mem output, cl_uint wait_count, const cl_event* wait, cl_event* done);

  ClContext context_;
  cl_device_id device_;
  std::vector<KernelLaunch> launches_;
  std::vector<BufferSpec> buffers_;
  KernelFile file_;
  std::size_t input_bytes_ = 0, output_bytes_ = 0;
  ClProgram program_;
  bool was_cached_ = false;
  std::shared_mutex lanes_mutex_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace redtune::deploy
