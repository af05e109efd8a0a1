#include "measure/evidence.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "support/error.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRunsKept = 20;
constexpr std::string_view kPrefix = "run-";

// A run holds a lock on its directory as long as it lives: one that goes on for hours is older than twenty others.
FileHandle locked(const fs::path& run) {
  FileHandle directory(::open(run.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory && ::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) directory = FileHandle();
  return directory;
}

// The run's own directory has just been made: it is among the newest.
void remove_old_runs(const fs::path& base) {
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> runs;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    runs.emplace_back(fs::last_write_time(entry.path(), ignored), entry.path());
  }
  if (runs.size() <= kRunsKept) return;
  std::sort(runs.begin(), runs.end());
  for (std::size_t i = 0; i + kRunsKept < runs.size(); ++i) {
    if (locked(runs[i].second)) fs::remove_all(runs[i].second, ignored);
  }
}

fs::path base_directory() {
  const std::string cache = user_cache_directory();
  std::error_code code;
  const fs::path base = cache.empty() ? fs::temp_directory_path(code) : fs::path(cache) / "evidence";
  fs::create_directories(base, code);
  return base;
}

// PoCL leaves an empty file behind for each program it compiles. The young ones may belong to a compiler at
// work.
void remove_leftovers(const fs::path& cache) {
  constexpr auto kYoung = std::chrono::minutes(10);
  const auto now = fs::file_time_type::clock::now();
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache, ignored)) {
    if (!entry.path().filename().string().starts_with("tempfile_")) continue;
    if (now - fs::last_write_time(entry.path(), ignored) > kYoung) fs::remove(entry.path(), ignored);
  }
}

}  // namespace

Evidence::Evidence() {
  const fs::path base = base_directory();
  std::string pattern = (base / (std::string(kPrefix) + "XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) throw UserError("cannot make a directory in " + base.string());
  directory_ = pattern;
  living_ = locked(directory_);
  remove_old_runs(base);
}

Evidence::~Evidence() {
  std::error_code ignored;
  if (!kept_) {
    fs::remove_all(directory_, ignored);
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, ignored)) {
    if (entry.file_size(ignored) == 0) fs::remove(entry.path(), ignored);
  }
  fs::remove(directory_, ignored);  // only when nothing is left in it
}

std::string Evidence::keep(const std::string& name, std::string_view text) {
  std::ofstream file(path(name), std::ios::binary);
  file << text;
  file.close();
  if (!file) return "";
  kept_ = true;
  return path(name);
}

void Evidence::keep(const std::string& name) {
  std::error_code ignored;
  if (fs::exists(path(name), ignored)) kept_ = true;
}

std::string tail_of(const std::string& path) {
  constexpr std::streamoff kMost = 400;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(size - kMost, 0));
  std::ostringstream text;
  text << file.rdbuf();
  std::string tail = text.str();
  // Whole lines, unless there is only one.
  if (size > kMost && tail.find('\n') + 1 < tail.size()) tail.erase(0, tail.find('\n') + 1);
  tail = trim(tail);
  std::replace(tail.begin(), tail.end(), '\n', ' ');
  return tail;
}

std::string compiler_cache_variable() {
  static const std::string variable = [] {
    constexpr const char* kName = "POCL_CACHE_DIR";
    if (const char* const chosen = std::getenv(kName)) return std::string(kName) + "=" + chosen;
    std::string base = user_cache_directory();
    if (base.empty()) {
      std::error_code ignored;
      base = (fs::temp_directory_path(ignored) / ("redtune-" + std::to_string(::getuid()))).string();
      std::cerr << "redtune: warning: no cache directory can be written (XDG_CACHE_HOME, HOME); compiled "
                   "kernels go to "
                << base << "\n";
    }
    make_directories(base + "/pocl");
    remove_leftovers(base + "/pocl");
    return std::string(kName) + "=" + base + "/pocl";
  }();
  return variable;
}

}  // namespace redtune
