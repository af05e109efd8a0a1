#include "tuner/bench/measure_row.h"

#include <memory>

#include "space/heuristic.h"
#include "space/mappings.h"
#include "support/error.h"
#include "tuner/bench/baseline_process.h"

namespace redtune {
namespace {

constexpr int kSamplesPerRound = 3;
constexpr std::string_view kBestPrefix = "best_";

// A side while it is measured: either a schedule of redtune or a program.
struct Contestant {
  BenchSide side;
  std::optional<std::size_t> candidate;
  std::unique_ptr<BaselineProcess> program;
  std::vector<double> seconds;
  int preempted = 0;
};

bool passes(const Schedule& schedule, const SpaceFilter& filter) {
  return (!filter.block || *filter.block == schedule.block) &&
         (!filter.grid || *filter.grid == schedule.grid) &&
         (!filter.mapping_class || *filter.mapping_class == schedule.mapping_class());
}

// The best of the search that a mapping filter lets through; the winner stands for what it is itself.
Schedule best_by_mapping(const TuneResult& result, const std::string& mapping) {
  const SpaceFilter filter = parse_mapping_filter(mapping);
  const Trial* best = nullptr;
  for (const Trial& trial : result.trials) {
    if (!trial.outcome.timed() || !passes(trial.schedule, filter)) continue;
    if (best == nullptr || trial.outcome.median_seconds < best->outcome.median_seconds) best = &trial;
  }
  const Schedule& winner = result.trials[*result.best].schedule;
  if (passes(winner, filter)) return winner;
  if (best == nullptr) throw UserError("the search timed no schedule of mapping " + mapping);
  return best->schedule;
}

Schedule schedule_of(const TuneResult& result, const std::string& name) {
  if (name == "default") return result.default_schedule;
  if (name == "no_atomic") return best_by_mapping(result, "tree");
  if (name == "naive_atomic") {
    return default_in(SearchSpace(result.task, parse_mapping_filter("none+atomic")));
  }
  return best_by_mapping(result, name.substr(kBestPrefix.size()));
}

class Turns {
 public:
  Turns(const TuneResult& result, const DeviceInfo& device, const BenchOptions& options)
      : result_(result), device_(device), options_(options) {
    measure_ = options.tuning.measure;
    measure_.min_samples = measure_.max_samples = kSamplesPerRound;
    // The tuned schedule is the first candidate.
    tuned_ = add(result.trials[*result.best].schedule);
    for (const std::string& name : options.baselines) open(name);
    seconds_.resize(candidates_.size());
    failures_.resize(candidates_.size());
  }

  void run(const std::atomic<bool>& stop) {
    const std::unique_ptr<Evaluator> evaluator = make_device_evaluator(device_, result_.task, measure_);
    for (int round = 0; round < options_.rounds && (round == 0 || !stop); ++round) {
      evaluator->evaluate(
          candidates_,
          {.starting = {}, .done = [&](std::size_t i, const Outcome& o) { take(i, o); }, .stop = {}});
      for (Contestant& contestant : contestants_) sample(contestant);
    }
  }

  void fill(BenchRow& row) {
    if (!failures_[tuned_].empty()) {
      row.error = failures_[tuned_];
      return;
    }
    row.tuned = bench_time(seconds_[tuned_]);
    row.program_hash = hashes_[tuned_];
    for (Contestant& contestant : contestants_) row.sides.push_back(side_of(contestant));
  }

 private:
  std::size_t add(const Schedule& schedule) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i].schedule == schedule) return i;
    }
    GeneratedProgram generated = generate_program(result_.task, schedule);
    candidates_.push_back({schedule, std::move(generated.program)});
    hashes_.push_back(generated.hash);
    return candidates_.size() - 1;
  }

  void open(const std::string& name) {
    Contestant& contestant = contestants_.emplace_back();
    contestant.side.name = name;
    try {
      const ProgramBaseline* const program = find_program_baseline(name);
      if (program == nullptr) {
        const Schedule schedule = schedule_of(result_, name);
        contestant.candidate = add(schedule);
        contestant.side.schedule = schedule.text();
        contestant.side.clock = device_.clock;
        return;
      }
      const std::string uuid = device_.facts.value("uuid", "");
      const BaselineSetup setup{name, measure_.data_seed, measure_.cold, options_.threads, uuid};
      contestant.program = std::make_unique<BaselineProcess>(*program, result_.task, setup);
      contestant.side.version = contestant.program->version();
      contestant.side.implementation = contestant.program->implementation();
      contestant.side.clock = contestant.program->clock();
      contestant.side.reference = contestant.program->reference();
    } catch (const UserError& error) {
      contestant.side.failure = error.what();
    } catch (const NoValidSchedule& error) {
      contestant.side.failure = error.what();
    }
  }

  void take(std::size_t index, const Outcome& outcome) {
    if (!outcome.timed()) {
      failures_[index] = std::string(name(outcome.kind)) + ": " + outcome.detail;
      return;
    }
    seconds_[index].insert(seconds_[index].end(), outcome.seconds.begin(), outcome.seconds.end());
  }

  void sample(Contestant& contestant) {
    if (!contestant.program || !contestant.side.failure.empty()) return;
    try {
      const BaselineProcess::Samples samples = contestant.program->sample(kSamplesPerRound);
      contestant.seconds.insert(contestant.seconds.end(), samples.seconds.begin(), samples.seconds.end());
      contestant.preempted += samples.preempted;
    } catch (const UserError& error) {
      contestant.side.failure = error.what();
    }
  }

  BenchSide side_of(Contestant& contestant) {
    BenchSide side = contestant.side;
    if (contestant.candidate) {
      side.failure = failures_[*contestant.candidate];
      contestant.seconds = seconds_[*contestant.candidate];
    }
    if (side.failure.empty() && !contestant.seconds.empty()) {
      side.time = bench_time(contestant.seconds, contestant.preempted);
    }
    return side;
  }

  const TuneResult& result_;
  const DeviceInfo& device_;
  const BenchOptions& options_;
  MeasureOptions measure_;
  std::vector<Candidate> candidates_;
  std::vector<std::string> hashes_, failures_;
  std::vector<std::vector<double>> seconds_;
  std::vector<Contestant> contestants_;
  std::size_t tuned_ = 0;
};

}  // namespace

std::optional<BenchRow> measure_row(const PlannedRow& planned, const DeviceInfo& device,
                                    const BenchOptions& options, const TuneOptions& tuning,
                                    const std::function<void(const Progress&)>& progress,
                                    const std::atomic<bool>& stop) {
  BenchRow row;
  row.id = planned.entry->id;
  row.op = planned.op;
  row.scaled = planned.scaled;
  row.log = tuning.log_path;
  row.time = utc_now();
  try {
    const TuneResult result = tune(planned.op, device, tuning, progress, stop);
    if (stop) return std::nullopt;
    if (!result.best) throw NoValidSchedule("nothing was timed within the limits");
    const Trial& best = result.trials[*result.best];
    row.bytes = result.task.compulsory_bytes();
    row.schedule = best.schedule.text();
    row.mapping = best.schedule.mapping();
    row.determinism = std::string(name(determinism_of(result.task, best.schedule)));
    row.trials = result.trials.size();
    row.asked_trials = tuning.max_trials;
    row.asked_seconds = tuning.max_seconds;
    Turns turns(result, device, options);
    turns.run(stop);
    if (stop) return std::nullopt;
    turns.fill(row);
  } catch (const NoValidSchedule& error) {
    row.error = error.what();
  } catch (const UserError& error) {
    row.error = error.what();
  }
  return row;
}

}  // namespace redtune
