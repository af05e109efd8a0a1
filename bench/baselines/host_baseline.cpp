#include "bench/baselines/host_baseline.h"

#include <sys/resource.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "bench/baselines/openmp_loops.h"
#include "support/cpu_facts.h"
#include "measure/reference.h"
#include "support/error.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr HostBaselineEntry kHostBaselines[] = {
    {"openmp", openmp_version, make_openmp_baseline},
#ifdef REDTUNE_HAVE_ONEDNN
    {"onednn", onednn_version, make_onednn_baseline},
#endif
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Times that a thread of this process lost its core to another program.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

/// Until the threads stand ready, each on its own core: then a parallel region takes microseconds. Woken
/// threads may share a core at first, which costs a loop many times its own duration.
void settle_team(int threads) {
  constexpr double kReady = 20e-6, kLongest = 0.1;
  const Clock::time_point begin = Clock::now();
  for (int ready = 0; ready < 3 && seconds_since(begin) < kLongest;) {
    const Clock::time_point start = Clock::now();
    openmp_wake(threads);
    ready = seconds_since(start) < kReady ? ready + 1 : 0;
  }
}

}  // namespace

std::span<const HostBaselineEntry> host_baselines() { return kHostBaselines; }

const HostBaselineEntry& find_host_baseline(std::string_view name) {
  std::vector<std::string> known;
  for (const HostBaselineEntry& entry : kHostBaselines) {
    if (entry.name == name) return entry;
    known.emplace_back(entry.name);
  }
  if (name == "onednn") {
    throw UserError(
        "baseline onednn: left out of this build; install libdnnl-dev, configure and build again");
  }
  throw UserError(unknown_word_message("baseline", name, known));
}

HostContestant::HostContestant(const HostBaselineEntry& entry, const Task& task, std::uint64_t seed,
                               bool cold, int threads)
    : threads_(threads) {
  if (task.op.graph) throw UserError("it computes single reductions, not fused statements");
  const Tensor& tensor = task.op.input();
  if (!tensor.is_row_major() || tensor.offset != 0) throw UserError("it takes dense row-major input only");
  baseline_ = entry.make(task, threads);
  out_.resize(static_cast<std::size_t>(task.op.output().elements() * bytes_of(task.output_dtype())));
  const std::vector<unsigned char> input = make_input(task.op, seed);
  layout_ = arena_layout(static_cast<std::int64_t>(input.size()), largest_cache_bytes(), cold,
                         available_memory_bytes() / 2);
  arena_ = make_arena(layout_, input);
  baseline_->compute(arena_.data(), out_.data());
  const Reference reference = compute_reference(task.op, input, task.canonical.reduced_size());
  const Verdict verdict = check_output(task.op, reference, out_);
  if (!verdict.pass) throw UserError("wrong result: " + verdict.detail);
}

double HostContestant::sample() {
  const unsigned char* const in = arena_.data() + layout_.offset(turn_++ % layout_.copies);
  settle_team(threads_);
  const long before = preemptions();
  const Clock::time_point start = Clock::now();
  baseline_->compute(in, out_.data());
  const double seconds = seconds_since(start);
  preempted_ = preemptions() > before;
  return seconds;
}

void wait_for_sleeping_team() {
  constexpr double kStep = 5e-3, kIdle = 0.05, kLongest = 0.5;
  const Clock::time_point begin = Clock::now();
  double used = 1;
  while (used > kIdle * kStep && seconds_since(begin) < kLongest) {
    const std::clock_t before = std::clock();
    std::this_thread::sleep_for(std::chrono::duration<double>(kStep));
    used = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC;
  }
}

}  // namespace redtune
