// A suite: a list of operators to measure, with what others published about them. Data only; docs/formats.md
// tells the fields.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "space/operator.h"
#include "support/json.h"

namespace redtune {

inline constexpr int kSuiteVersion = 1;

/// Where the published times of a suite come from. All empty when it has none.
struct PublishedSource {
  std::string device, source, how;
  std::string ours;  // the method among the published ones that stands where redtune stands; "": none
};

struct SuiteEntry {
  std::string id;                   // unique in the suite
  std::vector<std::string> groups;  // totals are made per group; an entry may be in several
  Operator op;
  std::vector<std::pair<std::string, double>> published;  // method, seconds; in the order of the file
  std::string note;                                       // what a reader of the row must know
  Json facts = Json::object();                            // more about the entry; kept as it stands
};

struct Suite {
  std::string name, summary;
  PublishedSource published;
  std::vector<SuiteEntry> entries;
};

/// Whether the id, a group or the title of the entry's operator holds `text`: what --only asks for.
bool mentions(const SuiteEntry& entry, const std::string& text);

/// Published seconds of `method`; 0 when the entry has none.
double published_seconds(const SuiteEntry& entry, const std::string& method);

/// Throws UserError naming `origin`, entry and field: unknown members, ids that stand twice, times that are
/// not positive, an operator that parse_operator refuses. `name` is what the suite is called.
Suite parse_suite(const Json& json, const std::string& origin, const std::string& name);
bool is_suite(const Json& json);

/// A shipped suite by its name, or a file by its path (anything with a / or ending in .json). Throws
/// UserError with the nearest known name.
Suite read_suite(const std::string& name_or_path);
std::vector<std::string> known_suites();

}  // namespace redtune
