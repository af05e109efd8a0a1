// A target: what a kernel runs on, as numbers. No driver type, no handle. Read from configs/targets/*.json or
// filled in by a device (measure/).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/json.h"

namespace redtune {

enum class TargetKind : std::uint8_t { kCuda, kOpenClCpu, kOpenClGpu };
std::string_view name(TargetKind k);  // "cuda", "opencl_cpu", "opencl_gpu"

struct Target {
  std::string name;  // "sm_90", "cpu"
  TargetKind kind = TargetKind::kOpenClCpu;
  int compute_capability = 0;  // 75, 80, 90, 100 on CUDA; 0 elsewhere
  int units = 1;               // multiprocessors or cores
  int warp = 32;               // lanes that shuffle together (the prelude's RT_WARP)
  int max_threads_per_block = 1024;
  int max_blocks_per_unit = 16;  // resident
  int max_threads_per_unit = 2048;
  std::int64_t registers_per_unit = 65536;
  int max_registers_per_thread = 255;
  std::int64_t shared_bytes_per_block = 49152;  // without opt-in
  std::int64_t shared_bytes_per_block_optin = 49152;
  std::int64_t max_grid_x = 2147483647, max_grid_yz = 65535;
  int vector_bytes = 16;  // widest useful load
  std::int64_t last_level_cache_bytes = 0;
  double memory_bytes_per_second = 0;                                    // 0: unknown
  bool atomic_f32_add = true, atomic_f64_add = true, atomic_i64 = true;  // native; otherwise compare-and-swap
  bool aligned_vectors =
      true;  // vector loads need vector alignment (CUDA); false: element alignment is enough
  friend bool operator==(const Target&, const Target&) = default;
};

/// What only some CUDA targets can do: combine integers of a warp in one instruction, launch blocks that may wait for each
/// other, read the shared memory of the blocks of a cluster.
bool has_warp_reductions(const Target& target);
bool has_cooperative_launch(const Target& target);
bool has_clusters(const Target& target);

/// Throws UserError naming file and field.
Target parse_target(const Json& json, const std::string& origin);
Json to_json(const Target& target);

/// A shipped target by name ("sm_90", "cpu"); throws UserError with the nearest known name.
Target load_target(const std::string& name);
std::vector<std::string> known_targets();

}  // namespace redtune
