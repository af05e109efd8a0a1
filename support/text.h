// Small text helpers: numbers for people, tables for terminals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redtune {

/// "812 ns", "14.3 us", "2.31 ms", "1.20 s".
std::string format_seconds(double seconds);
/// "65.0 MB" (powers of ten, as bandwidths are).
std::string format_bytes(double bytes);
std::string format_bytes(std::int64_t bytes);
/// "18 432" style grouping with a thin blank: "18,432".
std::string format_count(std::int64_t count);

std::vector<std::string> split(std::string_view text, char separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string trim(std::string_view text);

/// Parses "64", "2^24", "16Mi", "4k" to a positive count; throws UserError naming `what`.
std::int64_t parse_count(std::string_view text, std::string_view what);
/// Parses "90", "90s", "15m", "1h", "250ms" to seconds; throws UserError naming `what`.
double parse_duration(std::string_view text, std::string_view what);

/// A plain text table: first row is the header; columns are padded; numbers (cells whose first character is a
/// digit or sign) are right-aligned.
class TextTable {
 public:
  void row(std::vector<std::string> cells);
  std::string str() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace redtune
