// Compiled kernels on disk, whatever compiled them: bytes by everything that they depend on. Any number of processes
// may share a directory; a file is whole or not there, and a damaged one is made anew.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace redtune::deploy {

class BinaryCache {
 public:
  /// `directory`: nullptr: the user's (none when it cannot be written); "": none.
  explicit BinaryCache(const char* directory);

  /// `key` is any text; it is compared as a whole, not by its hash alone.
  std::optional<std::string> find(const std::string& key) const;
  /// False when it could not be kept; nothing depends on that.
  bool store(const std::string& key, std::string_view bytes) const;

 private:
  std::string path_of(const std::string& key) const;
  std::string directory_;
};

}  // namespace redtune::deploy
