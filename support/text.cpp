#include "support/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "support/error.h"

namespace redtune {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

// Three significant digits in the largest unit that keeps the number at 1 or more. The number is rounded
// before the unit is chosen: 999.9 ns is 1.00 us, not 1000 ns.
std::string with_unit(double value, std::span<const Unit> units) {
  const Unit* unit = &units.front();
  for (const Unit& candidate : units) {
    if (std::abs(value) >= candidate.size * 0.9995) unit = &candidate;
  }
  const double scaled = value / unit->size;
  const double size = std::abs(scaled);
  const int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", scaled, decimals, unit->name);
}

std::string unreadable(std::string_view what, std::string_view text, std::string_view expected) {
  return fmt::format("{}: '{}' is not {}", what, text, expected);
}

constexpr std::string_view kCountHelp = "a positive count (as 64, 4k, 16Mi, 2^24)";

std::optional<std::int64_t> count_multiplier(std::string_view suffix) {
  constexpr std::string_view kLetters = "kMGT";
  if (suffix.empty()) return 1;
  const bool binary = suffix.size() == 2 && suffix[1] == 'i';
  const std::size_t power = kLetters.find(suffix[0] == 'K' ? 'k' : suffix[0]);
  if (power == std::string_view::npos || (suffix.size() != 1 && !binary)) return std::nullopt;
  std::int64_t multiplier = 1;
  for (std::size_t i = 0; i <= power; ++i) multiplier *= binary ? 1024 : 1000;
  return multiplier;
}

// Width on the terminal, taking each UTF-8 code point as one column.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool looks_numeric(std::string_view cell) {
  if (cell.empty()) return false;
  if (std::isdigit(static_cast<unsigned char>(cell[0]))) return true;
  // A lone dash stands for "no value" and a word may begin with one; a sign counts only before a number.
  return (cell[0] == '-' || cell[0] == '+') && cell.size() > 1 &&
         !std::isalpha(static_cast<unsigned char>(cell[1]));
}

}  // namespace

std::string format_seconds(double seconds) {
  constexpr std::array<Unit, 4> kUnits{{{1e-9, "ns"}, {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}}};
  // Whole nanoseconds below a microsecond: no clock here resolves less.
  if (std::abs(seconds) < 999.5e-9) return fmt::format("{:.0f} ns", seconds * 1e9);
  return with_unit(seconds, kUnits);
}

std::string format_bytes(double bytes) {
  constexpr std::array<Unit, 5> kUnits{{{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  if (std::abs(bytes) < 999.5) return fmt::format("{:.0f} B", bytes);
  return with_unit(bytes, kUnits);
}

std::string format_bytes(std::int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t end; (end = text.find(separator, start)) != std::string_view::npos; start = end + 1) {
    parts.emplace_back(text.substr(start, end - start));
  }
  parts.emplace_back(text.substr(start));
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) result += separator;
    result += parts[i];
  }
  return result;
}

std::string trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

std::int64_t parse_count(std::string_view text, std::string_view what) {
  const UserError error(unreadable(what, text, kCountHelp));
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc() || value <= 0) throw error;
  std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  std::int64_t factor = 1, repeats = 1;
  if (!suffix.empty() && suffix[0] == '^') {
    const auto [after, power_code] = std::from_chars(rest + 1, end, repeats);
    if (power_code != std::errc() || after != end || repeats < 0) throw error;
    factor = std::exchange(value, 1);
    if (factor == 1) repeats = 0;  // 1^huge must not loop
  } else {
    const std::optional<std::int64_t> multiplier = count_multiplier(suffix);
    if (!multiplier) throw error;
    factor = *multiplier;
  }
  for (; repeats > 0; --repeats) {
    if (__builtin_mul_overflow(value, factor, &value)) {
      throw UserError(fmt::format("{}: '{}' does not fit 64 bits", what, text));
    }
  }
  return value;
}

double parse_duration(std::string_view text, std::string_view what) {
  constexpr std::array<Unit, 6> kUnits{
      {{1, ""}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {60, "m"}, {3600, "h"}}};
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  if (code == std::errc() && std::isfinite(value) && value >= 0) {
    for (const Unit& unit : kUnits) {
      if (suffix == unit.name) return value * unit.size;
    }
  }
  throw UserError(unreadable(what, text, "a duration (as 90, 90s, 15m, 1h, 250ms)"));
}

void TextTable::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string TextTable::str() const {
  std::vector<std::size_t> widths;
  for (const auto& cells : rows_) {
    widths.resize(std::max(widths.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], columns(cells[i]));
  }
  std::string result;
  for (const auto& cells : rows_) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - columns(cells[i]), ' ');
      if (i > 0) line += "  ";
      line += looks_numeric(cells[i]) ? padding + cells[i] : cells[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += line + "\n";
  }
  return result;
}

}  // namespace redtune
