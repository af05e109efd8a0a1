#include "measure/cuda_compile.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "codegen/codegen.h"
#include "codegen/kernel_cache.h"
#include "measure/driver.h"
#include "support/error.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

KernelCache& cache() {
  static KernelCache* const kernels = [] {
    std::string root = user_cache_directory();
    if (root.empty()) {  // the tool has warned of it
      std::error_code ignored;
      root = (std::filesystem::temp_directory_path(ignored) / ("redtune-" + std::to_string(::getuid())))
                 .string();
    }
    return new KernelCache(root + "/kernels");
  }();
  return *kernels;
}

NvrtcOptions options_for(const Nvrtc& nvrtc, int capability) {
  const std::vector<int>& known = nvrtc.supported_architectures();
  NvrtcOptions options;
  options.compute_capability = capability;
  if (known.empty() || std::ranges::binary_search(known, capability)) return options;
  if (const int usable = nvrtc.newest_usable(capability); usable > 0) {
    options.compute_capability = usable;
    options.ptx = true;
  }
  return options;  // an architecture that is too old: NVRTC's own message names the list
}

// Registers are given out in pieces of 256 per warp.
std::int64_t registers_of_block(const KernelResources& kernel, std::int64_t threads, int warp) {
  constexpr std::int64_t kPiece = 256;
  const std::int64_t per_warp = (std::int64_t{kernel.registers} * warp + kPiece - 1) / kPiece * kPiece;
  return (threads + warp - 1) / warp * per_warp;
}

void check_resources(const Program& program, const NvrtcResult& result, const Target& target) {
  for (const KernelLaunch& launch : program.launches) {
    const KernelResources* const kernel = result.find(launch.entry);
    if (kernel == nullptr) continue;  // PTX tells nothing yet
    const std::string who = "kernel '" + launch.entry + "': ";
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    const std::int64_t registers = registers_of_block(*kernel, threads, target.warp);
    if (registers > target.registers_per_unit) {
      throw CandidateFailure(OutcomeKind::kLaunchFailed,
                             who + std::to_string(kernel->registers) + " registers in " +
                                 std::to_string(threads) + " threads take " + std::to_string(registers) +
                                 ", " + target.name + " has " + std::to_string(target.registers_per_unit));
    }
    const std::int64_t shared = kernel->shared_bytes + launch.dynamic_shared_bytes;
    if (shared > target.shared_bytes_per_block_optin) {
      throw CandidateFailure(OutcomeKind::kLaunchFailed,
                             who + format_bytes(shared) + " of shared memory, " + target.name + " has " +
                                 format_bytes(target.shared_bytes_per_block_optin));
    }
  }
}

}  // namespace

std::vector<char> compile_for_cuda(const Program& program, const Target& target) {
  Nvrtc& nvrtc = Nvrtc::instance();
  const NvrtcOptions options = options_for(nvrtc, target.compute_capability);
  NvrtcResult result = cache().compile(nvrtc, full_text(program, TargetKind::kCuda), options);
  if (!result.ok) throw CandidateFailure(OutcomeKind::kCompileFailed, result.error, result.log);
  check_resources(program, result, target);
  if (options.ptx) result.image.push_back('\0');
  return std::move(result.image);
}

}  // namespace redtune
