// Strict JSON in, canonical JSON out. The only door through which JSON text enters the program.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redtune {

using Json = nlohmann::ordered_json;

/// Parses `text`. Throws UserError naming `origin`, line and column on a syntax error (bare NaN and Infinity are
/// errors) and naming the key on a duplicate key.
Json parse_json(std::string_view text, std::string_view origin);

/// Reads and parses a file. Throws UserError when it cannot be read ("cannot read PATH: reason").
Json read_json_file(const std::string& path);

/// A cursor over one JSON object that knows where it is, so that every complaint names file and field.
///
/// Each getter throws UserError "ORIGIN: field 'a.b' must be a positive integer, is \"x\"".
/// `finish` refuses members that nobody asked for, naming the nearest known one.
class JsonObject {
 public:
  JsonObject(const Json& value, std::string origin, std::string path = "");

  bool has(const std::string& key);
  std::string get_string(const std::string& key);
  std::string get_string(const std::string& key, const std::string& fallback);
  std::int64_t get_int(const std::string& key);
  std::int64_t get_int(const std::string& key, std::int64_t fallback);
  double get_number(const std::string& key);
  double get_number(const std::string& key, double fallback);
  bool get_bool(const std::string& key, bool fallback);
  std::vector<std::int64_t> get_ints(const std::string& key);
  JsonObject get_object(const std::string& key);
  /// The raw member; marks it as used.
  const Json& get(const std::string& key);

  /// Throws UserError at field `key`.
  [[noreturn]] void fail(const std::string& key, const std::string& complaint) const;
  void finish() const;

  const std::string& origin() const { return origin_; }
  const std::string& path() const { return path_; }

 private:
  std::string field(const std::string& key) const;
  const Json* value_;
  std::string origin_, path_;
  std::vector<std::string> asked_;
};

/// Text for people and for line-wise comparison: what fits on a line of `width` columns stands on one, the rest is broken
/// member by member, two blanks a level. Bytes that are no UTF-8 are replaced. Ends with a line end.
std::string readable_json(const Json& json, std::size_t width = 120);

/// A finite number, or the strings "nan", "inf", "-inf" for the others: JSON has no words for them.
Json json_number(double value);

/// The inverse of json_number; nullopt for anything else.
std::optional<double> number_of_json(const Json& value);

}  // namespace redtune
