#include "configs/store_tools.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "configs/config_files.h"
#include "configs/config_schema.h"
#include "space/space_grid.h"
#include "support/error.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;

void copy_kernel(const std::string& from, const std::string& into, const KernelFile& kernel) {
  write_kernel_text(into, read_kernel_text(from, kernel), kernel.language, kernel.options);
  KernelFile copy = kernel;
  copy.images.clear();
  for (const KernelImage& image : kernel.images) {
    write_kernel_image(into, copy, image.architecture, image.format, read_kernel_image(from, image));
  }
}

std::string where(const std::string& path, const Config& config) {
  return path + ": " + config.op.key() + " on " + config.device;
}

void check_kernel(const std::string& store, const std::string& path, const Config& config,
                  std::vector<std::string>& problems) {
  if (!config.kernel) {
    problems.push_back(where(path, config) + ": has no kernel text (version 1); tune again to deploy it");
    return;
  }
  const auto attempt = [&](auto&& read) {
    try {
      read();
    } catch (const UserError& error) {
      problems.push_back(where(path, config) + ": " + error.what());
    }
  };
  attempt([&] {
    const std::string text = read_kernel_text(store, *config.kernel);
    for (const KernelLaunch& launch : config.launches) {
      if (text.find(launch.entry) == std::string::npos)
        throw UserError(config.kernel->file + " has no kernel '" + launch.entry + "'");
    }
  });
  for (const KernelImage& image : config.kernel->images) attempt([&] { read_kernel_image(store, image); });
}

void check_file(const std::string& store, const std::string& path, std::vector<std::string>& problems) {
  const ConfigStore configs(store);
  std::set<ConfigKey> seen;
  for (const Config& config : read_config_file(path)) {
    if (!seen.insert(key_of(config)).second)
      problems.push_back(where(path, config) + ": stands twice");
    const std::string proper = configs.path_of(config.op, config.device);
    if (fs::path(proper).lexically_normal() != fs::path(path).lexically_normal())
      problems.push_back(where(path, config) + ": belongs into " + proper + ", where it is looked for");
    if (config.low_seconds > config.seconds || config.high_seconds < config.seconds)
      problems.push_back(where(path, config) + ": its interval does not hold its time");
    if (!point_of(config.schedule))
      problems.push_back(where(path, config) + ": its schedule \"" + config.schedule.text() + "\" is in no space; tune again");
    check_kernel(store, path, config, problems);
  }
}

double age_of(const fs::path& path) {
  std::error_code code;
  const auto time = fs::last_write_time(path, code);
  if (code) return 0;
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - time).count();
}

bool is_temporary(const fs::path& path) { return path.filename().string().find(".tmp.") != std::string::npos; }

using ByKey = std::map<ConfigKey, Config>;

ByKey by_key(const std::string& directory) {
  need_store(directory);
  ByKey result;
  for (Config& config : ConfigStore(directory).list()) {
    ConfigKey key = key_of(config);
    result.insert_or_assign(std::move(key), std::move(config));
  }
  return result;
}

std::string line_of(char sign, const Config& config) {
  return std::string(1, sign) + " " + config.op.key() + "  " + format_seconds(config.seconds) + "  " +
         config.schedule.text() + (config.range ? "  of portfolio " + config.range->portfolio : "") + "  on " +
         config.device + "\n";
}

}  // namespace

MergeReport merge_store(const std::string& from, const std::string& into) {
  need_store(from);
  MergeReport report;
  ConfigStore target(into);
  // By file, so that each is locked and written once.
  std::map<std::string, std::vector<Config>> files;
  for (Config& config : ConfigStore(from).list()) {
    if (config.kernel) copy_kernel(from, into, *config.kernel);
    std::string path = target.path_of(config.op, config.device);
    files[std::move(path)].push_back(std::move(config));
  }
  for (const auto& [path, configs] : files) {
    const PutReport put = target.put_all(configs);
    report.added += put.added;
    report.replaced += put.replaced;
    report.kept += put.kept;
  }
  return report;
}

std::vector<std::string> check_store(const std::string& directory) {
  need_store(directory);
  std::vector<std::string> problems;
  for (const std::string& path : ConfigStore(directory).files()) {
    try {
      check_file(directory, path, problems);
    } catch (const UserError& error) {
      problems.emplace_back(error.what());
    }
  }
  return problems;
}

PruneReport prune_store(const std::string& directory, double least_age_seconds, bool dry_run) {
  need_store(directory);
  // Looked for before the configs are read: a kernel that is written after is younger than any limit.
  std::vector<fs::path> candidates;
  std::error_code code;
  for (fs::recursive_directory_iterator at(directory, code), end; at != end; at.increment(code)) {
    if (code) throw UserError("cannot read " + directory + ": " + code.message());
    // Of this store: others that lie below it (predicted/) have kernels of their own.
    const bool kernel = at->path().parent_path().lexically_relative(directory) == "kernels";
    if (at->is_regular_file(code) && (kernel || is_temporary(at->path())) && age_of(at->path()) >= least_age_seconds)
      candidates.push_back(at->path());
  }
  std::set<std::string> used;
  for (const Config& config : ConfigStore(directory).list()) {
    if (!config.kernel) continue;
    used.insert(config.kernel->file);
    for (const KernelImage& image : config.kernel->images) used.insert(image.file);
  }
  std::sort(candidates.begin(), candidates.end());
  PruneReport report;
  for (const fs::path& path : candidates) {
    const std::string name = path.lexically_relative(directory).string();
    if (used.contains(name)) continue;
    report.bytes += static_cast<std::size_t>(fs::file_size(path, code));
    if (!dry_run && !fs::remove(path, code) && code) {
      throw UserError("cannot remove " + path.string() + ": " + code.message());
    }
    report.removed.push_back(name);
  }
  return report;
}

std::vector<StoreDifference> diff_stores(const std::string& left, const std::string& right) {
  ByKey old = by_key(left), fresh = by_key(right);
  std::vector<StoreDifference> result;
  for (auto& [key, config] : old) {
    const auto other = fresh.find(key);
    if (other == fresh.end()) {
      result.push_back({StoreDifference::Kind::kOnlyLeft, std::move(config), {}});
      continue;
    }
    const Config& now = other->second;
    const bool same = now.schedule == config.schedule && now.seconds == config.seconds &&
                      now.program_hash == config.program_hash;
    if (!same) result.push_back({StoreDifference::Kind::kChanged, std::move(config), now});
    fresh.erase(other);
  }
  for (auto& [key, config] : fresh) {
    result.push_back({StoreDifference::Kind::kOnlyRight, {}, std::move(config)});
  }
  return result;
}

std::string diff_text(const std::vector<StoreDifference>& differences) {
  std::string text;
  for (const StoreDifference& d : differences) {
    switch (d.kind) {
      case StoreDifference::Kind::kOnlyLeft:
        text += line_of('-', d.left);
        break;
      case StoreDifference::Kind::kOnlyRight:
        text += line_of('+', d.right);
        break;
      case StoreDifference::Kind::kChanged: {
        char ratio[32];
        std::snprintf(ratio, sizeof ratio, "%.2f", d.left.seconds / d.right.seconds);
        text += "~ " + d.left.op.key() + "  " + format_seconds(d.left.seconds) + " -> " +
                format_seconds(d.right.seconds) + " (" + ratio + "x as fast)  " + d.left.schedule.text();
        if (!(d.left.schedule == d.right.schedule)) text += " -> " + d.right.schedule.text();
        if (d.left.program_hash != d.right.program_hash) text += ", other kernel text";
        text += "  on " + d.left.device + "\n";
      }
    }
  }
  return text;
}

}  // namespace redtune
