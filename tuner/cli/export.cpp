#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>

#include "logs/write_recorded.h"
#include "space/operator_key.h"
#include "support/files.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/verbs.h"
#include "tuner/export/c_header.h"
#include "tuner/export/wisdom.h"

namespace redtune {
namespace {

struct ExportArguments {
  OperatorArguments operators;
  std::string format, output = "redtune-out/export", configs = "redtune-out/configs", device, targets, schedule;
  std::vector<std::string> logs;
};

class ExportVerb {
 public:
  explicit ExportVerb(const ExportArguments& arguments) : arguments_(arguments) {
    if (arguments_.operators.given()) operators_ = arguments_.operators.read();
  }

  // What each format does, with its place in the help.
  struct Format {
    std::string_view name, summary;
    void (ExportVerb::*write)();
  };
  static const std::vector<Format>& formats() {
    static const std::vector<Format> table{
        {"bundle", "a config store with kernels (and cubins), as redtune::deploy loads it", &ExportVerb::write_bundles},
        {"source", "kernel text that nvcc or an OpenCL compiler takes, and a JSON file", &ExportVerb::write_sources},
        {"cubin", "machine code for each --target, and a JSON file", &ExportVerb::write_cubins},
        {"header", "a C header with kernel and launch code", &ExportVerb::write_headers},
        {"wisdom", "configs for Kernel Launcher", &ExportVerb::write_wisdom},
        {"cachefile", "the trials of a log for Kernel Tuner", &ExportVerb::write_cachefiles},
        {"t4", "the trials of a log as T4 results", &ExportVerb::write_t4},
    };
    return table;
  }

  ExitCode run() {
    std::vector<std::string> known;
    for (const Format& format : formats()) {
      known.emplace_back(format.name);
      if (format.name != arguments_.format) continue;
      make_directories(arguments_.output);
      (this->*format.write)();
      return ExitCode::kDone;
    }
    throw UserError("--format: " + unknown_word_message("format", arguments_.format, known));
  }

 private:
  bool wanted(const Config& config) const {
    // A device by its name or a part of it, so that no device need be present.
    if (config.device.find(arguments_.device) == std::string::npos) return false;
    // A schedule of a portfolio is the best of nothing: other formats have one kernel for an operator.
    if (config.range && arguments_.format != "bundle") return false;
    return operators_.empty() || std::any_of(operators_.begin(), operators_.end(), [&](const Operator& op) {
             return op.key() == config.op.key();
           });
  }

  // The measured configs that are asked for; exit code 3 when an operator has none.
  std::vector<Config> configs() const {
    std::vector<Config> found;
    std::set<std::string> keys;
    for (Config& config : ConfigStore(arguments_.configs).list()) {
      if (!wanted(config)) continue;
      keys.insert(config.op.key());
      found.push_back(std::move(config));
    }
    for (const Operator& op : operators_) {
      if (keys.contains(op.key())) continue;
      throw NoValidSchedule(arguments_.configs + ": no config for " + op.key() +
                            (arguments_.device.empty() ? "" : " on " + arguments_.device) +
                            "; `redtune tune` makes one; `redtune export --schedule S --target T` needs none");
    }
    if (found.empty()) throw NoValidSchedule(arguments_.configs + ": no config to export; `redtune tune` makes them");
    return found;
  }

  std::vector<std::string> target_names() const {
    std::vector<std::string> names;
    for (const std::string& word : split(arguments_.targets, ',')) {
      if (!trim(word).empty()) names.push_back(trim(word));
    }
    return names;
  }

  std::vector<ShippedKernel> kernels() const {
    std::vector<ShippedKernel> result;
    if (arguments_.schedule.empty()) {
      for (const Config& config : configs()) result.push_back(shipped_from(arguments_.configs, config));
      return result;
    }
    if (operators_.size() != 1) throw UserError("--schedule belongs to one operator");
    const std::vector<std::string> names = target_names();
    if (names.empty()) throw UserError("--schedule needs --target: the target that its kernel is made for");
    const Task task = make_task(operators_.front(), load_target(names.front()));
    result.push_back(shipped_from(task, legal_schedule(SearchSpace(task), arguments_.schedule)));
    return result;
  }

  // Architectures of --target, else that of the config.
  std::vector<int> architectures_of(const ShippedKernel& kernel) const {
    std::vector<std::string> names = target_names();
    if (names.empty()) names.push_back(kernel.config.target);
    std::vector<int> result;
    for (const std::string& name : names) {
      result.push_back(capability_of(name));
      if (result.back() == 0 && kernel.language == KernelLanguage::kCuda) {
        throw UserError("--target: " + name + " is no CUDA architecture, as sm_90");
      }
    }
    return result;
  }

  // A path below the output directory that no other file of this export has.
  std::string path_for(const std::string& name, const std::string& extension) {
    const int count = ++used_[name + extension];
    const std::string stem = count == 1 ? name : name + "-" + std::to_string(count);
    return (std::filesystem::path(arguments_.output) / (stem + extension)).string();
  }
  void write(const std::string& path, std::string_view content) {
    write_file_atomically(path, content);
    std::cout << path << "\n";
  }
  static std::string dumped(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

  // These formats know one input and one output.
  static void require_short_form(const Operator& op, std::string_view format) {
    if (!op.graph) return;
    throw UserError("--format " + std::string(format) + ": " + op.title() +
                    " is of fused statements, the format holds single reductions; use --format source or cubin");
  }

  void write_bundles() {
    const std::string& out = arguments_.output;
    for (ShippedKernel& kernel : kernels()) {
      require_short_form(kernel.config.op, "bundle");
      if (kernel.config.seconds <= 0) {
        throw UserError("--format bundle takes measured configs: " + kernel.config.schedule.text() +
                        " was not measured; --format source, cubin and header take it");
      }
      require_short_form(kernel.config.op, "header");
      if (kernel.language == KernelLanguage::kCuda) add_images(kernel, architectures_of(kernel));
      Config config = kernel.config;
      config.kernel = write_kernel_text(out, kernel.text, kernel.language, kernel.options);
      for (const ShippedImage& image : kernel.images) {
        write_kernel_image(out, *config.kernel, "sm_" + std::to_string(image.compute_capability), "cubin", image.bytes);
      }
      std::cout << ConfigStore(out).put(config, true) << "\n";
    }
  }

  void write_sources() {
    for (const ShippedKernel& kernel : kernels()) {
      std::string head;
      for (const std::string& line : description_of(kernel)) head += line.empty() ? "//\n" : "// " + line + "\n";
      const bool cuda = kernel.language == KernelLanguage::kCuda;
      if (cuda) head += "// To compile it alone: nvcc -std=c++17 -cubin -arch=" + kernel.config.target + " FILE\n";
      write(path_for(kernel.name(), cuda ? ".cu" : ".cl"), head + "\n" + kernel.text);
      write(path_for(kernel.name(), ".json"), dumped(description_json(kernel)));
    }
  }

  void write_cubins() {
    for (ShippedKernel& kernel : kernels()) {
      add_images(kernel, architectures_of(kernel));
      for (const ShippedImage& image : kernel.images) {
        write(path_for(kernel.name(), ".sm_" + std::to_string(image.compute_capability) + ".cubin"), image.bytes);
      }
      write(path_for(kernel.name(), ".json"), dumped(description_json(kernel)));
    }
  }

  void write_headers() {
    for (ShippedKernel& kernel : kernels()) {
      if (kernel.language == KernelLanguage::kCuda) add_images(kernel, architectures_of(kernel));
      write(path_for(kernel.name(), ".h"), c_header(kernel));
    }
  }

  // The config as it stands in a store, without times where nobody measured, with the numbers of the images.
  static Json description_json(const ShippedKernel& kernel) {
    Json json = to_json(kernel.config);
    json.erase("kernel");
    if (kernel.config.seconds <= 0) {
      for (const char* member : {"seconds", "low_seconds", "high_seconds", "default_seconds", "driver", "device",
                                 "log_hash", "time"}) {
        json.erase(member);
      }
    }
    if (kernel.language == KernelLanguage::kOpenCl) json["compiler_options"] = kernel.options;
    for (const ShippedImage& image : kernel.images) {
      Json kernels = Json::array();
      for (const KernelResources& r : image.kernels) {
        kernels.push_back({{"entry", r.entry},
                           {"registers", r.registers},
                           {"shared_bytes", r.shared_bytes},
                           {"stack_bytes", r.stack_bytes},
                           {"spilled_bytes", r.spill_store_bytes + r.spill_load_bytes}});
      }
      json["images"].push_back(
          {{"architecture", "sm_" + std::to_string(image.compute_capability)}, {"kernels", kernels}});
    }
    return json;
  }

  void write_wisdom() {
    std::vector<Config> measured = configs();
    std::erase_if(measured, [](const Config& config) { return config.predicted.has_value(); });
    if (measured.empty()) throw NoValidSchedule(arguments_.configs + ": wisdom is made of measured configs; these are predicted");
    for (const Config& config : measured) require_short_form(config.op, "wisdom");
    for (const WisdomFile& file : wisdom_files(measured)) {
      write((std::filesystem::path(arguments_.output) / (file.key + ".wisdom")).string(), file.text);
    }
  }

  // Every task of the logs that is asked for, with the operator behind it.
  template <typename Write>
  void for_each_task(const Write& write_task) {
    std::vector<std::string> paths = arguments_.logs;
    if (paths.empty() && operators_.empty()) throw UserError("name operators, or logs by --log");
    if (paths.empty()) {
      for (const Operator& op : operators_) paths.push_back("redtune-out/" + operator_slug(op) + ".jsonl");
    }
    bool any = false;
    for (const std::string& path : paths) {
      const LogContents log = read_log(path);
      for (const std::string& warning : log.warnings) std::cerr << "redtune: warning: " << warning << "\n";
      std::map<std::string, Operator> known;
      for (const Json& run : log.runs) {
        if (!run.contains("operator")) continue;
        const Operator op = parse_operator(run["operator"], path + ": operator");
        known.emplace(op.key(), op);
      }
      for (const TaskRecords& task : task_records(log)) {
        const std::string key = task.key.task.substr(0, task.key.task.rfind(" @ "));
        const bool asked = std::any_of(operators_.begin(), operators_.end(),
                                       [&](const Operator& op) { return op.key() == key; });
        if (!operators_.empty() && !asked) continue;
        if (task.key.device.find(arguments_.device) == std::string::npos) continue;
        const auto op = known.find(key);
        if (op == known.end()) {
          throw UserError(path + ": no run header tells the operator of " + task.key.task);
        }
        write_task(task, op->second);
        any = true;
      }
    }
    if (!any) throw NoValidSchedule(join(paths, ", ") + ": no trial of what is asked for; `redtune tune` makes them");
  }

  void write_cachefiles() {
    for_each_task([&](const TaskRecords& task, const Operator& op) {
      require_short_form(op, "cachefile");
      write(path_for(operator_slug(op), ".cache.json"), cachefile_text(task, operator_slug(op), op.input().shape));
    });
  }
  void write_t4() {
    for_each_task([&](const TaskRecords& task, const Operator& op) {
      write(path_for(operator_slug(op), ".t4.json"), dumped(t4_document(task)));
    });
  }

  const ExportArguments& arguments_;
  std::vector<Operator> operators_;
  std::map<std::string, int> used_;
};

}  // namespace

VerbAction declare_export(CLI::App& app) {
  const auto arguments = std::make_shared<ExportArguments>();
  ExportArguments& a = *arguments;
  a.operators.declare(app, true);
  std::string help = "what to write:";
  for (const ExportVerb::Format& format : ExportVerb::formats()) {
    help += (help.back() == ':' ? " " : "; ") + std::string(format.name) + " (" + std::string(format.summary) + ")";
  }
  app.add_option("--format", a.format, help)->required();
  app.add_option("-o,--output", a.output, "directory to write to (default redtune-out/export)")->option_text("DIR");
  app.add_option("--configs,--config", a.configs, "config store to take from (default redtune-out/configs)")
      ->option_text("DIR");
  app.add_option("--device", a.device, "only what was measured on devices whose name holds this text");
  app.add_option("--target", a.targets, "architectures of cubins, as sm_80,sm_90 (default: that of the config)")
      ->option_text("NAMES");
  app.add_option("--schedule", a.schedule, "this schedule for the first --target instead of a config");
  app.add_option("--log", a.logs, "cachefile, t4: logs to take from (default redtune-out/OPERATOR.jsonl)")
      ->option_text("FILE");
  return [arguments] { return ExportVerb(*arguments).run(); };
}

}  // namespace redtune
