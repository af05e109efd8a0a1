#include "tuner/export/shipped_kernel.h"

#include <fmt/format.h>

#include <charconv>

#include "codegen/codegen.h"
#include "codegen/nvrtc.h"
#include "space/heuristic.h"
#include "space/mappings.h"
#include "space/operator_key.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/text.h"
#include "support/version.h"

namespace redtune {
namespace {

std::string sizes_text(const auto& sizes) { return fmt::format("{}x{}x{}", sizes[0], sizes[1], sizes[2]); }

std::string evidence_of(const Config& config) {
  if (config.seconds <= 0) return "not measured";
  return fmt::format("measured {} (95 %: {} to {}) on {}, {}", format_seconds(config.seconds),
                     format_seconds(config.low_seconds), format_seconds(config.high_seconds), config.device,
                     config.time);
}

}  // namespace

std::string ShippedKernel::name() const { return operator_slug(config.op); }

ShippedKernel shipped_from(const std::string& store, const Config& config) {
  if (!config.kernel) {
    throw UserError(store + ": the config of " + config.op.key() + " on " + config.device +
                    " has no kernel: an older redtune wrote it; run `redtune tune` again");
  }
  ShippedKernel kernel;
  kernel.config = config;
  kernel.text = read_kernel_text(store, *config.kernel);
  kernel.language = config.kernel->language;
  kernel.options = config.kernel->options;
  return kernel;
}

ShippedKernel shipped_from(const Task& task, const Schedule& schedule) {
  const Program program = generate(task, schedule);
  ShippedKernel kernel;
  kernel.text = full_text(program, task.target.kind);
  kernel.language = task.target.kind == TargetKind::kCuda ? KernelLanguage::kCuda : KernelLanguage::kOpenCl;
  kernel.options = build_options(task.target);
  Config& config = kernel.config;
  config.op = task.op;
  config.op.data.reset();
  config.op.values.clear();
  config.target = config.device = task.target.name;
  config.determinism = determinism_of(task, schedule);
  config.schedule = schedule;
  config.default_schedule = default_schedule(task);
  config.launches = program.launches;
  config.buffers = program.buffers;
  config.program_hash = hex64(hash64(kernel.text));
  config.version = kVersion;
  return kernel;
}

int capability_of(const std::string& target) {
  int value = 0;
  if (!target.starts_with("sm_")) return 0;
  const auto [end, error] = std::from_chars(target.data() + 3, target.data() + target.size(), value);
  return error == std::errc() && end == target.data() + target.size() ? value : 0;
}

void add_images(ShippedKernel& kernel, const std::vector<int>& compute_capabilities) {
  if (kernel.language != KernelLanguage::kCuda) {
    throw UserError("the kernel of " + kernel.config.op.key() + " is OpenCL text of " + kernel.config.device +
                    ": there are no cubins of it; export a CUDA config, or give --schedule with --target sm_90");
  }
  Nvrtc& nvrtc = Nvrtc::instance();
  for (const int capability : compute_capabilities) nvrtc.require_architecture(capability);
  for (const int capability : compute_capabilities) {
    NvrtcOptions options;
    options.compute_capability = capability;
    const NvrtcResult result = nvrtc.compile(kernel.text, options);
    if (!result.ok) {
      throw UserError(fmt::format("{} does not compile for sm_{}: {}", kernel.config.op.key(), capability, result.error));
    }
    kernel.images.push_back({capability, {result.image.begin(), result.image.end()}, result.kernels});
  }
}

std::vector<std::string> description_of(const ShippedKernel& kernel) {
  const Config& config = kernel.config;
  std::vector<std::string> lines{
      config.op.title() + "  (" + config.op.key() + ")",
      "schedule " + config.schedule.text(),
      "target " + config.target + ", " + std::string(name(config.determinism)) + ", " + evidence_of(config),
      "made by redtune " + config.version,
      "",
      "To compute it once, launch in order on one stream or queue:"};
  for (const KernelLaunch& launch : config.launches) {
    std::vector<std::string> names;
    for (int index : launch.arguments) names.push_back(config.buffers[static_cast<std::size_t>(index)].name);
    lines.push_back(fmt::format("  {}({}): grid {}, block {}, {} bytes of dynamic shared memory", launch.entry,
                                join(names, ", "), sizes_text(launch.grid), sizes_text(launch.block),
                                launch.dynamic_shared_bytes));
  }
  if (config.launches.empty()) lines.push_back("  nothing: the result is empty");
  lines.push_back("Buffers:");
  for (const BufferSpec& buffer : config.buffers) {
    const char* kind = buffer.kind == BufferKind::kInput     ? "input"
                       : buffer.kind == BufferKind::kOutput  ? "output"
                       : buffer.kind == BufferKind::kScratch ? "scratch, any content"
                                                             : "counters, zeroed once when allocated";
    lines.push_back(fmt::format("  {}: {} {} ({} bytes), {}", buffer.name, buffer.elements, redtune::name(buffer.dtype),
                                buffer.bytes(), kind));
  }
  if (kernel.language == KernelLanguage::kOpenCl) lines.push_back("Compiler options: " + kernel.options);
  return lines;
}

}  // namespace redtune
