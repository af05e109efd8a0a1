#include "tuner/cli/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "support/text.h"

namespace redtune {
namespace {

// Seconds between lines where no live line is possible.
constexpr double kInterval = 5;

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool is_terminal(int stream) {
  const char* kind = std::getenv("TERM");
  return ::isatty(stream) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
}

}  // namespace

std::string bold(const std::string& text, int stream) {
  return is_terminal(stream) && !is_set("NO_COLOR") ? "\x1b[1m" + text + "\x1b[0m" : text;
}

std::string progress_text(const Progress& progress) {
  std::string text = fmt::format("{}/{} trials", progress.done, progress.total);
  if (progress.best_seconds > 0) text += ", best " + format_seconds(progress.best_seconds);
  if (progress.best_seconds > 0 && progress.default_seconds > 0) {
    text += fmt::format(" ({:.2f}x default)", progress.default_seconds / progress.best_seconds);
  }
  if (progress.failed > 0) text += fmt::format(", {} failed", progress.failed);
  if (progress.eta_seconds >= 1) text += fmt::format(", about {:.0f} s left", progress.eta_seconds);
  return text;
}

ProgressLine::ProgressLine() : live_(is_terminal(2)) {}

void ProgressLine::show(const Progress& progress) {
  if (live_) {
    std::fprintf(stderr, "\r\x1b[K%s", progress_text(progress).c_str());
    std::fflush(stderr);
    drawn_ = true;
  } else if (progress.elapsed_seconds - last_printed_ >= kInterval) {
    last_printed_ = progress.elapsed_seconds;
    std::fprintf(stderr, "%s\n", progress_text(progress).c_str());
  }
}

void ProgressLine::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace redtune
