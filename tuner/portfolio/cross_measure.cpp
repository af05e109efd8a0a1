#include "tuner/portfolio/cross_measure.h"

#include <algorithm>
#include <map>
#include <memory>

#include "space/heuristic.h"
#include "support/error.h"
#include "support/stopwatch.h"
#include "tuner/evaluating.h"
#include "tuner/generating.h"
#include "tuner/trials.h"

namespace redtune {
namespace {

// Times the best after which the regret of a schedule is known well enough.
constexpr double kClearlySlower = 1.5;

class CrossMeasurer {
 public:
  CrossMeasurer(const Task& task, const DeviceInfo& device, const std::vector<Schedule>& schedules,
                const CrossOptions& options, const TuningParts& parts,
                const std::function<void(const Progress&)>& progress, const std::atomic<bool>& stop)
      : options_(options),
        parts_(parts),
        progress_(progress),
        stop_(stop),
        begin_(steady_seconds()),
        book_(result_.trials),
        key_(trial_key(task, device, options.tuning.measure)) {
    result_.task = task;
    result_.device = device;
    result_.default_schedule = default_schedule(task);
    schedules_ = {result_.default_schedule};
    for (const Schedule& schedule : schedules) {
      if (std::find(schedules_.begin(), schedules_.end(), schedule) == schedules_.end())
        schedules_.push_back(schedule);
    }
  }

  std::vector<Record> run() {
    generated_ = generate_all(result_.task, schedules_, parts_.generate);
    resume();
    for (int round = 1; round <= options_.rounds && !stop_; ++round) {
      const std::vector<std::size_t> places = wanted(round);
      if (!places.empty()) measure(places);
    }
    if (log_) log_->end(stop_ ? "interrupted" : "trials");
    return std::move(records_);
  }

 private:
  void resume() {
    std::map<std::string, std::string> hashes;
    for (std::size_t i = 0; i < schedules_.size(); ++i)
      hashes[schedules_[i].text()] = generated_[i].program ? generated_[i].program->hash : "";
    for (Record& record : read_log(options_.log_path).records) {
      const auto hash = hashes.find(record.schedule.text());
      if (record.key == key_ && hash != hashes.end() && hash->second == record.program_hash)
        take(std::move(record), true);
    }
  }

  void take(Record record, bool resumed) {
    book_.add(record, resumed);
    records_.push_back(std::move(record));
  }

  double best_seconds() const {
    double best = 0;
    for (const Trial& trial : result_.trials) {
      if (trial.outcome.timed() && (best == 0 || trial.outcome.median_seconds < best))
        best = trial.outcome.median_seconds;
    }
    return best;
  }

  // What has had fewer rounds than this and may still matter.
  std::vector<std::size_t> wanted(int round) const {
    const double best = best_seconds();
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < schedules_.size(); ++i) {
      const std::optional<std::size_t> known = book_.find(schedules_[i]);
      if (known) {
        const Trial& trial = result_.trials[*known];
        if (trial.rounds >= round || !trial.outcome.timed()) continue;
        if (i > 0 && trial.outcome.median_seconds > kClearlySlower * best) continue;
      }
      places.push_back(i);
    }
    return places;
  }

  // Late: what finds everything in its log starts no worker and writes nothing.
  void open() {
    if (evaluator_) return;
    evaluator_ = parts_.make_evaluator(result_.task);
    log_ = std::make_unique<Log>(options_.log_path);
    log_->run(run_info(result_, options_.tuning));
  }

  void measure(const std::vector<std::size_t>& places) {
    open();
    std::vector<Candidate> batch;
    std::vector<std::size_t> place_of;
    for (std::size_t i : places) {
      if (generated_[i].program) {
        batch.push_back({schedules_[i], generated_[i].program->program});
        place_of.push_back(i);
        continue;
      }
      Outcome outcome;
      outcome.kind = OutcomeKind::kRejected;
      outcome.detail = generated_[i].failure;
      record(i, outcome);
    }
    if (const double best = best_seconds(); best > 0) evaluator_->set_best(best);
    evaluate_guarded(
        *evaluator_, batch,
        {.starting = [&](std::size_t i) { log_->started(key_, batch[i].schedule, hash_of(place_of[i])); },
         .done = [&](std::size_t i, const Outcome& outcome) { record(place_of[i], outcome); },
         .stop = [&] { return stop_.load(); }});
  }

  std::string hash_of(std::size_t place) const {
    return generated_[place].program ? generated_[place].program->hash : "";
  }

  void record(std::size_t place, const Outcome& outcome) {
    Record record{key_, schedules_[place], combine_rounds({outcome}), hash_of(place), utc_now()};
    log_->trial(record);
    take(std::move(record), false);
    if (!progress_) return;
    Progress now = progress_of(result_);
    now.total = schedules_.size();
    now.elapsed_seconds = steady_seconds() - begin_;
    progress_(now);
  }

  const CrossOptions& options_;
  const TuningParts& parts_;
  const std::function<void(const Progress&)>& progress_;
  const std::atomic<bool>& stop_;
  double begin_;
  TuneResult result_;
  TrialBook book_;
  TrialKey key_;
  std::vector<Schedule> schedules_;  // the default leads
  std::vector<GenerationResult> generated_;
  std::vector<Record> records_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<Log> log_;
};

}  // namespace

std::vector<Record> cross_measure(const Task& task, const DeviceInfo& device,
                                  const std::vector<Schedule>& schedules, const CrossOptions& options,
                                  const TuningParts& parts,
                                  const std::function<void(const Progress&)>& progress,
                                  const std::atomic<bool>& stop) {
  RT_CHECK(options.rounds > 0, "a cross measurement of no rounds");
  return CrossMeasurer(task, device, schedules, options, parts, progress, stop).run();
}

}  // namespace redtune
