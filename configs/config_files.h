// Where the files of a config store lie: DIR/<device>/<op>.json. For the store, its tools and the lookup of
// deployed programs.
#pragma once

#include <string>
#include <vector>

namespace redtune {

/// Throws UserError with the remedy when there is no such directory.
void need_store(const std::string& directory);

/// The config files of a store, sorted; none when there is no such directory. A single file stands for
/// itself.
std::vector<std::string> config_files(const std::string& store);

}  // namespace redtune
