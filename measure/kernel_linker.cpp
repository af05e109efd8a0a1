#include "measure/kernel_linker.h"

#include <cstdlib>
#include <filesystem>

#include "support/error.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;

std::string found_in(const std::string& path, const std::string& program) {
  for (const std::string& directory : split(path, ':')) {
    std::error_code ignored;
    if (directory.starts_with('/') && fs::exists(directory + "/" + program, ignored)) return directory + "/" + program;
  }
  return "";
}

}  // namespace

std::string short_linker(const std::string& directory) {
  const char* const inherited = std::getenv("PATH");
  const std::string path = inherited != nullptr ? inherited : "/usr/bin:/bin", linker = found_in(path, "ld");
  if (linker.empty()) return "";
  const std::string file = directory + "/ld";
  // Closed on exec: a worker that another thread starts meanwhile must not hold it open for writing, or nobody could
  // execute it.
  write_file_atomically(file,
                        "#!/bin/sh\n"
                        "for word do\n"
                        "  shift\n"
                        "  case $word in -l*|-L*|--as-needed|--no-as-needed|--build-id) ;; *) set -- \"$@\" \"$word\" ;; esac\n"
                        "done\n"
                        "exec '" + linker + "' \"$@\"\n");
  std::error_code failed;
  fs::permissions(file, fs::perms::owner_all, failed);
  if (failed) throw UserError("cannot write " + file + ": " + failed.message());
  return "PATH=" + directory + ":" + path;
}

}  // namespace redtune
