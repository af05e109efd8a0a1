#include "support/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "support/error.h"
#include "support/file_handle.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_system(const std::string& what, const std::string& path, int code) {
  throw UserError("cannot " + what + " " + path + ": " + std::strerror(code));
}

// A pipe or a device has no old content to protect, and renaming over it would destroy it.
void write_in_place(const std::string& path, std::string_view content) {
  FileHandle file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || !write_all(file.get(), content)) throw_system("write", path, errno);
}

// The rename is on disk only once its directory is. Some file systems cannot; the data itself is safe by
// then.
void sync_directory(const fs::path& directory) {
  FileHandle handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle) ::fsync(handle.get());
}

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

std::string read_file(const std::string& path) {
  FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw_system("read", path, errno);
  std::string content;
  struct stat info {};
  if (::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode))
    content.reserve(static_cast<std::size_t>(info.st_size));
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system("read", path, errno);
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

void write_file_atomically(const std::string& path, std::string_view content) {
  static std::atomic<unsigned> serial{0};
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) throw_system("write", path, EISDIR);
  if (exists && !S_ISREG(info.st_mode)) return write_in_place(path, content);
  std::error_code ignored;
  // Through a link, so that the link stays one.
  const fs::path target = exists ? fs::canonical(path, ignored) : fs::path(path);
  const std::string temporary =
      target.string() + ".tmp." + std::to_string(::getpid()) + "." + std::to_string(serial++);
  FileHandle file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) throw_system("write", path, errno);
  bool good = write_all(file.get(), content);
  if (good && exists) good = ::fchmod(file.get(), info.st_mode & 0777) == 0;
  good = good && ::fsync(file.get()) == 0 && ::rename(temporary.c_str(), target.c_str()) == 0;
  if (!good) {
    const int code = errno;
    ::unlink(temporary.c_str());
    throw_system("write", path, code);
  }
  sync_directory(target.has_parent_path() ? target.parent_path() : fs::path("."));
}

void make_directories(const std::string& path) {
  std::error_code code;
  fs::create_directories(path, code);
  if (code) throw UserError("cannot create directory " + path + ": " + code.message());
}

std::string executable_directory() {
  std::error_code code;
  const fs::path binary = fs::read_symlink("/proc/self/exe", code);
  RT_CHECK(!code, "cannot read /proc/self/exe: " + code.message());
  return binary.parent_path().string();
}

std::string data_directory() {
  std::error_code ignored;
  if (const auto chosen = environment("REDTUNE_DATA")) {
    if (fs::is_directory(*chosen, ignored)) return *chosen;
    throw UserError("REDTUNE_DATA: no directory at " + *chosen);
  }
  const fs::path installed = fs::path(executable_directory()) / ".." / "share" / "redtune";
  if (fs::is_directory(installed, ignored)) return fs::weakly_canonical(installed, ignored).string();
  const fs::path source = fs::path(REDTUNE_SOURCE_DIR) / "configs";
  if (fs::is_directory(source, ignored)) return source.string();
  throw UserError("no data directory: neither " + installed.lexically_normal().string() + " nor " +
                  source.string() +
                  " exists; set REDTUNE_DATA to the directory that holds targets/ and suites/");
}

std::string user_cache_directory() {
  fs::path base;
  const auto chosen = environment("XDG_CACHE_HOME");
  if (chosen && fs::path(*chosen).is_absolute()) {
    base = *chosen;
  } else if (const auto home = environment("HOME")) {
    base = fs::path(*home) / ".cache";
  } else {
    return "";
  }
  const fs::path directory = base / "redtune";
  std::error_code code;
  fs::create_directories(directory, code);
  if (code || ::access(directory.c_str(), W_OK | X_OK) != 0) return "";
  return directory.string();
}

}  // namespace redtune
