#include "tuner/report/report_page.h"

#include "support/error.h"
#include "tuner/embedded_report.h"

namespace redtune {
namespace {

// A script element ends at the first "</", whatever stands around it; JSON may write a slash as "\/".
std::string inside_script(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    safe += text[i];
    if (text[i] == '<' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '!')) {
      safe.back() = '\\';
      safe += "u003c";
    }
  }
  return safe;
}

std::string html_escaped(const std::string& text) {
  std::string html;
  for (const char c : text) {
    html += c == '<'   ? "&lt;"
            : c == '>' ? "&gt;"
            : c == '&' ? "&amp;"
            : c == '"' ? "&quot;"
                       : std::string(1, c);
  }
  return html;
}

std::string_view page_file(std::string_view name) {
  const std::string_view text = embedded_report_file(name);
  RT_CHECK(!text.empty(), "report: no embedded file " + std::string(name));
  return text;
}

std::string title_of(const Report& report) {
  const ReportTask& first = report.tasks.front();
  const std::size_t more = report.tasks.size() - 1;
  return "redtune: " + first.task.op.title() + (more > 0 ? " and " + std::to_string(more) + " more" : "") +
         " on " + first.device;
}

}  // namespace

std::string report_page(const Report& report) {
  const std::string_view page = page_file("report.html");
  std::string html;
  std::size_t at = 0;
  while (at < page.size()) {
    const std::size_t begin = page.find("@@", at);
    html += page.substr(at, begin - at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = page.find("@@", begin + 2);
    const std::string_view slot = page.substr(begin + 2, end - begin - 2);
    if (slot == "title") {
      html += html_escaped(title_of(report));
    } else if (slot == "data") {
      html += inside_script(to_json(report, true));
    } else {
      html += page_file(slot);
    }
    at = end + 2;
  }
  return html;
}

}  // namespace redtune
