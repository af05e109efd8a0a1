// What a program that watches kernels (Oclgrind) wrote to its log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redtune {

/// The reports in a piece of Oclgrind's log. What it says of groups that are ordered by a ticket is left out:
/// it knows the order that barriers make inside a group, not that of the ticket, whose last holder reads all
/// partials and sets the ticket back.
std::vector<std::string> oclgrind_reports(std::string_view text);

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
