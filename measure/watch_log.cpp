#include "measure/watch_log.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/text.h"

namespace redtune {
namespace {

bool ordered_by_ticket(std::string_view report) {
  const auto has = [&](std::string_view part) { return report.find(part) != std::string_view::npos; };
  return has("data race") && (has("_PEEK(") || has("rt_peek_") || (has("ticket[") && has("] = 0;")));
}

}  // namespace

// A report begins at the left margin; what belongs to it is indented. Counts of suppressed reports are no
// report.
std::vector<std::string> oclgrind_reports(std::string_view text) {
  std::vector<std::string> reports;
  bool open = false;
  for (const std::string& line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    if (line.front() != '\t' && line.front() != ' ') {
      open = line.find("errors generated") == std::string::npos;
      if (open) reports.emplace_back();
    }
    if (open) reports.back() += line + "\n";
  }
  std::erase_if(reports, ordered_by_ticket);
  return reports;
}

std::vector<std::string> WatchLog::take() {
  std::ifstream file(path_, std::ios::binary);
  if (!file.seekg(offset_)) return {};
  std::ostringstream text;
  text << file.rdbuf();
  offset_ += static_cast<std::int64_t>(text.str().size());
  return oclgrind_reports(text.str());
}

}  // namespace redtune
