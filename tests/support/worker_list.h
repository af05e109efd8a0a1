// The workers of this process, so that tests can count and kill them.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace redtune {

/// Children of this process that run the worker, by /proc.
inline std::vector<pid_t> workers() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t close = text.rfind(')');
    if (close == std::string::npos || text.find("(redtune-worker") == std::string::npos) continue;
    if (std::atoi(text.substr(close + 4).c_str()) == ::getpid()) found.push_back(std::stoi(pid));
  }
  return found;
}

}  // namespace redtune
