// The directory where a run keeps what its workers said on stderr and the whole logs of failed compilations.
#pragma once

#include <string>
#include <string_view>

#include "support/file_handle.h"

namespace redtune {

/// Below the user's cache directory, or in the temporary one when that cannot be written. Removed with its
/// owner, except for what was kept; the oldest of earlier runs that have ended are removed when a new one is made.
class Evidence {
 public:
  Evidence();
  ~Evidence();
  Evidence(const Evidence&) = delete;
  Evidence& operator=(const Evidence&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  /// Writes a file that stays. Returns its path; "" when it could not be written.
  std::string keep(const std::string& name, std::string_view text);
  /// The file of that name stays.
  void keep(const std::string& name);

 private:
  std::string directory_;
  FileHandle living_;  // the lock that tells other runs to leave the directory alone
  bool kept_ = false;
};

/// The last lines of a file, on one line, at most a few hundred characters. "" when there is nothing.
std::string tail_of(const std::string& path);

/// Environment for workers: where OpenCL drivers keep what they compiled. Falls back to the temporary
/// directory with a warning on stderr, once. A choice that the user made stands.
std::string compiler_cache_variable();

}  // namespace redtune
