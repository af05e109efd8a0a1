#include "codegen/nvrtc_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "codegen/codegen.h"
#include "support/stats.h"
#include "support/text.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// "kernel.cu(812): error: identifier ..." without its place, so that one mistake counts as one kind.
std::string failure_kind(const NvrtcResult& result) {
  if (result.timed_out) return "compile time limit";
  const std::size_t place = result.error.find("): ");
  return place != std::string::npos ? result.error.substr(place + 3) : result.error;
}

/// Threads take the next index from a counter: compilations differ in length by a factor of ten, so that
/// dealing them out beforehand would leave threads idle.
class Batch {
 public:
  Batch(Nvrtc& nvrtc, std::size_t count, const ProgramGenerator& generator, const BatchOptions& options,
        const std::function<void(const BatchItem&)>& done)
      : nvrtc_(nvrtc), count_(count), generator_(generator), options_(options), done_(done) {}

  BatchSummary run() {
    const Clock::time_point start = Clock::now();
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    const std::size_t wanted = options_.threads > 0 ? static_cast<std::size_t>(options_.threads) : cores;
    const std::size_t threads = std::clamp<std::size_t>(wanted, 1, std::max<std::size_t>(count_, 1));
    {
      std::vector<std::jthread> pool;
      for (std::size_t i = 1; i < threads; ++i) pool.emplace_back([this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    summary_.threads = static_cast<int>(threads);
    summary_.wall_seconds = seconds_since(start);
    return std::move(summary_);
  }

 private:
  void work() {
    try {
      for (std::size_t index = next_++; index < count_; index = next_++) {
        if (options_.stop && options_.stop()) return;
        one(index);
      }
    } catch (...) {
      next_ = count_;
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  void one(std::size_t index) {
    const Clock::time_point start = Clock::now();
    const std::optional<Program> program = generator_(index);
    if (!program) {
      const std::lock_guard lock(mutex_);
      ++summary_.skipped;
      summary_.generate_seconds += seconds_since(start);
      return;
    }
    const std::string text = full_text(*program, TargetKind::kCuda);
    const double generate_seconds = seconds_since(start);
    const Clock::time_point compile_start = Clock::now();
    const NvrtcResult result = options_.cache != nullptr
                                   ? options_.cache->compile(nvrtc_, text, options_.compile)
                                   : nvrtc_.compile(text, options_.compile);
    const double compile_seconds = seconds_since(compile_start);
    const std::lock_guard lock(mutex_);
    summary_.generate_seconds += generate_seconds;
    summary_.compile_seconds += compile_seconds;
    count_result(result);
    if (done_) done_({index, &*program, &result, generate_seconds});
  }

  void count_result(const NvrtcResult& result) {
    if (!result.from_cache) summary_.seconds.push_back(result.seconds);
    if (!result.ok) {
      ++summary_.failed;
      summary_.timed_out += result.timed_out ? 1 : 0;
      ++summary_.failures[failure_kind(result)];
      return;
    }
    ++summary_.compiled;
    summary_.from_cache += result.from_cache ? 1 : 0;
    int registers = 0;
    bool spills = false;
    for (const KernelResources& kernel : result.kernels) {
      registers = std::max(registers, kernel.registers);
      spills = spills || kernel.spill_store_bytes > 0 || kernel.spill_load_bytes > 0;
    }
    if (registers > 0) summary_.registers.push_back(registers);
    summary_.spilling += spills ? 1 : 0;
  }

  Nvrtc& nvrtc_;
  const std::size_t count_;
  const ProgramGenerator& generator_;
  const BatchOptions& options_;
  const std::function<void(const BatchItem&)>& done_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // guards what follows, and calls to done_
  BatchSummary summary_;
  std::exception_ptr failure_;
};

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : std::string("-");
}

void add_times(const BatchSummary& summary, TextTable& table) {
  const double work = summary.generate_seconds + summary.compile_seconds;
  table.row({"wall time", format_seconds(summary.wall_seconds), fmt::format("{} threads", summary.threads)});
  table.row({"rate", fmt::format("{:.1f}", summary.programs_per_second()), "programs per second"});
  table.row(
      {"in the generator", format_seconds(summary.generate_seconds), share(summary.generate_seconds, work)});
  table.row(
      {"in the compiler", format_seconds(summary.compile_seconds), share(summary.compile_seconds, work)});
  if (summary.seconds.empty()) return;
  table.row({"one compilation", format_seconds(median(summary.seconds)),
             fmt::format("median; 90 % within {}, longest {}", format_seconds(quantile(summary.seconds, 0.9)),
                         format_seconds(std::ranges::max(summary.seconds)))});
}

}  // namespace

BatchSummary compile_batch(std::size_t count, const ProgramGenerator& generator, const BatchOptions& options,
                           const std::function<void(const BatchItem&)>& done) {
  return compile_batch(Nvrtc::instance(), count, generator, options, done);
}

BatchSummary compile_batch(Nvrtc& nvrtc, std::size_t count, const ProgramGenerator& generator,
                           const BatchOptions& options, const std::function<void(const BatchItem&)>& done) {
  nvrtc.require_architecture(options.compile.compute_capability);
  return Batch(nvrtc, count, generator, options, done).run();
}

std::string format_summary(const BatchSummary& summary) {
  TextTable table;
  table.row({"programs", format_count(static_cast<std::int64_t>(summary.finished())), ""});
  const auto count = [&](const char* label, std::size_t n, const std::string& note) {
    table.row({label, format_count(static_cast<std::int64_t>(n)), note});
  };
  count("compiled", summary.compiled,
        summary.from_cache > 0 ? fmt::format("{} from the cache", summary.from_cache) : "");
  count("failed", summary.failed, "");
  if (summary.skipped > 0) count("not generated", summary.skipped, "");
  if (!summary.registers.empty()) {
    std::vector<double> registers(summary.registers.begin(), summary.registers.end());
    table.row({"registers", fmt::format("{:.0f}", median(registers)),
               fmt::format("median; least {}, most {}", std::ranges::min(summary.registers),
                           std::ranges::max(summary.registers))});
    count("spilling", summary.spilling,
          share(static_cast<double>(summary.spilling), static_cast<double>(summary.compiled)));
  }
  add_times(summary, table);
  std::string text = table.str();
  for (const auto& [kind, n] : summary.failures) text += fmt::format("failed: {} x {}\n", n, kind);
  return text;
}

}  // namespace redtune
