#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "codegen/codegen.h"
#include "codegen/nvrtc.h"
#include "space/heuristic.h"
#include "space/mappings.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/terminal.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct ShowArguments {
  OperatorArguments operators;
  std::string target, device, mapping, schedule;
  bool prelude = false, kernel_only = false;
};

void section(const std::string& title, const std::string& text) {
  std::cout << "\n" << bold("== " + title) << "\n" << trim(text) << "\n";
}

std::string launches_text(const Program& program) {
  std::string text;
  for (const BufferSpec& buffer : program.buffers) {
    text += fmt::format("buffer {}: {} {} = {}\n", buffer.name, format_count(buffer.elements),
                        name(buffer.dtype), format_bytes(buffer.bytes()));
  }
  for (const KernelLaunch& launch : program.launches) {
    std::vector<std::string> arguments;
    for (int index : launch.arguments)
      arguments.push_back(program.buffers[static_cast<std::size_t>(index)].name);
    text += fmt::format("launch {}: grid {}x{}x{}, block {}x{}x{}, {} shared bytes, arguments {}\n",
                        launch.entry, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                        launch.block[1], launch.block[2], launch.shared_bytes, join(arguments, ", "));
  }
  return text;
}

std::string nvrtc_text(const Program& program, const Target& target) {
  try {
    Nvrtc& nvrtc = Nvrtc::instance();
    NvrtcOptions options;
    options.compute_capability = target.compute_capability;
    const NvrtcResult result = nvrtc.compile(full_text(program, target.kind), options);
    std::string text = "NVRTC " + nvrtc.version() + ", " + format_seconds(result.seconds) + "\n";
    if (!result.ok) return text + "does not compile: " + result.error + "\n" + result.log;
    for (const KernelResources& kernel : result.kernels) {
      text += fmt::format("{}: {} registers, {} shared bytes, {} bytes of stack, {} bytes spilled\n",
                          kernel.entry, kernel.registers, kernel.shared_bytes, kernel.stack_bytes,
                          kernel.spill_store_bytes + kernel.spill_load_bytes);
    }
    return text + trim(result.log);
  } catch (const NoDevice& error) {
    return std::string("not compiled: ") + error.what();
  }
}

ExitCode run_show(const ShowArguments& arguments) {
  if (!arguments.target.empty() && !arguments.device.empty())
    throw UserError("give --target or --device, not both");
  const Target target =
      arguments.device.empty() ? target_of(arguments.target) : pick_device(arguments.device).target;
  const Task task = make_task(arguments.operators.read_one(), target);
  const SearchSpace space(task, filter_of(arguments.mapping));
  const Schedule schedule =
      arguments.schedule.empty() ? default_in(space) : legal_schedule(space, arguments.schedule);
  const Program program = generate(task, schedule);
  const std::string text = arguments.prelude ? full_text(program, target.kind) : program.text;
  if (arguments.kernel_only) {
    std::cout << text;
    return ExitCode::kDone;
  }
  std::cout << "operator  " << task.op.title() << "  (" << task.op.key() << ")\n"
            << "canonical " << task.canonical.text() << "\n"
            << "target    " << target.name << "\n"
            << "schedule  " << schedule.text() << "\n"
            << "mapping   " << schedule.mapping() << " (" << name(schedule.mapping_class()) << ", "
            << name(determinism_of(task, schedule)) << ")\n";
  const Explanation explanation = explain(task, schedule);
  section("isl domain", explanation.domain);
  section("isl dependences", explanation.dependences);
  section("isl schedule tree", explanation.schedule_tree);
  section("plan", explanation.plan);
  section("launches", launches_text(program));
  section("kernel text", text);
  if (target.kind == TargetKind::kCuda) section("compiled for " + target.name, nvrtc_text(program, target));
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_show(CLI::App& app) {
  const auto arguments = std::make_shared<ShowArguments>();
  ShowArguments& a = *arguments;
  a.operators.declare(app, false);
  app.add_option("--schedule", a.schedule, "schedule to show (default: the task's default)");
  app.add_option("--mapping", a.mapping, "the schedule of this mapping that is nearest to the default");
  app.add_option("--target", a.target, "target, as `redtune targets` names it (default: the best device's)");
  app.add_option("--device", a.device, "target of this device");
  app.add_flag("--kernel", a.kernel_only, "print the kernel text only");
  app.add_flag("--prelude", a.prelude, "print the kernel text with its prelude");
  return [arguments] { return run_show(*arguments); };
}

}  // namespace redtune
