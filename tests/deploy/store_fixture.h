// A config store made without tuning: real kernels of chosen schedules, with times that nobody measured.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "codegen/codegen.h"
#include "configs/config_store.h"
#include "measure/device.h"
#include "measure/reference.h"
#include "space/axes.h"
#include "space/mappings.h"
#include "space/search_space.h"
#include "support/hash.h"
#include "tests/support/temporary_directory.h"

namespace redtune {

/// The schedule of that mapping in the middle of its space; nothing when the operator has none.
inline std::optional<Schedule> some_schedule(const Task& task, const std::string& mapping) {
  SpaceFilter filter;
  for (const MappingInfo& row : mappings()) {
    if (row.name == mapping) filter.block = row.block, filter.grid = row.grid;
  }
  const SearchSpace space(task, filter);
  if (space.size() == 0) return std::nullopt;
  return space.at(space.size() / 2);
}

/// A config with its kernel for one schedule; `seconds` is made up.
inline Config config_with_kernel(const std::string& store, const Task& task, const Schedule& schedule,
                                 const std::string& device, double seconds = 1e-3) {
  const Program program = generate(task, schedule);
  const std::string text = full_text(program, task.target.kind);
  Config config;
  config.op = task.op;
  config.determinism = determinism_of(task, schedule);
  config.device = device;
  config.target = task.target.name;
  config.schedule = config.default_schedule = schedule;
  config.seconds = config.low_seconds = config.high_seconds = seconds;
  config.default_seconds = 2 * seconds;
  config.launches = program.launches;
  config.buffers = program.buffers;
  config.program_hash = hex64(hash64(text));
  config.log_hash = "0000000000000000";
  config.time = "2026-01-31T12:00:00Z";
  config.version = "0.1.0";
  const bool cuda = task.target.kind == TargetKind::kCuda;
  config.kernel = write_kernel_text(store, text, cuda ? KernelLanguage::kCuda : KernelLanguage::kOpenCl,
                                    build_options(task.target));
  return config;
}

inline Operator operator_of(const std::string& json) {
  return parse_operator(parse_json(json, "test"), "test");
}

/// What kernels may use up of their tolerance, at most.
inline Verdict verdict_on(const Task& task, const Schedule& schedule, const std::vector<unsigned char>& input,
                          const std::vector<unsigned char>& output) {
  return check_output(task.op, compute_reference(task.op, input, combine_depth(task, schedule)), output);
}

}  // namespace redtune
