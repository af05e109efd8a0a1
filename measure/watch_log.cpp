#include "measure/watch_log.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "support/text.h"

namespace redtune {
namespace {

bool has(std::string_view report, std::string_view part) { return report.find(part) != std::string_view::npos; }

bool ordered_by_ticket(std::string_view report) {
  return has(report, "data race") && (has(report, "_PEEK(") || has(report, "rt_peek_") ||
                                      (has(report, "ticket[") && has(report, "] = 0;")));
}

bool halves_of_vector(std::string_view report) {
  return has(report, "Controlflow depends") && kernel_of(report).starts_with("rt_final") &&
         (has(report, "RT_FOLD(") || has(report, "RT_STORE1("));
}

}  // namespace

std::string kernel_of(std::string_view report) {
  constexpr std::string_view kWord = "Kernel: ";
  const std::size_t at = report.find(kWord);
  if (at == std::string_view::npos) return "";
  const std::size_t begin = at + kWord.size();
  return trim(std::string(report.substr(begin, report.find_first_of(" \n", begin) - begin)));
}

std::vector<std::string> watch_command(Watch watch, const std::string& log) {
  if (watch == Watch::kNone) return {};
  std::vector<std::string> command{"oclgrind", "--num-threads", "1", "--max-errors", "1000000", "--log", log};
  if (watch == Watch::kRaces) command.emplace_back("--data-races");
  return command;
}

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
  std::erase_if(reports, halves_of_vector);
  return reports;
}

std::vector<std::string> WatchLog::take() {
  std::ifstream file(path_, std::ios::binary | std::ios::ate);
  if (!file) return {};
  if (file.tellg() < offset_) offset_ = 0;  // another process has begun a log of its own
  file.seekg(offset_);
  std::ostringstream text;
  text << file.rdbuf();
  offset_ += static_cast<std::int64_t>(text.str().size());
  return oclgrind_reports(text.str());
}

}  // namespace redtune
