#include "configs/config_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;

// Says what the file is, for people and for us: a file without it is somebody else's.
constexpr const char* kFormat = "redtune_config";

// Serialises writers of one config file. The lock file stays: removing it would let two writers hold two
// locks.
class LockFile {
 public:
  explicit LockFile(const std::string& path) {
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) throw UserError("cannot write " + path + ": " + std::strerror(errno));
    while (::flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~LockFile() { ::close(fd_); }
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  int fd_ = -1;
};

// "NVIDIA H200 (GPU-12ab)" -> "nvidia-h200-gpu-12ab". Two devices may share a slug: entries carry the full
// name.
std::string slug(const std::string& text) {
  std::string result;
  for (char c : text) {
    const bool lower = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool upper = c >= 'A' && c <= 'Z';
    if (lower || c == '_')
      result += c;
    else if (upper)
      result += static_cast<char>(c - 'A' + 'a');
    else if (!result.empty() && result.back() != '-')
      result += '-';
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  constexpr std::size_t kLongest = 120;  // file systems allow 255, with room for suffixes
  return result.empty() ? "device" : result.substr(0, kLongest);
}

std::string family_of(const Operator& op) { return op.graph ? "graph" : std::string(name(op.reduction().op)); }

std::vector<Config> read_configs(const std::string& path) {
  if (!fs::exists(path)) return {};
  const Json json = read_json_file(path);
  if (!json.is_object() || !json.contains(kFormat)) throw UserError(path + ": is not a redtune config file");
  JsonObject file(json, path);
  const std::int64_t version = file.get_int(kFormat);
  if (version > kConfigVersion) {
    throw UserError(path + ": config version " + std::to_string(version) + " is newer than version " +
                    std::to_string(kConfigVersion) +
                    ", the newest that this redtune reads; use a newer redtune");
  }
  if (version < 1) file.fail(kFormat, "must be a positive version");
  const Json& entries = file.get("entries");
  if (!entries.is_array()) file.fail("entries", "must be an array");
  file.finish();
  std::vector<Config> configs;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    configs.push_back(parse_config(entries[i], path, "entries[" + std::to_string(i) + "]"));
  }
  return configs;
}

void write_configs(const std::string& path, std::vector<Config> configs) {
  // Sorted, so that the same entries are the same bytes whatever the order of tuning was.
  std::sort(configs.begin(), configs.end(), [](const Config& a, const Config& b) {
    return std::pair(a.device, a.op.key()) < std::pair(b.device, b.op.key());
  });
  Json json = Json::object();
  json[kFormat] = kConfigVersion;
  json["entries"] = Json::array();
  for (const Config& config : configs) json["entries"].push_back(to_json(config));
  write_file_atomically(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool same_key(const Config& a, const Operator& op, const std::string& device) {
  return a.device == device && a.op.key() == op.key();
}

// The old program can no longer be made from its schedule: its time is no rival.
bool is_stale(const Config& old, const Config& fresh) {
  return old.schedule == fresh.schedule && old.program_hash != fresh.program_hash;
}

}  // namespace

std::string ConfigStore::path_of(const Operator& op, const std::string& device) const {
  return directory_ + "/" + slug(device) + "/" + family_of(op) + ".json";
}

std::string ConfigStore::put(const Config& config, bool force) {
  RT_CHECK(config.seconds > 0 && std::isfinite(config.seconds), "a config without a time");
  RT_CHECK(config.low_seconds > 0 && std::isfinite(config.high_seconds), "a config without an interval");
  const std::string path = path_of(config.op, config.device);
  make_directories(fs::path(path).parent_path().string());
  const LockFile lock(path + ".lock");
  std::vector<Config> configs = read_configs(path);
  const auto old = std::find_if(configs.begin(), configs.end(),
                                [&](const Config& c) { return same_key(c, config.op, config.device); });
  if (old == configs.end()) {
    configs.push_back(config);
  } else if (force || config.seconds < old->seconds || is_stale(*old, config)) {
    *old = config;
  } else {
    return path;
  }
  // Inline values belong to a test case, not to what was tuned.
  for (Config& c : configs) {
    c.op.data.reset();
    c.op.values.clear();
  }
  write_configs(path, std::move(configs));
  return path;
}

std::optional<Config> ConfigStore::find(const Operator& op, const std::string& device) const {
  for (Config& config : read_configs(path_of(op, device))) {
    if (same_key(config, op, device)) return std::move(config);
  }
  return std::nullopt;
}

std::vector<Config> ConfigStore::list(const std::string& family) const {
  if (!fs::is_directory(directory_)) return {};
  std::vector<std::string> paths;
  for (const auto& device : fs::directory_iterator(directory_)) {
    if (!device.is_directory()) continue;
    for (const auto& file : fs::directory_iterator(device.path())) {
      if (file.path().extension() != ".json") continue;
      if (family.empty() || file.path().stem() == family) paths.push_back(file.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Config> result;
  for (const std::string& path : paths) {
    std::vector<Config> configs = read_configs(path);
    std::move(configs.begin(), configs.end(), std::back_inserter(result));
  }
  return result;
}

}  // namespace redtune
