#include "tuner/export/wisdom.h"

#include <algorithm>

#include "logs/task_records.h"
#include "space/axes.h"
#include "support/error.h"
#include "support/hash.h"
#include "tuner/export/shipped_kernel.h"

namespace redtune {
namespace {

Json problem_size_of(const Axes& axes) {
  return axes.row_type ? Json{axes.kept, axes.outer, axes.inner} : Json{axes.outer, axes.reduced, axes.inner};
}

std::string header_of(const std::string& key) {
  Json names = Json::array();
  const Json configuration = configuration_of(Schedule{});
  for (const auto& [name, unused] : configuration.items()) names.push_back(name);
  return Json{{"version", "1.0"}, {"objective", "time"}, {"tunable_parameters", names}, {"key", key}}.dump() + "\n";
}

std::string record_of(const Config& config) {
  Json values = Json::array();
  const Json configuration = configuration_of(config.schedule);
  for (const auto& [unused, value] : configuration.items()) values.push_back(value);
  Json environment{{"date", config.time},
                   {"device_name", config.device},
                   {"compute_capability", capability_of(config.target)},
                   {"driver", config.driver},
                   {"redtune_version", config.version}};
  const Json record{{"config", values},
                    {"problem_size", problem_size_of(axes_of(coalesce(config.op)))},
                    {"time", config.seconds * 1e3},
                    {"environment", environment}};
  return record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string wisdom_key(const Operator& op) {
  const ReduceStatement& reduction = op.reduction();
  std::string key = "redtune_" + std::string(name(reduction.op)) + "_" + std::string(name(op.input().dtype)) + "_" +
                    std::string(name(op.output().dtype)) + (axes_of(coalesce(op)).row_type ? "_row" : "_column");
  if (reduction.accumulator != default_accumulator(reduction, op.input())) {
    key += "_in_" + std::string(name(reduction.accumulator));
  }
  if (reduction.ddof != 0) key += "_ddof_" + std::to_string(reduction.ddof);
  if (op.determinism == Determinism::kRunToRun) key += "_run_to_run";
  // Strides change what is fast, and three sizes cannot tell them.
  if (!op.input().is_row_major()) key += "_strided_" + hex64(hash64(op.key()));
  return key;
}

std::vector<WisdomFile> wisdom_files(const std::vector<Config>& configs) {
  std::vector<WisdomFile> files;
  for (const Config& config : configs) {
    RT_CHECK(config.seconds > 0, "wisdom of what was not measured");
    const std::string key = wisdom_key(config.op);
    auto file = std::find_if(files.begin(), files.end(), [&](const WisdomFile& f) { return f.key == key; });
    if (file == files.end()) file = files.insert(files.end(), {key, header_of(key)});
    file->text += record_of(config);
  }
  return files;
}

}  // namespace redtune
