#include "tuner/predicting.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "codegen/codegen.h"
#include "codegen/nvrtc_batch.h"
#include "logs/log.h"
#include "space/heuristic.h"
#include "space/mappings.h"
#include "support/error.h"
#include "support/hash.h"
#include "support/version.h"
#include "tuner/discrete_space.h"

namespace redtune {
namespace {

// What the compiled kernels of a candidate need, and whether the target has it.
void judge(const Target& target, const NvrtcResult& compiled, Candidacy& candidate) {
  if (!compiled.ok) {
    candidate.dropped = "does not compile: " + compiled.error;
    return;
  }
  for (const KernelLaunch& launch : candidate.program.launches) {
    const KernelResources* needs = compiled.find(launch.entry);
    if (needs == nullptr) continue;
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    const std::int64_t shared = needs->shared_bytes + launch.dynamic_shared_bytes;
    candidate.registers = std::max(candidate.registers, needs->registers);
    candidate.shared_bytes = std::max(candidate.shared_bytes, shared);
    if (!candidate.dropped.empty()) continue;
    const std::int64_t spilled = needs->spill_store_bytes + needs->spill_load_bytes;
    const std::int64_t limit = launch.dynamic_shared_bytes > 0 ? target.shared_bytes_per_block_optin
                                                               : target.shared_bytes_per_block;
    if (spilled > 0) {
      candidate.dropped = fmt::format("{} spills {} bytes of registers", launch.entry, spilled);
    } else if (threads * needs->registers > target.registers_per_unit) {
      candidate.dropped = fmt::format("{} needs {} registers for {} threads, a block has {}", launch.entry,
                                      threads * needs->registers, threads, target.registers_per_unit);
    } else if (shared > limit) {
      candidate.dropped = fmt::format("{} needs {} bytes of shared memory, a block has {}", launch.entry, shared, limit);
    }
  }
}

std::size_t default_rank_of(const SearchSpace& space, const std::vector<std::size_t>& order, bool& in_space) {
  const auto place = space.find(default_schedule(space.task()));
  in_space = place.has_value();
  if (!place) return 0;
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), *place) - order.begin());
}

}  // namespace

std::string predicted_store(const std::string& store) { return store + "/predicted"; }

PredictResult predict(const Operator& op, const Target& target, const PredictOptions& options, KernelCache& cache) {
  if (target.kind != TargetKind::kCuda) {
    throw UserError("--target: " + target.name + " is not a CUDA target; on a device that is here `redtune tune` measures");
  }
  PredictResult result;
  result.task = make_task(op, target);
  const SearchSpace space(result.task, options.filter);
  result.space_size = space.size();
  space.need_schedules();
  const DiscreteSpace points = discrete_space(space, options.model_path);
  std::vector<std::size_t> order(space.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return points.guess()[a] < points.guess()[b]; });
  result.default_rank = default_rank_of(space, order, result.default_in_space);
  const std::size_t count = std::min(std::max<std::size_t>(options.top, 1), order.size());
  for (std::size_t rank = 0; rank < count; ++rank) {
    Candidacy candidate;
    candidate.rank = rank;
    candidate.schedule = space.at(order[rank]);
    candidate.guess = points.guess()[order[rank]];
    result.candidates.push_back(std::move(candidate));
  }
  BatchOptions batch;
  batch.compile.compute_capability = target.compute_capability;
  batch.cache = &cache;
  const auto generator = [&](std::size_t i) -> std::optional<Program> {
    return generate(result.task, result.candidates[i].schedule);
  };
  compile_batch(count, generator, batch, [&](const BatchItem& item) {
    Candidacy& candidate = result.candidates[item.index];
    candidate.program = *item.program;
    candidate.image = item.result->image;
    judge(target, *item.result, candidate);
  });
  const auto chosen = std::find_if(result.candidates.begin(), result.candidates.end(),
                                   [](const Candidacy& c) { return c.dropped.empty(); });
  if (chosen == result.candidates.end()) {
    throw NoValidSchedule(fmt::format("none of the {} best guesses for {} fits {}, as \"{}\": {}; --top compiles more", count,
                                      op.title(), target.name, result.candidates.front().schedule.text(),
                                      result.candidates.front().dropped));
  }
  result.chosen = static_cast<std::size_t>(chosen - result.candidates.begin());
  return result;
}

std::string keep_prediction(const PredictResult& result, const PredictOptions& options, const std::string& store) {
  const Candidacy& best = result.candidates[result.chosen];
  const Task& task = result.task;
  const std::string directory = predicted_store(store);
  Config config;
  config.op = task.op;
  config.op.data.reset();
  config.op.values.clear();
  config.device = config.target = task.target.name;
  config.determinism = determinism_of(task, best.schedule);
  config.schedule = best.schedule;
  config.default_schedule = default_schedule(task);
  config.launches = best.program.launches;
  config.buffers = best.program.buffers;
  const std::string text = full_text(best.program, task.target.kind);
  config.program_hash = hex64(hash64(text));
  config.time = utc_now();
  config.version = kVersion;
  Prediction prediction;
  prediction.model = options.model_path.empty() ? "analytic" : options.model_path;
  prediction.space_size = result.space_size;
  prediction.compiled = result.candidates.size();
  prediction.dropped = static_cast<std::size_t>(
      std::count_if(result.candidates.begin(), result.candidates.end(), [](const Candidacy& c) { return !c.dropped.empty(); }));
  prediction.registers = best.registers;
  config.predicted = prediction;
  config.kernel = write_kernel_text(directory, text, KernelLanguage::kCuda, build_options(task.target));
  write_kernel_image(directory, *config.kernel, task.target.name, "cubin", {best.image.data(), best.image.size()});
  return ConfigStore(directory).put(config);
}

}  // namespace redtune
