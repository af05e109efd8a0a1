// Reading is apart from writing: it opens the file read-only and never changes a byte of it.
#include <filesystem>
#include <map>
#include <string_view>

#include "logs/log.h"
#include "support/error.h"
#include "support/gzip.h"

namespace redtune {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  LogContents read(std::string_view text) {
    std::size_t number = 0;
    while (!text.empty()) {
      ++number;
      const std::size_t end = text.find('\n');
      const bool last = end == std::string_view::npos;
      line(text.substr(0, end), number, last);
      text.remove_prefix(last ? text.size() : end + 1);
    }
    if (number > 0 && ours_ == 0) throw UserError(path_ + ": is not a redtune log (`redtune tune --force` moves such a file aside)");
    for (auto& [unused, starts] : started_) {
      for (auto& start : starts) contents_.unfinished.push_back(std::move(start));
    }
    return std::move(contents_);
  }

 private:
  void line(std::string_view text, std::size_t number, bool last) {
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) return;
    const std::string origin = path_ + ":" + std::to_string(number);
    Json json;
    try {
      json = parse_json(text, origin);
    } catch (const UserError& error) {
      // A killed writer leaves half a line: at the end of the file, or ended by the writer that came after
      // it.
      const bool began_well = text.starts_with(kLogPrefix) || kLogPrefix.starts_with(text);
      if (began_well) ++ours_;
      warn(began_well || last ? origin + ": torn line skipped"
                              : std::string(error.what()) + "; line skipped");
      return;
    }
    try {
      object(json, origin);
    } catch (const NewerVersion& error) {
      throw UserError(error.what());
    } catch (const UserError& error) {
      warn(std::string(error.what()) + "; line skipped");
    }
  }

  struct NewerVersion : UserError {
    using UserError::UserError;
  };

  void object(const Json& json, const std::string& origin) {
    JsonObject fields(json, origin);
    const std::int64_t version = fields.get_int("redtune_log");
    ++ours_;
    if (version > kLogVersion) {
      throw NewerVersion(origin + ": log version " + std::to_string(version) + " is newer than version " +
                         std::to_string(kLogVersion) +
                         ", the newest that this redtune reads; use a newer redtune");
    }
    const std::string kind = fields.get_string("kind");
    if (kind == "trial") return trial(fields);
    if (kind == "started") return started(fields);
    if (kind == "run") contents_.runs.push_back(json);
    if (kind != "run" && kind != "end")
      fields.fail("kind", "is '" + kind + "', which this redtune does not know");
  }

  void trial(JsonObject& fields) {
    Record record;
    record.key = key(fields);
    record.schedule = schedule(fields);
    record.program_hash = fields.get_string("program");
    record.time = fields.get_string("time", "");
    record.outcome = parse_outcome(fields.get("outcome"), fields.origin() + ": outcome");
    warn_of_unknown(fields);
    started_.erase(identity(record.key, record.schedule));
    contents_.records.push_back(std::move(record));
  }

  void started(JsonObject& fields) {
    const TrialKey trial_key = key(fields);
    const Schedule started_schedule = schedule(fields);
    fields.get_string("program", "");
    warn_of_unknown(fields);
    started_[identity(trial_key, started_schedule)].emplace_back(trial_key, started_schedule);
  }

  static TrialKey key(JsonObject& fields) {
    return {fields.get_string("task"), fields.get_string("device"), fields.get_string("timing")};
  }

  static Schedule schedule(JsonObject& fields) {
    const std::string text = fields.get_string("schedule");
    try {
      return parse_schedule(text);
    } catch (const UserError& error) {
      fields.fail("schedule", std::string("is no schedule: ") + error.what());
    }
  }

  static std::string identity(const TrialKey& key, const Schedule& schedule) {
    return key.task + '\n' + key.device + '\n' + key.timing + '\n' + schedule.text();
  }

  // A later redtune may say more in the same version; what it says is not needed to trust the record.
  void warn_of_unknown(JsonObject& fields) {
    try {
      fields.finish();
    } catch (const UserError& error) {
      warn(std::string(error.what()) + "; field ignored");
    }
  }

  void warn(std::string text) { contents_.warnings.push_back(std::move(text)); }

  std::string path_;
  std::size_t ours_ = 0;  // lines that a redtune wrote, torn ones included
  std::map<std::string, std::vector<std::pair<TrialKey, Schedule>>> started_;
  LogContents contents_;
};

}  // namespace

LogContents parse_log(std::string_view text, const std::string& path) { return Reader(path).read(text); }

LogContents read_existing_log(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) throw UserError("cannot read " + path + ": no such file");
  return read_log(path);
}

LogContents read_log(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  // A pipe or a device is a place to write to: nothing can be read back from it.
  if (status.type() == std::filesystem::file_type::not_found || std::filesystem::is_other(status)) return {};
  return parse_log(read_maybe_gzip(path), path);
}

}  // namespace redtune
