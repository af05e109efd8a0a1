#include "measure/build_log.h"

#include <string_view>

#include "support/text.h"

namespace redtune {
namespace {

// "error: /home/u/.cache/x/tempfile_1.cl:12:3: ..." and "/tmp/x.cl:12:3: error: ...": the file is gone by the
// time anyone reads this.
std::string without_directories(const std::string& line) {
  std::string result;
  for (const std::string& word : split(line, ' ')) {
    const bool path = word.starts_with('/') && word.find(':') != std::string::npos;
    if (!result.empty()) result += ' ';
    result += path ? word.substr(word.rfind('/') + 1) : word;
  }
  return result;
}

}  // namespace

std::string fatal_line(const std::string& log) {
  std::string first;
  for (const std::string& raw : split(log, '\n')) {
    const std::string line = trim(raw);
    if (line.empty()) continue;
    if (first.empty()) first = line;
    if (line.find("error") != std::string::npos) return without_directories(line);
  }
  return without_directories(first);
}

}  // namespace redtune
