// Configs as wisdom files of Kernel Launcher: JSON lines, a file per kernel, a record per problem size and device.
//
// One kernel is what shares a tuning problem: operator, types, form and determinism. Its problem size is the three axes
// that schedules tile: kept, outer reduced and inner reduced extent where the contiguous axis is reduced, else outer kept,
// reduced and inner kept extent.
#pragma once

#include <string>
#include <vector>

#include "configs/config_store.h"

namespace redtune {

/// "redtune_sum_f32_f32_row": the file's name without ".wisdom", and its key.
std::string wisdom_key(const Operator& op);

struct WisdomFile {
  std::string key, text;
};
/// One file per key, in the order of the configs, which must be measured.
std::vector<WisdomFile> wisdom_files(const std::vector<Config>& configs);

}  // namespace redtune
