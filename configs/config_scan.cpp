#include "configs/config_scan.h"

#include <charconv>
#include <cstring>

#include "configs/config_store.h"
#include "support/error.h"
#include "support/json.h"

namespace redtune {
namespace {

class Scanner {
 public:
  Scanner(std::string_view text, const std::string& path)
      : at_(text.data()), begin_(text.data()), end_(text.data() + text.size()), path_(path) {}

  const char* here() const { return at_; }
  char peek() {
    skip_blanks();
    return at_ < end_ ? *at_ : '\0';
  }
  void expect(char c) {
    if (peek() != c) fail();
    ++at_;
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  /// The text between the quotes, escapes as they are.
  std::string_view quoted() {
    expect('"');
    const char* const begin = at_;
    for (;;) {
      const void* const found = std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_));
      if (found == nullptr) fail();
      at_ = static_cast<const char*>(found) + 1;
      std::size_t slashes = 0;
      for (const char* back = at_ - 2; back >= begin && *back == '\\'; --back) ++slashes;
      if (slashes % 2 == 0) break;
    }
    return {begin, static_cast<std::size_t>(at_ - 1 - begin)};
  }

  std::string string() {
    const std::string_view raw = quoted();
    if (raw.find('\\') == std::string_view::npos) return std::string(raw);
    return parse_json(std::string_view(raw.data() - 1, raw.size() + 2), path_).get<std::string>();
  }

  /// Any value, whose end is found by its brackets.
  std::string_view value() {
    const char first = peek();
    const char* const begin = at_;
    if (first == '"') {
      quoted();
    } else if (first == '{' || first == '[') {
      skip_nested();
    } else {
      while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']' && *at_ > ' ') ++at_;
      if (at_ == begin) fail();
    }
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  int number() {
    const std::string_view text = value();
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) fail();
    return number;
  }

  void finish() {
    if (peek() != '\0' || at_ != end_) fail();
  }

  [[noreturn]] void fail() const {
    throw UserError(path_ + ": is not a redtune config file (at byte " + std::to_string(at_ - begin_) + ")");
  }

 private:
  void skip_blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  void skip_nested() {
    int depth = 0;
    for (; at_ < end_; ++at_) {
      const char c = *at_;
      if (c == '"') {
        quoted();
        --at_;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (--depth == 0) {
          ++at_;
          return;
        }
      }
    }
    fail();
  }

  const char *at_, *begin_, *end_;
  const std::string& path_;
};

ScannedEntry scan_entry(Scanner& scanner) {
  ScannedEntry entry;
  scanner.expect('{');
  const char* const begin = scanner.here() - 1;
  if (!scanner.take('}')) {
    do {
      const std::string_view name = scanner.quoted();
      scanner.expect(':');
      if (name == "key" && scanner.peek() == '"') {
        entry.key = scanner.string();
      } else if (name == "device" && scanner.peek() == '"') {
        entry.device = scanner.string();
      } else if (name == "determinism" && scanner.peek() == '"') {
        entry.determinism = scanner.string();
      } else {
        entry.ranged = entry.ranged || name == "range";
        scanner.value();
      }
    } while (scanner.take(','));
    scanner.expect('}');
  }
  entry.text = {begin, static_cast<std::size_t>(scanner.here() - begin)};
  return entry;
}

}  // namespace

ScannedFile scan_config_file(std::string_view text, const std::string& path) {
  Scanner scanner(text, path);
  ScannedFile file;
  bool has_entries = false;
  scanner.expect('{');
  do {
    const std::string_view name = scanner.quoted();
    scanner.expect(':');
    if (name == kConfigFormat) {
      file.version = scanner.number();
    } else if (name == "entries") {
      has_entries = true;
      scanner.expect('[');
      if (scanner.take(']')) continue;
      do {
        file.entries.push_back(scan_entry(scanner));
      } while (scanner.take(','));
      scanner.expect(']');
    } else {
      scanner.fail();
    }
  } while (scanner.take(','));
  scanner.expect('}');
  scanner.finish();
  if (file.version == 0 || !has_entries) scanner.fail();
  check_config_version(file.version, path);
  return file;
}

}  // namespace redtune
