// The log: records as JSON lines. Appended under a lock and flushed to disk line by line, so that whatever happens
// to the run, what was measured stays.
//
// Line kinds (member "kind"): "run" (header of each run: tool version, command line, seed, device, driver, host),
// "started" (a schedule about to be launched), "trial" (schedule with its outcome), "end" (why the run ended).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "logs/outcome.h"
#include "space/schedule.h"

namespace redtune {

inline constexpr int kLogVersion = 1;

/// Identity of what was measured: results with different keys never mix.
struct TrialKey {
  std::string task;         // Task::key()
  std::string device;       // name of the real device ("cpu: AMD EPYC ...", "NVIDIA H200 ...")
  std::string timing;       // "cold" or "hot", and the clock: "cold/opencl_events"
  friend bool operator==(const TrialKey&, const TrialKey&) = default;
};

struct Record {
  TrialKey key;
  Schedule schedule;
  Outcome outcome;
  std::string program_hash;  // hex64 of the kernel text: a changed generator makes old times stale
  std::string time;          // UTC, ISO 8601
};

/// Facts of a run, for its header line.
struct RunInfo {
  std::string version, command_line, device, driver, host;
  std::uint64_t seed = 0;
  Json extra = Json::object();
};

/// An open log. One writer object per process; any number of processes may append to one file.
class Log {
 public:
  /// Opens or creates `path`. Throws UserError when it cannot be written, or when it exists and is not a redtune log.
  explicit Log(const std::string& path);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void run(const RunInfo& info);
  void started(const TrialKey& key, const Schedule& schedule, const std::string& program_hash);
  void trial(const Record& record);
  void end(const std::string& reason);
  const std::string& path() const { return path_; }

 private:
  void append(const Json& line);
  std::string path_;
  int fd_ = -1;
};

struct LogContents {
  std::vector<Record> records;
  std::vector<std::pair<TrialKey, Schedule>> unfinished;  // started without a trial: crashed the run
  std::vector<std::string> warnings;                      // "PATH:17: torn line skipped", one per problem
};

/// Reads a log without touching it (read-only files work). Missing file: empty contents. A torn or unreadable line is
/// skipped with a warning that names it; a version newer than kLogVersion is refused by name (UserError).
LogContents read_log(const std::string& path);

}  // namespace redtune
