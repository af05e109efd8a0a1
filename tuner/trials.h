// Trials while a run goes on: the rounds behind each, what they say together, and which of them wins.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "logs/log.h"
#include "space/task.h"
#include "tuner/tuning.h"

namespace redtune {

/// What several rounds of one schedule say together. The first round decided that there were more, so a lucky
/// first time would stay in the mean of the chosen: where there are others, its times do not count. A round
/// that failed speaks for all: a schedule that is wrong once is wrong. A time that is not a positive number is
/// no time.
Outcome combine_rounds(const std::vector<Outcome>& rounds);

/// Whether `rival` is no slower than `best` as far as the measurement can tell: their intervals overlap, and the medians
/// are within 3 %. (Intervals that overlap only because both are wide are no tie.)
bool tied(const Outcome& rival, const Outcome& best);

/// The trials of a run with the records behind them, in the order of their first round.
class TrialBook {
 public:
  explicit TrialBook(std::vector<Trial>& trials) : trials_(trials) {}

  /// Adds a round; returns the index of its trial.
  std::size_t add(const Record& record, bool resumed);
  std::optional<std::size_t> find(const Schedule& schedule) const;
  /// hex64 over the log lines behind the given trials.
  std::string log_hash(const std::vector<std::size_t>& indices) const;

 private:
  std::vector<Trial>& trials_;
  std::vector<std::vector<Record>> records_;  // per trial
  std::vector<int> turns_;                    // per trial: the duel's turn it was last measured in
  int turn_ = 0;
  std::map<std::string, std::size_t> index_of_;
};

/// The place of a schedule's mapping from the simplest to the most involved; 0: the simplest. Ties go to the lower one.
std::size_t simplicity(const Schedule& schedule);

/// Timed trials that may still be the best, fastest first: at most three, none clearly slower, and the
/// default. `eligible[i]` says whether trial i may win at all.
std::vector<std::size_t> pick_finalists(const std::vector<Trial>& trials, const std::vector<bool>& eligible,
                                        std::optional<std::size_t> default_trial);

/// The winner among the eligible finalists. The fastest wins when its interval lies apart from the others' and
/// it was faster than the default in three of four turns of the duel; among those it is tied with: the
/// default, then what is deterministic, then the simplest mapping, then the fastest.
std::optional<std::size_t> pick_winner(const Task& task, const std::vector<Trial>& trials,
                                       const std::vector<bool>& eligible,
                                       const std::vector<std::size_t>& finalists,
                                       std::optional<std::size_t> default_trial);

/// Counts and bests so far; the times are left to who has the clock.
Progress progress_of(const TuneResult& result);

/// Counts by reason with one example each, for a run in which nothing was valid.
std::string no_valid_message(const TuneResult& result);

/// The header of a run in the log: everything that makes its times comparable with others, or not.
RunInfo run_info(const TuneResult& result, const TuneOptions& options);

/// The config of the best trial of `result`, which must have one; `program` is its kernel.
Config make_config(const TuneResult& result, const Program& program, const std::string& log_hash);

/// Writes the whole text of `program` into the store, so that the config can be used without redtune.
KernelFile keep_kernel(const std::string& store, const Program& program, const Target& target);

}  // namespace redtune
