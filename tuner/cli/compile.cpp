#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <numeric>

#include "codegen/codegen.h"
#include "codegen/kernel_cache.h"
#include "codegen/nvrtc_batch.h"
#include "support/files.h"
#include "support/rng.h"
#include "support/text.h"
#include "tuner/cli/arguments.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/verbs.h"

namespace redtune {
namespace {

struct CompileArguments {
  OperatorArguments operators;
  std::string targets, mapping;
  std::size_t sample = 64;
  std::uint64_t seed = 1;
  int jobs = 0;
  bool all = false, no_cache = false;
};

std::vector<std::size_t> chosen(const SearchSpace& space, const CompileArguments& arguments) {
  std::vector<std::size_t> indices(space.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  if (arguments.all || arguments.sample >= indices.size()) return indices;
  Rng rng(arguments.seed);
  for (std::size_t i = 0; i < arguments.sample; ++i) {
    std::swap(indices[i], indices[i + rng.below(indices.size() - i)]);
  }
  indices.resize(arguments.sample);
  return indices;
}

// Compiles for one target; tells whether everything compiled.
bool compile_for(const Operator& op, const Target& target, const CompileArguments& arguments,
                 KernelCache& cache) {
  if (target.kind != TargetKind::kCuda) {
    throw UserError("--target: " + target.name + " is not a CUDA target; `redtune targets` lists them");
  }
  const Task task = make_task(op, target);
  const SearchSpace space(task, filter_of(arguments.mapping));
  space.need_schedules();
  const std::vector<std::size_t> indices = chosen(space, arguments);
  std::cout << op.title() << " for " << target.name << ": " << indices.size() << " of "
            << format_count(static_cast<std::int64_t>(space.size())) << " schedules\n";
  const std::atomic<bool>& stop = stop_on_signals();
  BatchOptions options;
  options.compile.compute_capability = target.compute_capability;
  options.threads = arguments.jobs;
  options.cache = &cache;
  options.stop = [&] { return stop.load(); };
  const auto generator = [&](std::size_t i) -> std::optional<Program> {
    return generate(task, space.at(indices[i]));
  };
  const BatchSummary summary = compile_batch(indices.size(), generator, options, [&](const BatchItem& item) {
    if (item.result->ok) return;
    std::cerr << "redtune: " << target.name << ": \"" << space.at(indices[item.index]).text()
              << "\": " << item.result->error << "\n";
  });
  if (stop) std::cout << "interrupted: " << summary.compiled + summary.failed << " of " << indices.size() << " schedules\n";
  std::cout << format_summary(summary) << "\n";
  return summary.failed == 0;
}

ExitCode run_compile(const CompileArguments& arguments) {
  if (arguments.sample == 0) throw UserError("--sample 0 checks nothing; give 1 or more, or --all");
  const std::vector<Operator> operators = arguments.operators.read();
  std::vector<Target> targets;
  for (const std::string& name : split(arguments.targets, ',')) targets.push_back(load_target(trim(name)));
  const std::string root = arguments.no_cache ? "" : user_cache_directory();
  KernelCache cache(root.empty() ? "" : root + "/kernels");
  bool good = true;
  for (const Operator& op : operators) {
    for (const Target& target : targets) {
      good = compile_for(op, target, arguments, cache) && good;
      if (stop_on_signals()) return good ? ExitCode::kStoppedEarly : ExitCode::kInternal;
    }
  }
  // A legal schedule whose kernel does not compile is a bug of redtune.
  return good ? ExitCode::kDone : ExitCode::kInternal;
}

}  // namespace

VerbAction declare_compile(CLI::App& app) {
  const auto arguments = std::make_shared<CompileArguments>();
  CompileArguments& a = *arguments;
  a.operators.declare(app, true);
  app.add_option("--target", a.targets, "CUDA targets, as sm_80,sm_90")->required()->option_text("NAMES");
  CLI::Option* sample =
      app.add_option("--sample", a.sample, "compile N schedules drawn from the space (default 64)")
          ->option_text("N");
  app.add_flag("--all", a.all, "compile every schedule of the space")->excludes(sample);
  app.add_option("--mapping", a.mapping, "only these: tree, atomic, hybrid, a combine, or block+grid");
  app.add_option("--seed", a.seed, "seed of the sample (default 1)");
  app.add_option("--jobs", a.jobs, "compilations at once (default: one per core)")
      ->check(CLI::Range(1, 1024));
  app.add_flag("--no-cache", a.no_cache, "compile even what the kernel cache holds");
  return [arguments] { return run_compile(*arguments); };
}

}  // namespace redtune
