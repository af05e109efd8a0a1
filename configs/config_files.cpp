#include "configs/config_files.h"

#include <algorithm>
#include <filesystem>

#include "support/error.h"

namespace redtune {

namespace fs = std::filesystem;

void need_store(const std::string& directory) {
  if (!fs::is_directory(directory)) {
    throw UserError(directory + ": no such directory; a config store is what `redtune tune` writes to");
  }
}

std::vector<std::string> config_files(const std::string& store) {
  if (fs::is_regular_file(store)) return {store};
  std::vector<std::string> files;
  if (!fs::is_directory(store)) return files;
  for (const auto& device : fs::directory_iterator(store)) {
    if (!device.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(device.path())) {
      if (file.path().extension() == ".json") files.push_back(file.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace redtune
