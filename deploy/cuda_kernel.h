// A kernel of a config in one CUDA context: loaded once, launched on any stream by any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "configs/config_index.h"
#include "deploy/binary_cache.h"
#include "measure/cuda_library.h"
#include "support/unique_handle.h"

namespace redtune::deploy {

/// The device behind the context that is current in the calling thread.
struct CudaPlace {
  CUctx_st* context = nullptr;
  int device = 0;
  std::string name;  // as configs have it
  int capability = 0;  // 90
};
/// Throws Failure (REDTUNE_NO_DEVICE) without a driver, REDTUNE_BAD_INPUT without a current context.
CudaPlace current_cuda_place();

/// Why a config's launches do not fit the device; "" when they do.
std::string why_not_on(const CudaPlace& place, const Config& config);

class CudaKernel {
 public:
  /// Takes the cubin in the store that fits the device, else what the cache holds, else compiles by NVRTC (kept in the
  /// cache), else PTX in the store.
  CudaKernel(const CudaPlace& place, const std::string& store, const Config& config, const BinaryCache& cache);
  ~CudaKernel();

  /// One repetition; see redtune_cuda_launch.
  void launch(CUstream_st* stream, CudaAddress input, CudaAddress output);
  bool was_cached() const { return was_cached_; }

 private:
  struct Lane;  // the workspace of one stream
  std::string image_for(const CudaPlace& place, const std::string& store, const KernelFile& file,
                        const BinaryCache& cache);
  Lane& lane_of(CUstream_st* stream);
  void zero_counters(Lane& lane, CUstream_st* stream) const;
  void check_addresses(CudaAddress input, CudaAddress output) const;

  CUctx_st* context_;
  std::vector<KernelLaunch> launches_;
  std::vector<BufferSpec> buffers_;
  std::size_t input_bytes_ = 0, output_bytes_ = 0;
  bool was_cached_ = false;
  struct ModuleTraits {
    using handle = CUmod_st*;
    static handle invalid() { return nullptr; }
    static void close(handle h) noexcept { cuda_library().call.ModuleUnload(h); }
  };
  UniqueHandle<ModuleTraits> module_;
  std::vector<CUfunc_st*> functions_;  // per launch
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace redtune::deploy
