#include "measure/opencl_targets.h"

#include <algorithm>

#include "support/cpu_facts.h"

namespace redtune {

Target opencl_cpu_target(int float_lanes) {
  Target target;
  target.name = "cpu";
  target.kind = TargetKind::kOpenClCpu;
  target.warp = 8;
  target.max_threads_per_block = 64;
  target.max_blocks_per_unit = 1;
  target.max_threads_per_unit = 64;
  target.registers_per_unit = 2048;  // a group of 64 work-items in vector registers and the first-level cache
  target.max_registers_per_thread = 32;
  target.vector_bytes = float_lanes >= 16 ? 64 : 32;
  target.last_level_cache_bytes = largest_cache_bytes();
  target.atomic_f32_add = target.atomic_f64_add = false;
  target.aligned_vectors = false;
  return target;
}

Target opencl_gpu_target(int most_group_threads, std::int64_t cache_bytes) {
  Target target;
  target.name = "opencl_gpu";
  target.kind = TargetKind::kOpenClGpu;
  target.max_threads_per_block = std::min(most_group_threads, 1024);
  target.last_level_cache_bytes = cache_bytes;
  target.atomic_f32_add = target.atomic_f64_add = false;
  return target;
}

}  // namespace redtune
