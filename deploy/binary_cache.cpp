#include "deploy/binary_cache.h"

#include <filesystem>

#include "support/error.h"
#include "support/files.h"
#include "support/hash.h"

namespace redtune::deploy {
namespace {

// Head: this word, size and hash of the bytes, size of the key, each on a line; then the key, then the bytes.
constexpr std::string_view kMagic = "redtune_binary 1\n";

std::string head_of(const std::string& key, std::string_view bytes) {
  return std::string(kMagic) + std::to_string(bytes.size()) + " " + hex64(hash64(bytes)) + "\n" + key + "\n";
}

}  // namespace

BinaryCache::BinaryCache(const char* directory) {
  if (directory != nullptr) {
    directory_ = directory;
  } else if (const std::string user = user_cache_directory(); !user.empty()) {
    directory_ = user + "/binaries";
  }
}

std::string BinaryCache::path_of(const std::string& key) const {
  return directory_ + "/" + hex64(hash64(key)) + ".bin";
}

std::optional<std::string> BinaryCache::find(const std::string& key) const {
  if (directory_.empty()) return std::nullopt;
  try {
    const std::string path = path_of(key);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return std::nullopt;
    const std::string content = read_file(path);
    // The head tells what must follow it, so it is found by trying: bytes begin where a head made of them ends.
    const std::size_t line = content.find('\n', kMagic.size());
    if (!content.starts_with(kMagic) || line == std::string::npos) return std::nullopt;
    const std::size_t begin = line + 1 + key.size() + 1;
    if (begin > content.size()) return std::nullopt;
    const std::string_view bytes = std::string_view(content).substr(begin);
    if (content.compare(0, begin, head_of(key, bytes)) != 0) return std::nullopt;
    return std::string(bytes);
  } catch (const UserError&) {
    return std::nullopt;  // it went away, or may not be read
  }
}

bool BinaryCache::store(const std::string& key, std::string_view bytes) const {
  if (directory_.empty()) return false;
  try {
    make_directories(directory_);
    write_file_atomically(path_of(key), head_of(key, bytes) + std::string(bytes));
    return true;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace redtune::deploy
