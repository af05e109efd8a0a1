#include "tuner/tuning.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "space/heuristic.h"
#include "support/error.h"
#include "support/stopwatch.h"
#include "tuner/evaluating.h"
#include "tuner/generating.h"
#include "tuner/trials.h"

namespace redtune {
namespace {

// Each finalist is measured this often in all, the first time included.
constexpr int kRounds = 9;
constexpr int kMostDuelTurns = 30;
// Of a time budget, what the search leaves for the finalists.
constexpr double kSearchShare = 0.9;

class Tuner {
 public:
  Tuner(const TuningParts& parts, const Operator& op, const DeviceInfo& device, const TuneOptions& options,
        const std::function<void(const Progress&)>& progress, const std::atomic<bool>& stop)
      : parts_(parts),
        options_(options),
        progress_(progress),
        stop_(stop),
        begin_(steady_seconds()),
        book_(result_.trials),
        space_(make_task(op, device.target), options.filter),
        points_(discrete_space(space_, options.model_path)) {
    result_.task = space_.task();
    result_.device = device;
    result_.space_size = space_.size();
    result_.default_schedule = default_schedule(result_.task);
    result_.log_path = options.log_path;
    result_.end_reason = "trials";
    key_ = trial_key(result_.task, device, options.measure);
    strategy_ = find_strategy(options.strategy).make(points_, options.seed);
  }

  TuneResult run(const std::function<void(const TuneStart&)>& started) {
    space_.need_schedules();
    refuse_empty_output();
    refuse_log_below_a_file();
    if (!options_.config_directory.empty()) {
      ConfigStore(options_.config_directory).check(result_.task.op, result_.device.name);
    }
    resume();
    const std::size_t outside = space_.find(result_.default_schedule) ? 0 : 1;
    total_ = std::max(std::min(options_.max_trials, space_.size() + outside), result_.trials.size());
    if (started) started({result_.task, result_.space_size, result_.resumed, total_, options_.log_path});
    report();
    try {
      search();
      if (!stopped()) duel();
    } catch (const NoDevice&) {
      end_log("device_lost");
      throw;
    }
    finish();
    return std::move(result_);
  }

 private:
  // Seen before the store is touched: what cannot be logged leaves nothing behind.
  void refuse_log_below_a_file() const {
    std::error_code ignored;
    std::filesystem::path place = std::filesystem::path(options_.log_path).parent_path();
    while (!place.empty() && !std::filesystem::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
    if (place.empty() || std::filesystem::is_directory(place, ignored)) return;
    throw UserError("cannot write " + options_.log_path + ": " + place.string() + " is no directory");
  }

  void refuse_empty_output() const {
    if (output_bytes(result_.task.op) > 0) return;
    throw UserError("nothing to tune: the output of " + result_.task.op.title() + " has no elements");
  }

  bool usable(const Schedule& schedule) const {
    return schedule == result_.default_schedule || space_.find(schedule).has_value();
  }

  // Takes over what the log holds of this task, device and clock, as far as it was measured on the same
  // kernel text.
  void resume() {
    if (options_.log_path.empty()) return;
    // What is to be moved aside cannot be read.
    if (options_.force_log && std::filesystem::exists(options_.log_path)) Log(options_.log_path, true);
    LogContents log = read_log(options_.log_path);
    result_.warnings = std::move(log.warnings);
    std::vector<Record> records;
    for (Record& record : log.records) {
      if (record.key == key_ && usable(record.schedule) && !tried_again(record.outcome)) records.push_back(std::move(record));
    }
    // The default leads, wherever the log has it; the others keep their order, which tells the duel's turns.
    const auto lead = std::find_if(records.begin(), records.end(),
                                   [&](const Record& r) { return r.schedule == result_.default_schedule; });
    if (lead != records.end()) std::rotate(records.begin(), lead, lead + 1);
    const std::map<std::string, std::string> hashes = hashes_of(records);
    std::vector<std::size_t> fresh;
    for (const Record& record : records) {
      if (record.program_hash != hashes.at(record.schedule.text())) {
        ++result_.stale;
      } else if (const std::size_t index = book_.add(record, true); result_.trials[index].rounds == 1) {
        fresh.push_back(index);
      }
    }
    resume_unfinished(log, fresh);
    result_.resumed = result_.trials.size();
    observe(fresh);
  }

  // What crashed or hung may have done so for reasons of the machine, as a missing linker.
  bool tried_again(const Outcome& outcome) const {
    return options_.retry_crashed && (outcome.kind == OutcomeKind::kCrashed || outcome.kind == OutcomeKind::kTimedOut);
  }

  std::map<std::string, std::string> hashes_of(const std::vector<Record>& records) {
    std::map<std::string, Schedule> distinct;
    for (const Record& record : records) distinct.emplace(record.schedule.text(), record.schedule);
    std::vector<Schedule> schedules;
    for (const auto& [text, schedule] : distinct) schedules.push_back(schedule);
    const std::vector<GenerationResult> generated = generate(schedules);
    std::map<std::string, std::string> hashes;
    for (std::size_t i = 0; i < schedules.size(); ++i) {
      hashes[schedules[i].text()] = generated[i].program ? generated[i].program->hash : "";
    }
    return hashes;
  }

  // What was started and never ended took its run down, or was under way when the run was killed. The default
  // gets one more chance: without it nothing can be compared.
  void resume_unfinished(const LogContents& log, std::vector<std::size_t>& fresh) {
    if (options_.retry_crashed) return;
    std::size_t default_starts = 0;
    for (const auto& [key, schedule] : log.unfinished) {
      if (!(key == key_) || !usable(schedule) || book_.find(schedule)) continue;
      if (schedule == result_.default_schedule && ++default_starts < 2) continue;
      Record record{key, schedule, {}, "", ""};
      record.outcome.kind = OutcomeKind::kCrashed;
      record.outcome.detail = "an earlier run ended while this schedule ran (--retry-crashed tries it again)";
      fresh.push_back(book_.add(record, true));
    }
  }

  void search() {
    if (!book_.find(result_.default_schedule)) evaluate({result_.default_schedule}, true);
    while (!stopped() && result_.trials.size() < total_) {
      if (time_over()) {
        result_.end_reason = "time";
        break;
      }
      const std::size_t patience = patience_left();
      if (patience == 0) {
        result_.end_reason = "no_improvement";
        break;
      }
      std::vector<Schedule> batch;
      const std::size_t wanted = std::min({batch_size(), total_ - result_.trials.size(), patience});
      for (std::size_t i : strategy_->propose(wanted)) {
        batch.push_back(space_.at(i));
      }
      if (batch.empty()) break;
      evaluate(batch, false);
    }
    if (result_.end_reason == "trials" && result_.trials.size() >= space_.size())
      result_.end_reason = "exhausted";
  }

  // Trials that may still bring no new best before the search ends. Resumed ones
  // count: what the log holds was in vain, or not, already.
  std::size_t patience_left() const {
    if (options_.patience == 0) return total_;
    double best = 0;
    std::size_t in_vain = 0;
    for (const Trial& trial : result_.trials) {
      const Outcome& outcome = trial.outcome;
      const bool better = outcome.timed() && (best == 0 || outcome.median_seconds < best);
      if (better) best = outcome.median_seconds;
      in_vain = better ? 0 : in_vain + 1;
    }
    return options_.patience > in_vain ? options_.patience - in_vain : 0;
  }

  // Until every finalist has its rounds: one that falls behind makes room for the next, so that a resumed run
  // finds nothing left to do.
  void duel() {
    time_share_ = 1;
    for (int turn = 0; turn < kMostDuelTurns && !stopped() && !time_over(); ++turn) {
      const auto default_trial = result_.default_trial();
      std::vector<std::size_t> rematch;
      for (std::size_t i : pick_finalists(result_.trials, eligible(), default_trial)) {
        if (result_.trials[i].rounds < kRounds) rematch.push_back(i);
      }
      if (rematch.empty()) return;
      // Whoever is measured is measured beside the default.
      if (default_trial && result_.trials[*default_trial].outcome.timed() &&
          std::find(rematch.begin(), rematch.end(), *default_trial) == rematch.end()) {
        rematch.push_back(*default_trial);
      }
      std::vector<Schedule> schedules;
      for (std::size_t i : rematch) schedules.push_back(result_.trials[i].schedule);
      evaluate(schedules, false);
    }
  }

  // Generates, compiles, measures and records a batch; `needed`: only a signal may stop it.
  void evaluate(const std::vector<Schedule>& schedules, bool needed) {
    open();
    std::vector<Candidate> batch;
    std::vector<std::string> hashes;
    std::vector<std::size_t> fresh;
    const std::vector<GenerationResult> generated = generate(schedules);
    for (std::size_t i = 0; i < schedules.size(); ++i) {
      if (generated[i].program) {
        batch.push_back({schedules[i], generated[i].program->program});
        hashes.push_back(generated[i].program->hash);
      } else {
        Outcome outcome;
        outcome.kind = OutcomeKind::kRejected;
        outcome.detail = generated[i].failure;
        record(schedules[i], "", outcome);
      }
    }
    measure(batch, hashes, needed);
    for (const Schedule& schedule : schedules) {
      const auto index = book_.find(schedule);
      if (index && result_.trials[*index].rounds == 1) fresh.push_back(*index);
    }
    observe(fresh);
  }

  void measure(const std::vector<Candidate>& batch, const std::vector<std::string>& hashes, bool needed) {
    Evaluator::Callbacks callbacks;
    callbacks.starting = [&](std::size_t i) {
      if (log_) log_->started(key_, batch[i].schedule, hashes[i]);
    };
    callbacks.done = [&](std::size_t i, const Outcome& outcome) { record(batch[i].schedule, hashes[i], outcome); };
    callbacks.stop = [&] { return stopped() || (!needed && time_over()); };
    evaluate_guarded(*evaluator_, batch, callbacks);
  }

  void record(const Schedule& schedule, const std::string& hash, const Outcome& outcome) {
    const Record record{key_, schedule, combine_rounds({outcome}), hash, utc_now()};
    if (log_) log_->trial(record);
    const std::size_t index = book_.add(record, false);
    ++measured_;
    const Outcome& all = result_.trials[index].outcome;
    if (all.timed() && (best_seconds_ == 0 || all.median_seconds < best_seconds_)) {
      best_seconds_ = all.median_seconds;
      evaluator_->set_best(best_seconds_);
    }
    report();
  }

  // In the order of the batch, whatever order they were measured in: the same seed gives the same proposals.
  void observe(const std::vector<std::size_t>& indices) {
    std::vector<Observation> observations;
    for (std::size_t i : indices) {
      const auto place = space_.find(result_.trials[i].schedule);
      if (place) observations.push_back({*place, &result_.trials[i].outcome});
    }
    if (!observations.empty()) strategy_->observe(observations);
  }

  std::vector<GenerationResult> generate(const std::vector<Schedule>& schedules) {
    const double start = steady_seconds();
    auto generated = generate_all(result_.task, schedules, parts_.generate);
    generating_seconds_ += steady_seconds() - start;
    return generated;
  }

  // Late, so that a run that finds everything in its log starts no worker and writes nothing.
  void open() {
    if (evaluator_) return;
    const double start = steady_seconds();
    evaluator_ = parts_.make_evaluator(result_.task);
    preparing_seconds_ = steady_seconds() - start;
    for (const Trial& trial : result_.trials) {
      if (trial.outcome.timed() && (best_seconds_ == 0 || trial.outcome.median_seconds < best_seconds_)) {
        best_seconds_ = trial.outcome.median_seconds;
      }
    }
    if (best_seconds_ > 0) evaluator_->set_best(best_seconds_);
    if (options_.log_path.empty()) return;
    log_ = std::make_unique<Log>(options_.log_path, options_.force_log);
    log_->run(run_info(result_, options_));
  }

  void end_log(const std::string& reason) {
    if (log_) log_->end(reason);
  }

  void finish() {
    if (stop_) result_.end_reason = "interrupted";
    const auto may_win = eligible();
    const auto finalists = pick_finalists(result_.trials, may_win, result_.default_trial());
    result_.best = pick_winner(result_.task, result_.trials, may_win, finalists, result_.default_trial());
    if (result_.best && !options_.config_directory.empty()) write_config();
    end_log(result_.end_reason);
    result_.wall_seconds = steady_seconds() - begin_;
    if (evaluator_) result_.split = evaluator_->split();
    result_.split.compiling += generating_seconds_;
    result_.split.measuring += preparing_seconds_;
    result_.split.other =
        std::max(0.0, result_.wall_seconds - result_.split.compiling - result_.split.measuring);
    const bool ended_early = result_.end_reason == "interrupted" || result_.end_reason == "time";
    if (!result_.best && !ended_early) throw NoValidSchedule(no_valid_message(result_));
  }

  void write_config() {
    const Trial& best = result_.trials[*result_.best];
    const GenerationResult generated = generate({best.schedule}).front();
    RT_CHECK(generated.program.has_value(),
             "the best schedule can no longer be generated: " + generated.failure);
    std::vector<std::size_t> evidence{*result_.best};
    const auto default_trial = result_.default_trial();
    if (default_trial && *default_trial != *result_.best) evidence.push_back(*default_trial);
    const Program& program = generated.program->program;
    Config config = make_config(result_, program, book_.log_hash(evidence));
    config.kernel = keep_kernel(options_.config_directory, program, result_.task.target);
    ConfigStore store(options_.config_directory);
    const std::optional<Config> old = store.find(config.op, config.device);
    result_.config_path = store.put(config, old && is_outdated(*old));
    const std::optional<Config> kept = store.find(config.op, config.device);
    result_.config_kept = kept && !(kept->schedule == config.schedule);
  }

  // An entry whose schedule is no longer legal, failed in this run, or now makes another kernel is no rival.
  bool is_outdated(const Config& old) {
    if (!space_.find(old.schedule) && SearchSpace(result_.task).why_not(old.schedule)) return true;
    const auto trial = book_.find(old.schedule);
    if (trial && !result_.trials[*trial].outcome.timed()) return true;
    const GenerationResult generated = generate({old.schedule}).front();
    return !generated.program || generated.program->hash != old.program_hash;
  }

  // A default outside a narrowed space is measured for comparison and cannot win.
  std::vector<bool> eligible() const {
    std::vector<bool> result;
    for (const Trial& trial : result_.trials) result.push_back(space_.find(trial.schedule).has_value());
    return result;
  }

  void report() const {
    if (!progress_) return;
    Progress progress = progress_of(result_);
    progress.total = total_;
    progress.elapsed_seconds = steady_seconds() - begin_;
    if (measured_ > 0 && progress.done < progress.total) {
      const double left = static_cast<double>(progress.total - progress.done);
      progress.eta_seconds = progress.elapsed_seconds / static_cast<double>(measured_) * left;
      const double allowed = std::max(0.0, options_.max_seconds - progress.elapsed_seconds);
      if (options_.max_seconds > 0) progress.eta_seconds = std::min(progress.eta_seconds, allowed);
    }
    progress_(progress);
  }

  std::size_t batch_size() const {
    return options_.batch > 0 ? options_.batch : std::max(4u, 2 * std::thread::hardware_concurrency());
  }
  bool stopped() const { return stop_.load(); }
  bool time_over() const {
    return options_.max_seconds > 0 && steady_seconds() - begin_ >= options_.max_seconds * time_share_;
  }

  const TuningParts& parts_;
  const TuneOptions& options_;
  const std::function<void(const Progress&)>& progress_;
  const std::atomic<bool>& stop_;
  double begin_, generating_seconds_ = 0, preparing_seconds_ = 0, best_seconds_ = 0,
                 time_share_ = kSearchShare;
  std::size_t total_ = 0, measured_ = 0;
  TuneResult result_;
  TrialBook book_;
  SearchSpace space_;
  DiscreteSpace points_;  // the same, as the strategy sees it
  TrialKey key_;
  std::unique_ptr<SearchStrategy> strategy_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<Log> log_;
};

}  // namespace

TuneResult tune_with(const TuningParts& parts, const Operator& op, const DeviceInfo& device,
                     const TuneOptions& options, const std::function<void(const Progress&)>& progress,
                     const std::atomic<bool>& stop, const std::function<void(const TuneStart&)>& started) {
  return Tuner(parts, op, device, options, progress, stop).run(started);
}

}  // namespace redtune
