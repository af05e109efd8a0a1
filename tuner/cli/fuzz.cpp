#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>

#include "support/text.h"
#include "tuner/cli/signals.h"
#include "tuner/cli/verbs.h"
#include "tuner/cli/verify_options.h"
#include "tuner/random_operator.h"
#include "tuner/verification.h"

namespace redtune {
namespace {

struct FuzzArguments {
  VerifyArguments how;
  std::string seconds;
  std::uint64_t cases = 0;
  std::size_t per_mapping = 1;
  bool json = false;
};

/// How many cases (operator with schedule) each value of a property got.
using Counts = std::map<std::string, std::int64_t>;

struct FuzzCounts {
  Counts forms, operators, dtypes, layouts;
  std::int64_t tasks = 0, empty = 0;
};

std::string layout_of(const Tensor& input) {
  if (!input.is_row_major()) {
    const auto any = [&](auto test) { return std::any_of(input.strides.begin(), input.strides.end(), test); };
    if (any([](std::int64_t stride) { return stride < 0; })) return "reversed";
    return any([](std::int64_t stride) { return stride == 0; }) ? "broadcast" : "strided";
  }
  return input.offset > 0 ? "offset" : "dense";
}

std::string counts_text(const Counts& counts) {
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) parts.push_back(word + " " + format_count(count));
  return join(parts, ", ");
}

class Fuzz {
 public:
  explicit Fuzz(const FuzzArguments& arguments)
      : arguments_(arguments),
        device_(arguments.how.pick()),
        verifier_(device_, arguments.how.options()),
        tally_(arguments.how.seed()),
        rng_(arguments.how.seed()) {}

  ExitCode run() {
    const double limit = arguments_.seconds.empty() ? 0 : parse_duration(arguments_.seconds, "--seconds");
    const std::atomic<bool>& stop = stop_on_signals();
    const auto over = [&] {
      return stop || (limit > 0 && seconds() > limit) ||
             (arguments_.cases > 0 && static_cast<std::uint64_t>(cases()) >= arguments_.cases);
    };
    while (!over()) step(over);
    report();
    return tally_.failures().empty() ? ExitCode::kDone : ExitCode::kInternal;
  }

 private:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  std::int64_t cases() const { return tally_.total().schedules; }

  void step(const std::function<bool()>& stop) {
    const Task task = make_task(random_operator(rng_), device_.target);
    ++counts_.tasks;
    const std::vector<Schedule> schedules =
        schedules_by_mapping(SearchSpace(task), arguments_.per_mapping, rng_);
    if (schedules.empty()) {
      ++counts_.empty;
      std::cerr << "redtune: no legal schedule for " << task.op.key() << "\n";
      return;
    }
    verifier_.verify(
        task, schedules,
        [&](const ScheduleVerdict& verdict) { add(task, schedules[verdict.index], verdict); }, stop);
  }

  void add(const Task& task, const Schedule& schedule, const ScheduleVerdict& verdict) {
    ++counts_.forms[task.canonical.form()];
    ++counts_.operators[std::string(name(task.reduce_op()))];
    ++counts_.dtypes[std::string(name(task.input_dtype()))];
    ++counts_.layouts[layout_of(task.op.input())];
    const std::size_t before = tally_.failures().size();
    tally_.add(task, schedule, verdict);
    if (tally_.failures().size() == before) return;
    const VerifyFailure& failure = tally_.failures().back();
    std::cerr << "wrong: " << failure.kind << " on " << failure.pattern << ": " << failure.detail << "\n  "
              << failure.command << "\n";
  }

  void report() const {
    if (arguments_.json) {
      Json json = tally_.json();
      json["seed"] = arguments_.how.seed();
      json["seconds"] = seconds();
      json["forms"] = counts_.forms;
      json["operators"] = counts_.operators;
      json["dtypes"] = counts_.dtypes;
      json["layouts"] = counts_.layouts;
      std::cout << json.dump(2) << "\n";
      return;
    }
    std::cout << "seed      " << arguments_.how.seed() << "\n"
              << "device    " << arguments_.how.device_text(device_) << "\n"
              << "cases     " << format_count(cases()) << " (operator, schedule) of "
              << format_count(counts_.tasks) << " operators in " << format_seconds(seconds()) << "\n"
              << "forms     " << counts_text(counts_.forms) << "\n"
              << "operators " << counts_text(counts_.operators) << "\n"
              << "dtypes    " << counts_text(counts_.dtypes) << "\n"
              << "layouts   " << counts_text(counts_.layouts) << "\n"
              << tally_.table();
  }

  const FuzzArguments& arguments_;
  DeviceInfo device_;
  Verifier verifier_;
  VerifyTally tally_;
  Rng rng_;
  FuzzCounts counts_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

VerbAction declare_fuzz(CLI::App& app) {
  const auto arguments = std::make_shared<FuzzArguments>();
  FuzzArguments& a = *arguments;
  app.add_option("--seconds", a.seconds, "stop after this time, as 90 or 5m (default: 60, without --cases)");
  app.add_option("--cases", a.cases, "stop after N cases: an operator with a schedule")->option_text("N");
  app.add_option("--per-mapping", a.per_mapping, "schedules of each mapping and operator (default 1)")
      ->option_text("N");
  a.how.declare(app);
  app.add_flag("--json", a.json, "one JSON document");
  return [arguments] {
    if (arguments->seconds.empty() && arguments->cases == 0) arguments->seconds = "60";
    return Fuzz(*arguments).run();
  };
}

}  // namespace redtune
