#include "support/cpu_facts.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "support/text.h"

namespace redtune {
namespace {

// The rest of the first line of `path` that starts with `key`, behind its colon.
std::string value_of(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos) return trim(line.substr(colon + 1));
  }
  return "";
}

std::int64_t parse_size(const std::string& text) {
  std::int64_t value = 0;
  std::size_t at = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') value = value * 10 + (text[at++] - '0');
  if (at < text.size() && text[at] == 'K') value <<= 10;
  if (at < text.size() && text[at] == 'M') value <<= 20;
  return value;
}

}  // namespace

std::string cpu_model() {
  static const std::string model = value_of("/proc/cpuinfo", "model name");
  return model.empty() ? "CPU" : model;
}

std::int64_t largest_cache_bytes() {
  std::int64_t largest = 0;
  constexpr int kMostIndices = 16;
  for (int index = 0; index < kMostIndices; ++index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
    std::string text;
    if (!std::getline(file, text)) break;
    largest = std::max(largest, parse_size(text));
  }
  return largest;
}

double host_load() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : -1;
}

std::string clock_governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string text;
  return std::getline(file, text) && !text.empty() ? text : "unknown";
}

std::int64_t available_memory_bytes() {
  const std::string text = value_of("/proc/meminfo", "MemAvailable");
  if (text.empty()) return std::numeric_limits<std::int64_t>::max();
  return parse_size(text) << 10;  // "12345 kB"
}

}  // namespace redtune
