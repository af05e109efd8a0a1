// Configs that nobody measured, for tests of stores and lookup.
#pragma once

#include <string>

#include "configs/config_store.h"
#include "support/hash.h"

namespace redtune {

inline constexpr const char* kBoard = "NVIDIA H200 (GPU-12ab)";

inline Operator row_sums_of(const std::string& shape, const std::string& op = "sum",
                            const std::string& axes = "1") {
  return operator_from_short_form({op, shape, axes, "f32", "", "", false});
}

inline Config made_up_config(const Operator& op, double seconds, const std::string& device = kBoard) {
  Config config;
  config.op = op;
  config.determinism = Determinism::kRunToRun;
  config.device = device;
  config.driver = "13.0";
  config.target = "sm_90";
  config.schedule = parse_schedule("block=warp rx=32 px=4 vec=4");
  config.default_schedule = parse_schedule("block=tree rx=256 vec=4");
  config.seconds = seconds;
  config.low_seconds = seconds * 0.99;
  config.high_seconds = seconds * 1.01;
  config.default_seconds = seconds * 1.5;
  config.launches = {{"rt_main", {256, 1, 1}, {32, 4, 1}, 0, {0, 1}}};
  config.buffers = {{"x", BufferKind::kInput, DType::kF32, op.input().storage_elements()},
                    {"y", BufferKind::kOutput, DType::kF32, op.output().elements()}};
  config.program_hash = "0123456789abcdef";
  config.log_hash = "fedcba9876543210";
  config.time = "2026-01-31T12:00:00Z";
  config.version = "0.1.0";
  return config;
}

/// The same with a kernel text in the store.
inline Config config_with_text(const std::string& store, const Operator& op, double seconds,
                               const std::string& text = "kernel void rt_main() {}\n") {
  Config config = made_up_config(op, seconds);
  config.kernel = write_kernel_text(store, text, KernelLanguage::kOpenCl, "-cl-std=CL1.2");
  config.program_hash = hex64(hash64(text));
  return config;
}

}  // namespace redtune
