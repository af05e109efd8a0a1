#include "configs/suite.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "support/error.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

std::string suite_directory() { return data_directory() + "/suites"; }

std::vector<std::string> texts_of(JsonObject& object, const std::string& key) {
  std::vector<std::string> texts;
  const Json& list = object.get(key);
  if (!list.is_array()) object.fail(key, "must be a list of texts");
  for (const Json& text : list) {
    if (!text.is_string()) object.fail(key, "must be a list of texts, holds " + text.dump());
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

PublishedSource source_of(JsonObject object) {
  PublishedSource source;
  source.device = object.get_string("device");
  source.source = object.get_string("source");
  source.how = object.get_string("how", "");
  source.ours = object.get_string("ours", "");
  object.finish();
  return source;
}

std::vector<std::pair<std::string, double>> times_of(JsonObject& entry) {
  std::vector<std::pair<std::string, double>> times;
  const Json& members = entry.get("published");
  if (!members.is_object()) entry.fail("published", "must be an object of method: seconds");
  for (const auto& [method, seconds] : members.items()) {
    if (!seconds.is_number() || !(seconds.get<double>() > 0)) {
      entry.fail("published", "must hold positive seconds, has \"" + method + "\": " + seconds.dump());
    }
    times.emplace_back(method, seconds.get<double>());
  }
  return times;
}

SuiteEntry entry_of(const Json& json, const std::string& origin, const std::string& path) {
  JsonObject object(json, origin, path);
  SuiteEntry entry;
  entry.id = object.get_string("id");
  if (entry.id.empty()) object.fail("id", "must not be empty");
  if (object.has("groups")) entry.groups = texts_of(object, "groups");
  entry.op = parse_operator(object.get("operator"), origin + ": " + path + ".operator");
  if (object.has("published")) entry.published = times_of(object);
  entry.note = object.get_string("note", "");
  if (object.has("facts")) {
    entry.facts = object.get("facts");
    if (!entry.facts.is_object()) object.fail("facts", "must be an object");
  }
  object.finish();
  return entry;
}

}  // namespace

bool mentions(const SuiteEntry& entry, const std::string& text) {
  const auto holds = [&](const std::string& place) { return place.find(text) != std::string::npos; };
  return holds(entry.id) || holds(entry.op.title()) ||
         std::any_of(entry.groups.begin(), entry.groups.end(), holds);
}

bool is_suite(const Json& json) { return json.is_object() && json.contains("redtune_suite"); }

double published_seconds(const SuiteEntry& entry, const std::string& method) {
  for (const auto& [name, seconds] : entry.published) {
    if (name == method) return seconds;
  }
  return 0;
}

Suite parse_suite(const Json& json, const std::string& origin, const std::string& name) {
  JsonObject object(json, origin);
  const std::int64_t version = object.get_int("redtune_suite");
  if (version != kSuiteVersion) {
    object.fail("redtune_suite",
                "must be " + std::to_string(kSuiteVersion) + ", is " + std::to_string(version));
  }
  Suite suite;
  suite.name = name;
  suite.summary = object.get_string("summary");
  if (object.has("published")) suite.published = source_of(object.get_object("published"));
  const Json& entries = object.get("entries");
  if (!entries.is_array() || entries.empty()) object.fail("entries", "must be a list of one or more entries");
  std::set<std::string> ids;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string path = "entries[" + std::to_string(i) + "]";
    suite.entries.push_back(entry_of(entries[i], origin, path));
    const SuiteEntry& entry = suite.entries.back();
    if (!ids.insert(entry.id).second) object.fail(path + ".id", "stands twice: \"" + entry.id + "\"");
    if (!entry.published.empty() && suite.published.device.empty()) {
      object.fail("published",
                  "is missing, but " + path + " has published times: name their device and source");
    }
  }
  object.finish();
  return suite;
}

std::vector<std::string> known_suites() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& file : std::filesystem::directory_iterator(suite_directory(), ignored)) {
    if (file.path().extension() == ".json") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Suite read_suite(const std::string& name_or_path) {
  const bool is_path = name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".json");
  if (!is_path) {
    const std::vector<std::string> known = known_suites();
    if (std::find(known.begin(), known.end(), name_or_path) == known.end()) {
      throw UserError(unknown_word_message("suite", name_or_path, known));
    }
  }
  const std::string path = is_path ? name_or_path : suite_directory() + "/" + name_or_path + ".json";
  return parse_suite(read_json_file(path), path, std::filesystem::path(path).stem().string());
}

}  // namespace redtune
