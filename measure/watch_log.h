// A program that watches kernels (Oclgrind), and what it wrote to its log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redtune {

/// What looks over the kernels' shoulders: Oclgrind, an OpenCL device that interprets them. It needs no
/// machine code, which makes it the fastest device for small tasks, except when it looks for races.
enum class Watch : std::uint8_t {
  kNone,
  kAccesses,  // accesses outside of buffers, divergent barriers
  kRaces,     // these and data races
};

/// The command in front of the program to watch; empty for none.
std::vector<std::string> watch_command(Watch watch, const std::string& log);

/// The reports in a piece of Oclgrind's log. Two kinds are left out. What it says of groups that are ordered by a
/// ticket: it knows the order that barriers make inside a group, not that of the ticket, whose last holder reads all
/// partials and sets the ticket back. And that the halves of a vector, folded at the end of a second kernel, are not
/// initialized: it loses track of vectors that are taken apart.
std::vector<std::string> oclgrind_reports(std::string_view text);

/// The kernel that a report names; "" when it names none.
std::string kernel_of(std::string_view report);

/// Follows a log that another process appends to.
class WatchLog {
 public:
  explicit WatchLog(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  /// Reports since the last call.
  std::vector<std::string> take();

 private:
  std::string path_;
  std::int64_t offset_ = 0;
};

}  // namespace redtune
