// The log: records as JSON lines. Appended under a lock and flushed to disk line by line, so that whatever
// happens to the run, what was measured stays.
//
// Line kinds (member "kind"): "run" (header of each run: tool version, command line, seed, device, driver,
// host), "started" (a schedule about to be launched), "trial" (schedule with its outcome), "end" (why the run
// ended). Every line begins with its schema version: {"redtune_log":1,"kind":...}. One schedule may have
// several trial lines: the finalists are measured again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logs/outcome.h"
#include "space/schedule.h"

namespace redtune {

inline constexpr int kLogVersion = 1;
/// What every line begins with; then comes the version.
inline constexpr std::string_view kLogPrefix = "{\"redtune_log\":";

/// Identity of what was measured: results with different keys never mix.
struct TrialKey {
  std::string task;    // Task::key()
  std::string device;  // name of the real device ("cpu: AMD EPYC ...", "NVIDIA H200 ...")
  std::string timing;  // "cold" or "hot", and the clock: "cold/opencl_events"
  friend bool operator==(const TrialKey&, const TrialKey&) = default;
};

struct Record {
  TrialKey key;
  Schedule schedule;
  Outcome outcome;
  std::string program_hash;  // hex64 of the kernel text: a changed generator makes old times stale
  std::string time;          // UTC, ISO 8601
};

/// The trial line of a record.
Json to_json(const Record& record);

/// Now, in UTC: "2026-01-31T12:00:00Z".
std::string utc_now();

/// Facts of a run, for its header line.
struct RunInfo {
  std::string version, command_line, device, driver, host;
  std::uint64_t seed = 0;
  Json extra = Json::object();
};

/// An open log. One writer object per process; any number of processes may append to one file.
class Log {
 public:
  /// Opens or creates `path` and the directory it lies in. Throws UserError when it cannot be written, or
  /// when it exists and is not a redtune log; with `force` such a file is moved aside to PATH.bak (or .bak2,
  /// ...).
  explicit Log(const std::string& path, bool force = false);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Each call is one line, on disk when it returns. All throw UserError "cannot write PATH: reason", and
  /// what stood in the file before stands there still. One thread at a time.
  void run(const RunInfo& info);
  void started(const TrialKey& key, const Schedule& schedule, const std::string& program_hash);
  void trial(const Record& record);
  void end(const std::string& reason);
  const std::string& path() const { return path_; }

 private:
  void open_file();
  bool is_ours() const;
  void move_aside();
  void append(const Json& line);
  std::string path_;
  bool regular_ = true;  // a pipe or a device has no tail to look at
  int fd_ = -1;
};

struct LogContents {
  std::vector<Record> records;
  std::vector<std::pair<TrialKey, Schedule>>
      unfinished;                     // started without a trial, once per start: crashed the run
  std::vector<Json> runs;             // the header lines, as they stand
  std::vector<std::string> warnings;  // "PATH:17: torn line skipped", one per problem
};

/// Reads a log, plain or gzip, without touching it (read-only files work). Missing file: empty contents. A torn or unreadable
/// line is skipped with a warning that names it, an unknown field is left out with one; a version newer than
/// kLogVersion is refused by name, and so is a file that is not a redtune log (UserError).
LogContents read_log(const std::string& path);
/// The same of a log that must be there: UserError "cannot read PATH: no such file" where it is not.
LogContents read_existing_log(const std::string& path);
/// The same of a log's text; `path` names it in messages.
LogContents parse_log(std::string_view text, const std::string& path);

}  // namespace redtune
