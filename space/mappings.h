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

/// Every mapping redtune knows, simplest first. Explicit list: a new mapping is a row here and its combine step in
/// codegen.
std::span<const MappingInfo> mappings();

/// Why the mapping cannot be used for `task` at all (operator, dtypes, determinism, form, target): the legality
/// table. Nothing when it can.
std::optional<Rejection> reject_mapping(const Task& task, BlockCombine block, GridCombine grid);

/// Whether every run of `schedule` on `task` gives the same bits: no atomics, or order-free arithmetic.
Determinism determinism_of(const Task& task, const Schedule& schedule);

}  // namespace redtune
