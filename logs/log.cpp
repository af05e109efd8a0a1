#include "logs/log.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

[[noreturn]] void throw_system(const std::string& what, const std::string& path, int code) {
  throw UserError("cannot " + what + " " + path + ": " + std::strerror(code));
}

// Holds the file lock for a scope. A file system without locks (some network disks) is used without: one
// write per line with O_APPEND is then all there is.
class FileLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~FileLock() { ::flock(fd_, LOCK_UN); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_;
};

// Pipes and devices cannot be synced and need not be.
bool sync_data(int fd) {
  return ::fdatasync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP;
}

Json line_of(const char* kind) {
  Json line = Json::object();
  line["redtune_log"] = kLogVersion;
  line["kind"] = kind;
  return line;
}

void put_key(Json& line, const TrialKey& key, const Schedule& schedule, const std::string& program_hash) {
  line["task"] = key.task;
  line["device"] = key.device;
  line["timing"] = key.timing;
  line["schedule"] = schedule.text();
  line["program"] = program_hash;
}

std::string free_backup_name(const std::string& path) {
  std::string name = path + ".bak";
  for (int i = 2; std::filesystem::exists(name); ++i) name = path + ".bak" + std::to_string(i);
  return name;
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Json to_json(const Record& record) {
  Json line = line_of("trial");
  put_key(line, record.key, record.schedule, record.program_hash);
  line["time"] = record.time;
  line["outcome"] = to_json(record.outcome);
  return line;
}

Log::Log(const std::string& path, bool force) : path_(path) {
  const auto parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) make_directories(parent.string());
  open_file();
  if (is_ours()) return;
  ::close(fd_);
  fd_ = -1;
  if (!force) {
    throw UserError(path_ +
                    ": is not a redtune log and was left alone; name another file, or use --force to move it "
                    "aside to " +
                    free_backup_name(path_));
  }
  move_aside();
  open_file();
}

Log::~Log() {
  if (fd_ >= 0) ::close(fd_);
}

void Log::open_file() {
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ < 0) throw_system("write", path_, errno);
  struct stat status {};
  regular_ = ::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode);
}

bool Log::is_ours() const {
  if (!regular_) return true;
  char start[kLogPrefix.size()];
  const ssize_t got = ::pread(fd_, start, sizeof start, 0);
  if (got < 0) throw_system("read", path_, errno);
  // The first line may be torn too: a beginning of the prefix is ours.
  return kLogPrefix.starts_with(std::string_view(start, static_cast<std::size_t>(got)));
}

void Log::move_aside() {
  const std::string backup = free_backup_name(path_);
  if (std::rename(path_.c_str(), backup.c_str()) != 0) throw_system("move aside", path_, errno);
}

void Log::append(const Json& line) {
  // Evidence may carry bytes of a foreign compiler that are no UTF-8: they are replaced, not thrown about.
  std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const FileLock lock(fd_);
  struct stat status {};
  if (regular_ && ::fstat(fd_, &status) == 0 && status.st_size > 0) {
    char last = '\n';
    // Whoever wrote last may have been killed in the middle of a line: end it, so that this one stands alone.
    if (::pread(fd_, &last, 1, status.st_size - 1) == 1 && last != '\n') text.insert(0, "\n");
  }
  if (write_all(fd_, text) && sync_data(fd_)) return;
  const int code = errno;
  // Half a line would cost the reader a warning; under the lock nothing can have followed it.
  if (regular_ && ::ftruncate(fd_, status.st_size) != 0) errno = code;
  throw_system("write", path_, code);
}

void Log::run(const RunInfo& info) {
  Json line = line_of("run");
  line["time"] = utc_now();
  line["version"] = info.version;
  line["command_line"] = info.command_line;
  line["seed"] = info.seed;
  line["device"] = info.device;
  line["driver"] = info.driver;
  line["host"] = info.host;
  for (const auto& [key, value] : info.extra.items()) line[key] = value;
  append(line);
}

void Log::started(const TrialKey& key, const Schedule& schedule, const std::string& program_hash) {
  Json line = line_of("started");
  put_key(line, key, schedule, program_hash);
  append(line);
}

void Log::trial(const Record& record) { append(to_json(record)); }

void Log::end(const std::string& reason) {
  Json line = line_of("end");
  line["time"] = utc_now();
  line["reason"] = reason;
  append(line);
}

}  // namespace redtune
