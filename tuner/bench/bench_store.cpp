#include "tuner/bench/bench_store.h"

#include <filesystem>

#include "support/error.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

constexpr const char* kPrefix = "{\"redtune_bench\":1,";

Json key_json(const BenchKey& key) {
  return {{"device", key.device}, {"driver", key.driver}, {"timing", key.timing}};
}

}  // namespace

BenchStore::BenchStore(std::string path, BenchKey key, std::vector<std::string>& warnings)
    : path_(std::move(path)), key_(std::move(key)) {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return;
  int number = 0;
  for (const std::string& line : split(read_file(path_), '\n')) {
    ++number;
    const std::string origin = path_ + ":" + std::to_string(number);
    if (line.empty()) continue;
    if (!line.starts_with(kPrefix)) {
      if (number == 1) throw UserError(path_ + ": is not a file of bench results; move it away");
      warnings.push_back(origin + ": unreadable line skipped");
      continue;
    }
    try {
      const Json json = parse_json(line, origin);
      JsonObject object(json, origin);
      if (object.get("key") != key_json(key_)) {
        others_.push_back(line);
      } else if (object.get_string("kind") == "row") {
        BenchRow row = parse_bench_row(object.get("row"), origin);
        rows_.insert_or_assign(row.id, std::move(row));
      } else {
        JsonObject peak = object.get_object("peak");
        peak_ = {peak.get_number("bytes_per_second"), peak.get_string("source")};
      }
    } catch (const UserError& error) {
      warnings.push_back(std::string(error.what()) + "; line skipped");
    }
  }
}

const BenchRow* BenchStore::find(const std::string& id, const Operator& op) const {
  const auto found = rows_.find(id);
  return found == rows_.end() || found->second.op.key() != op.key() ? nullptr : &found->second;
}

void BenchStore::put(const BenchRow& row) {
  rows_.insert_or_assign(row.id, row);
  write();
}

void BenchStore::put(const BenchPeak& peak) {
  peak_ = peak;
  write();
}

std::string BenchStore::line_of(const char* kind, const Json& content) const {
  Json json = {{"redtune_bench", 1}, {"kind", kind}, {"key", key_json(key_)}, {kind, content}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void BenchStore::write() const {
  std::string text;
  for (const std::string& line : others_) text += line + "\n";
  if (peak_.bytes_per_second > 0) {
    text += line_of("peak", {{"bytes_per_second", peak_.bytes_per_second}, {"source", peak_.source}});
  }
  for (const auto& [id, row] : rows_) text += line_of("row", to_json(row));
  write_file_atomically(path_, text);
}

}  // namespace redtune
