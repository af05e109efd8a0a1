#include "measure/cuda_targets.h"

#include <charconv>

#include "measure/cuda_library.h"

namespace redtune {
namespace {

// The number in "sm_90"; 0 for names of other kinds.
int capability_in(const std::string& name) {
  constexpr std::string_view kPrefix = "sm_";
  int number = 0;
  if (name.starts_with(kPrefix)) {
    std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), number);
  }
  return number;
}

Target nearest_shipped(int capability) {
  std::string best;
  for (const std::string& name : known_targets()) {
    const int number = capability_in(name);
    if (number > 0 && number <= capability && number > capability_in(best)) best = name;
  }
  if (!best.empty()) return load_target(best);
  Target plain;
  plain.kind = TargetKind::kCuda;
  return plain;
}

}  // namespace

Target cuda_target(const std::function<int(int)>& attribute) {
  const int capability = 10 * attribute(kCudaCapabilityMajor) + attribute(kCudaCapabilityMinor);
  Target target = nearest_shipped(capability);
  const bool shipped = target.compute_capability == capability;
  target.name = "sm_" + std::to_string(capability);
  target.compute_capability = capability;
  const auto take = [&](auto& into, int which) {
    if (const int value = attribute(which); value > 0) into = value;
  };
  take(target.units, kCudaMultiprocessors);
  take(target.warp, kCudaWarpSize);
  take(target.max_threads_per_block, kCudaMaxThreadsPerBlock);
  take(target.max_blocks_per_unit, kCudaBlocksPerMultiprocessor);
  take(target.max_threads_per_unit, kCudaThreadsPerMultiprocessor);
  take(target.registers_per_unit, kCudaRegistersPerMultiprocessor);
  take(target.shared_bytes_per_block, kCudaSharedPerBlock);
  take(target.shared_bytes_per_block_optin, kCudaSharedPerBlockOptIn);
  take(target.max_grid_x, kCudaMaxGridX);
  take(target.max_grid_yz, kCudaMaxGridY);
  take(target.last_level_cache_bytes, kCudaL2Bytes);
  const double kilohertz = attribute(kCudaMemoryClockKilohertz), bits = attribute(kCudaMemoryBusBits);
  if (kilohertz > 0 && bits > 0) {
    target.memory_bytes_per_second = 2 * kilohertz * 1e3 * bits / 8;  // data at both edges
  } else if (!shipped) {
    target.memory_bytes_per_second = 0;  // that of another chip
  }
  return target;
}

}  // namespace redtune
