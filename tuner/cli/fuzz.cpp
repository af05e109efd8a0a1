#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "support/error.h"
#include "support/text.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/verbs.h"
#include "tuner/cli/verify_options.h"
#include "tuner/fuzzing.h"

namespace redtune {
namespace {

struct FuzzArguments {
  VerifyArguments how;
  std::string seconds, log;
  std::uint64_t cases = 0;
  std::size_t per_mapping = 1;
  bool json = false;
};

/// The steps of a seed, some threads at once: each waits for a worker of its own.
class Fuzz {
 public:
  explicit Fuzz(const FuzzArguments& arguments)
      : arguments_(arguments),
        device_(arguments.how.pick()),
        limit_(arguments.seconds.empty() ? 0 : parse_duration(arguments.seconds, "--seconds")) {
    if (!arguments_.log.empty()) read_log();
  }

  ExitCode run() {
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < arguments_.how.jobs(); ++i) threads.emplace_back([this] { work(); });
    }
    if (failure_) std::rethrow_exception(failure_);
    report();
    return tally_.verdicts().failures().empty() ? ExitCode::kDone : ExitCode::kInternal;
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  bool over() {
    if (stop_ || (limit_ > 0 && seconds() > limit_)) return true;
    const std::lock_guard lock(mutex_);
    return failure_ || (arguments_.cases > 0 && static_cast<std::uint64_t>(tally_.cases() + running_) >= arguments_.cases);
  }

  void read_log() {
    std::ifstream file(arguments_.log);
    std::int64_t number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (line.empty()) continue;
      if (!line.ends_with('}')) {
        std::cerr << "redtune: " << arguments_.log << ": line " << number << " is cut off\n";
        continue;
      }
      const std::string origin = arguments_.log + ": line " + std::to_string(number);
      Json json = parse_json(line, origin);
      JsonObject(json, origin).get_int("seed");
      if (json["seed"] != arguments_.how.seed()) {
        throw UserError(origin + ": made with --seed " + json["seed"].dump() + "; give that, or another file");
      }
      json.erase("seed");
      const FuzzResult result(json, origin);
      if (done_.insert(result.number).second) tally_.add(result);
    }
    cases_before_ = tally_.cases();
    file.clear();
    if (number > 0 && file.seekg(-1, std::ios::end) && file.get() != '\n') torn_ = true;
  }

  void work() {
    try {
      Verifier quick(device_, options(false)), optimizing(device_, options(arguments_.how.optimize()));
      while (!over()) {
        const FuzzStep step = fuzz_step(arguments_.how.seed(), next(), device_.target, arguments_.per_mapping);
        check(step, step.optimized ? optimizing : quick);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }

  VerifyOptions options(bool optimize) const {
    VerifyOptions options = arguments_.how.options();
    options.jobs = 1;
    options.optimize = optimize;
    options.keep_kernels = false;
    options.programs_per_build = 32;
    return options;
  }

  std::int64_t next() {
    const std::lock_guard lock(mutex_);
    while (done_.contains(next_)) ++next_;
    return next_++;
  }

  void check(const FuzzStep& step, Verifier& verifier) {
    FuzzResult result(step, arguments_.how.seed());
    if (step.schedules.empty()) {
      const std::lock_guard lock(mutex_);
      std::cerr << "redtune: no legal schedule for " << step.task.op.key() << "\n";
    }
    const auto cases = static_cast<std::int64_t>(step.schedules.size());
    reserve(cases);
    verifier.verify(
        step.task, step.schedules,
        [&](const ScheduleVerdict& verdict) {
          result.tally.add(step.task, step.schedules[verdict.index], verdict);
        },
        [this] { return stop_ || (limit_ > 0 && seconds() > limit_); });
    reserve(-cases);
    const std::lock_guard lock(mutex_);
    for (const VerifyFailure& failure : result.tally.failures()) {
      std::cerr << "wrong: " << failure.kind << " on " << failure.pattern << ": " << failure.detail << "\n  "
                << failure.command << "\n";
    }
    tally_.add(result);
    if (!arguments_.log.empty() && result.tally.total().schedules == cases) keep(result);
  }

  void reserve(std::int64_t cases) {
    const std::lock_guard lock(mutex_);
    running_ += cases;
  }

  void keep(const FuzzResult& result) {
    Json line = result.json();
    line["seed"] = arguments_.how.seed();
    std::ofstream file(arguments_.log, std::ios::app);
    file << (std::exchange(torn_, false) ? "\n" : "") << line.dump() << "\n";
    file.close();
    if (!file) throw UserError("cannot write " + arguments_.log);
  }

  void report() const {
    if (arguments_.json) {
      Json json = tally_.json();
      json["seed"] = arguments_.how.seed();
      json["seconds"] = seconds();
      std::cout << json.dump(2) << "\n";
      return;
    }
    std::cout << "seed      " << arguments_.how.seed() << "\n"
              << "device    " << arguments_.how.device_text(device_) << "\n"
              << "cases     " << format_count(tally_.cases()) << " (operator, schedule) of "
              << format_count(tally_.operators()) << " operators; " << format_count(tally_.cases() - cases_before_)
              << " of them in " << format_seconds(seconds()) << "\n"
              << tally_.text() << tally_.verdicts().failure_text(10);
  }

  const FuzzArguments& arguments_;
  const DeviceInfo device_;
  const double limit_;
  const std::atomic<bool>& stop_ = stop_on_signals();
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mutex mutex_;  // of all below
  FuzzTally tally_;
  std::set<std::int64_t> done_;  // found in the log
  bool torn_ = false;            // its last line has no end
  std::int64_t next_ = 0, running_ = 0, cases_before_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

VerbAction declare_fuzz(CLI::App& app) {
  const auto arguments = std::make_shared<FuzzArguments>();
  FuzzArguments& a = *arguments;
  app.add_option("--seconds", a.seconds, "stop after this time, as 90 or 5m (default: 60, without --cases)");
  app.add_option("--cases", a.cases, "stop after N cases: an operator with a schedule")->option_text("N");
  app.add_option("--per-mapping", a.per_mapping, "schedules of each mapping and operator (default 1)")
      ->option_text("N");
  app.add_option("--log", a.log, "a line for each operator; a run that finds lines goes on behind them")
      ->option_text("FILE");
  a.how.declare(app);
  app.add_flag("--json", a.json, "one JSON document");
  return [arguments] {
    if (arguments->seconds.empty() && arguments->cases == 0) arguments->seconds = "60";
    return Fuzz(*arguments).run();
  };
}

}  // namespace redtune
