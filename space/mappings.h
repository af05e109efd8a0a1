// The mapping table: how partial results may combine, one row per pair of block and grid combine, and the rules that
// say for which tasks a row is legal.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "space/rejection.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

struct MappingInfo {
  std::string_view name;     // "tree+atomic"
  BlockCombine block;
  GridCombine grid;
  MappingClass mapping_class;
  std::string_view summary;  // one sentence for help and docs
};

/// Every mapping redtune knows, simplest first, and last those that atomics in other places, private copies and newer
/// GPUs add. Explicit list: a new mapping is a row here and its combine step in codegen.
std::span<const MappingInfo> mappings();

/// Whether the target has what the mapping needs, for whatever task.
bool has_mapping(const Target& target, const MappingInfo& mapping);

/// Why the mapping cannot be used for `task` at all (operator, dtypes, determinism, form, target): the legality
/// table. Nothing when it can.
std::optional<Rejection> reject_mapping(const Task& task, BlockCombine block, GridCombine grid);

/// Whether value and position of argmax or argmin fit one 64-bit atomic.
bool packs_in_64_bits(const Task& task);

/// Whether grid=atomic is legal.
bool adds_to_the_output(const Task& task);

/// Whether every run of `schedule` on `task` gives the same bits: no atomics, or order-free arithmetic.
Determinism determinism_of(const Task& task, const Schedule& schedule);

}  // namespace redtune
