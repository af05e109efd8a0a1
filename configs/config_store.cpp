#include "configs/config_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "configs/config_files.h"
#include "configs/config_schema.h"
#include "configs/operator_kind.h"
#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;

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

void write_configs(const std::string& path, std::vector<Config> configs) {
  // Sorted, so that the same entries are the same bytes whatever the order of tuning was.
  std::sort(configs.begin(), configs.end(), [](const Config& a, const Config& b) {
    return key_of(a) < key_of(b);
  });
  Json json = Json::object();
  json[kConfigFormat] = kConfigVersion;
  json["entries"] = Json::array();
  for (const Config& config : configs) json["entries"].push_back(to_json(config));
  const std::string complaint = schema_complaint(json);
  RT_CHECK(complaint.empty(), "an entry does not fit configs/config.schema.json: " + complaint);
  write_file_atomically(path, readable_json(json));
}

bool is_best_of(const Config& config, const Operator& op, const std::string& device) {
  return key_of(config) == ConfigKey(device, op.key(), false);
}

std::string kind_of(const Config& member) { return range_kind(member.op, coalesce(member.op)); }

// Inline values belong to a test case, not to what was tuned.
void drop_data(std::vector<Config>& configs) {
  for (Config& config : configs) {
    config.op.data.reset();
    config.op.values.clear();
  }
}

// The old program can no longer be made from its schedule: its time is no rival.
bool is_stale(const Config& old, const Config& fresh) {
  return old.schedule == fresh.schedule && old.program_hash != fresh.program_hash && old.time <= fresh.time;
}

// A measured entry never gives way to a prediction.
bool gives_way(const Config& old, const Config& fresh, bool force) {
  if (old.predicted || fresh.predicted) return old.predicted.has_value();
  return force || fresh.seconds < old.seconds || is_stale(old, fresh);
}

void check_times(const Config& config) {
  if (config.predicted) {
    RT_CHECK(config.seconds == 0, "a predicted config with a time");
    return;
  }
  RT_CHECK(config.seconds > 0 && std::isfinite(config.seconds), "a config without a time");
  RT_CHECK(config.low_seconds > 0 && std::isfinite(config.high_seconds), "a config without an interval");
}

}  // namespace

std::vector<Config> read_config_file(const std::string& path) {
  if (!fs::exists(path)) return {};
  const Json json = read_json_file(path);
  if (!json.is_object() || !json.contains(kConfigFormat)) throw UserError(path + ": is not a redtune config file");
  JsonObject file(json, path);
  check_config_version(file.get_int(kConfigFormat), path);
  const Json& entries = file.get("entries");
  if (!entries.is_array()) file.fail("entries", "must be an array");
  file.finish();
  std::vector<Config> configs;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    configs.push_back(parse_config(entries[i], path, "entries[" + std::to_string(i) + "]"));
  }
  if (const std::string complaint = schema_complaint(json); !complaint.empty()) {
    throw UserError(path + ": does not fit configs/config.schema.json: " + complaint);
  }
  return configs;
}

std::string ConfigStore::path_of(const Operator& op, const std::string& device) const {
  return directory_ + "/" + slug(device) + "/" + family_of(op) + ".json";
}

void ConfigStore::check(const Operator& op, const std::string& device) const {
  const std::string path = path_of(op, device);
  make_directories(fs::path(path).parent_path().string());
  const LockFile lock(path + ".lock");
  read_config_file(path);
}

std::string ConfigStore::put(const Config& config, bool force) {
  put_all({config}, force);
  return path_of(config.op, config.device);
}

PutReport ConfigStore::put_all(const std::vector<Config>& fresh, bool force) {
  PutReport report;
  if (fresh.empty()) return report;
  const std::string path = path_of(fresh.front().op, fresh.front().device);
  make_directories(fs::path(path).parent_path().string());
  const LockFile lock(path + ".lock");
  std::vector<Config> configs = read_config_file(path);
  std::map<ConfigKey, std::size_t> places;
  for (std::size_t i = 0; i < configs.size(); ++i) places[key_of(configs[i])] = i;
  for (const Config& config : fresh) {
    RT_CHECK(path_of(config.op, config.device) == path, "entries of several files");
    check_times(config);
    const auto [place, is_new] = places.try_emplace(key_of(config), configs.size());
    if (is_new) {
      configs.push_back(config);
      ++report.added;
    } else if (Config& old = configs[place->second]; gives_way(old, config, force)) {
      old = config;
      ++report.replaced;
    } else {
      ++report.kept;
    }
  }
  if (report.added + report.replaced == 0) return report;
  drop_data(configs);
  write_configs(path, std::move(configs));
  return report;
}

std::string ConfigStore::put_portfolio(const std::vector<Config>& members) {
  RT_CHECK(!members.empty(), "a portfolio without a schedule");
  const Config& first = members.front();
  const std::string path = path_of(first.op, first.device), kind = kind_of(first);
  make_directories(fs::path(path).parent_path().string());
  const LockFile lock(path + ".lock");
  std::vector<Config> configs = read_config_file(path);
  for (const Config& member : members) {
    check_times(member);
    RT_CHECK(member.range && member.device == first.device && kind_of(member) == kind && !kind.empty() &&
                 member.range->portfolio == first.range->portfolio,
             "a portfolio of several devices, kinds or names");
    std::erase_if(configs, [&](const Config& old) { return key_of(old) == key_of(member); });
  }
  std::erase_if(configs, [&](const Config& old) {
    return old.range && old.device == first.device && old.range->portfolio == first.range->portfolio &&
           kind_of(old) == kind;
  });
  configs.insert(configs.end(), members.begin(), members.end());
  drop_data(configs);
  write_configs(path, std::move(configs));
  return path;
}

bool ConfigStore::add_transfer(const Operator& op, const std::string& device, const Schedule& schedule,
                               const Transfer& transfer) {
  const std::string path = path_of(op, device);
  if (!fs::exists(path)) return false;
  const LockFile lock(path + ".lock");
  std::vector<Config> configs = read_config_file(path);
  const auto entry = std::find_if(configs.begin(), configs.end(),
                                  [&](const Config& c) { return is_best_of(c, op, device) && c.schedule == schedule; });
  if (entry == configs.end()) return false;
  std::erase_if(entry->transfers, [&](const Transfer& old) { return old.key == transfer.key; });
  entry->transfers.push_back(transfer);
  std::sort(entry->transfers.begin(), entry->transfers.end(),
            [](const Transfer& a, const Transfer& b) { return a.key < b.key; });
  write_configs(path, std::move(configs));
  return true;
}

std::optional<Config> ConfigStore::find(const Operator& op, const std::string& device) const {
  for (Config& config : read_config_file(fs::is_regular_file(directory_) ? directory_ : path_of(op, device))) {
    if (is_best_of(config, op, device)) return std::move(config);
  }
  return std::nullopt;
}

std::vector<std::string> ConfigStore::files() const { return config_files(directory_); }

std::vector<Config> ConfigStore::list(const std::string& family) const {
  std::vector<Config> result;
  for (const std::string& path : files()) {
    if (!family.empty() && path != directory_ && fs::path(path).stem() != family) continue;
    for (Config& config : read_config_file(path)) {
      if (family.empty() || family_of(config.op) == family) result.push_back(std::move(config));
    }
  }
  return result;
}

}  // namespace redtune
