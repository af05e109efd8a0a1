// Files: whole reads, durable writes, where things lie. Every failure names the path and the system's reason.
#pragma once

#include <string>
#include <string_view>

namespace redtune {

/// Throws UserError "cannot read PATH: reason".
std::string read_file(const std::string& path);

/// Writes to a temporary file beside `path`, flushes it to disk and renames it: readers see the old or the new
/// content, never a part. Throws UserError "cannot write PATH: reason"; the old file then stands untouched.
void write_file_atomically(const std::string& path, std::string_view content);

/// Writes everything to an open file, going on after interruptions. False with errno when it cannot: a part may then
/// have been written.
bool write_all(int fd, std::string_view content);

/// mkdir -p. Throws UserError naming the path.
void make_directories(const std::string& path);

/// The directory of the running binary, links resolved.
std::string executable_directory();

/// Where the product's data (targets, suites) lies: $REDTUNE_DATA, else beside the binary in the install tree
/// (../share/redtune), else the source tree that this binary was built from.
std::string data_directory();

/// $XDG_CACHE_HOME/redtune or ~/.cache/redtune, created; "" when it cannot be written (the caller warns).
std::string user_cache_directory();

}  // namespace redtune
