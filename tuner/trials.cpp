#include "tuner/trials.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "space/mappings.h"
#include "support/hash.h"
#include "support/stats.h"

namespace redtune {
namespace {

constexpr std::size_t kFinalists = 3;
// A schedule slower than this next to the best is no finalist: more samples would not make it win.
constexpr double kFinalistFactor = 1.15;
constexpr double kTieFactor = 1.03;
constexpr int kResamples = 1000;

bool is_time(double seconds) { return std::isfinite(seconds) && seconds > 0; }

Outcome with_interval(Outcome outcome) {
  if (!outcome.timed()) return outcome;
  if (!is_time(outcome.median_seconds)) {
    outcome.kind = OutcomeKind::kUnmeasured;
    outcome.detail = "the clock gave no positive time";
    outcome.median_seconds = outcome.low_seconds = outcome.high_seconds = 0;
    return outcome;
  }
  if (!is_time(outcome.low_seconds) || outcome.low_seconds > outcome.median_seconds) {
    outcome.low_seconds = outcome.median_seconds;
  }
  if (!is_time(outcome.high_seconds) || outcome.high_seconds < outcome.median_seconds) {
    outcome.high_seconds = outcome.median_seconds;
  }
  return outcome;
}

// Of the turns in which both were measured, whether `trial` was faster in so many that drift of the machine
// does not explain it. True where there are too few turns to say.
bool keeps_winning(const Trial& trial, const Trial& rival) {
  constexpr std::size_t kFewTurns = 4;
  constexpr double kShare = 0.75;
  std::size_t common = 0, won = 0;
  for (const DuelTurn& mine : trial.duel) {
    for (const DuelTurn& other : rival.duel) {
      if (mine.turn != other.turn) continue;
      ++common;
      if (mine.median_seconds < other.median_seconds) ++won;
    }
  }
  return common < kFewTurns || static_cast<double>(won) >= kShare * static_cast<double>(common);
}

}  // namespace

std::size_t simplicity(const Schedule& schedule) {
  const auto table = mappings();
  const auto row = std::find_if(table.begin(), table.end(), [&](const MappingInfo& info) {
    return info.block == schedule.block && info.grid == schedule.grid;
  });
  return static_cast<std::size_t>(row - table.begin());
}

Outcome combine_rounds(const std::vector<Outcome>& rounds) {
  for (const Outcome& round : rounds) {
    const Outcome checked = with_interval(round);
    if (!checked.timed()) return checked;
  }
  if (rounds.size() == 1) return with_interval(rounds.front());
  Outcome all = rounds[1];
  all.compile_seconds += rounds[0].compile_seconds;
  all.measure_seconds += rounds[0].measure_seconds;
  all.max_error = std::max(all.max_error, rounds[0].max_error);
  std::vector<double> kernel_times{all.kernel_seconds};
  for (std::size_t i = 2; i < rounds.size(); ++i) {
    kernel_times.push_back(rounds[i].kernel_seconds);
    all.seconds.insert(all.seconds.end(), rounds[i].seconds.begin(), rounds[i].seconds.end());
    all.max_error = std::max(all.max_error, rounds[i].max_error);
    all.compile_seconds += rounds[i].compile_seconds;
    all.measure_seconds += rounds[i].measure_seconds;
  }
  all.kernel_seconds = median(kernel_times);
  if (all.seconds.empty()) return with_interval(all);
  all.median_seconds = median(all.seconds);
  all.spread = relative_spread(all.seconds);
  const Interval interval = bootstrap_median(all.seconds, 0.95, kResamples, 1);
  all.low_seconds = interval.low;
  all.high_seconds = interval.high;
  return with_interval(all);
}

bool tied(const Outcome& rival, const Outcome& best) {
  return rival.low_seconds <= best.high_seconds && rival.median_seconds <= best.median_seconds * kTieFactor;
}

std::size_t TrialBook::add(const Record& record, bool resumed) {
  const auto [place, fresh] = index_of_.try_emplace(record.schedule.text(), trials_.size());
  const std::size_t index = place->second;
  if (fresh) {
    trials_.push_back({record.schedule, {}, resumed, 0, record.program_hash, {}});
    records_.emplace_back();
    turns_.push_back(0);
  }
  if (!fresh && turns_[index] == turn_) ++turn_;
  if (!fresh) trials_[index].duel.push_back({turn_, record.outcome.median_seconds});
  turns_[index] = fresh ? 0 : turn_;
  records_[index].push_back(record);
  std::vector<Outcome> rounds;
  for (const Record& one : records_[index]) rounds.push_back(one.outcome);
  trials_[index].outcome = combine_rounds(rounds);
  trials_[index].rounds = static_cast<int>(rounds.size());
  return index;
}

std::optional<std::size_t> TrialBook::find(const Schedule& schedule) const {
  const auto found = index_of_.find(schedule.text());
  if (found == index_of_.end()) return std::nullopt;
  return found->second;
}

std::string TrialBook::log_hash(const std::vector<std::size_t>& indices) const {
  std::string lines;
  for (std::size_t index : indices) {
    for (const Record& record : records_[index]) {
      lines += to_json(record).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
  }
  return hex64(hash64(lines));
}

std::vector<std::size_t> pick_finalists(const std::vector<Trial>& trials, const std::vector<bool>& eligible,
                                        std::optional<std::size_t> default_trial) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].outcome.timed() && eligible[i]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return trials[a].outcome.median_seconds < trials[b].outcome.median_seconds;
  });
  std::vector<std::size_t> finalists;
  for (std::size_t index : order) {
    const double limit = trials[order.front()].outcome.median_seconds * kFinalistFactor;
    if (finalists.size() < kFinalists && trials[index].outcome.median_seconds <= limit)
      finalists.push_back(index);
  }
  const bool has_default = default_trial && trials[*default_trial].outcome.timed();
  if (has_default && std::find(finalists.begin(), finalists.end(), *default_trial) == finalists.end()) {
    finalists.push_back(*default_trial);
  }
  return finalists;
}

std::optional<std::size_t> pick_winner(const Task& task, const std::vector<Trial>& trials,
                                       const std::vector<bool>& eligible,
                                       const std::vector<std::size_t>& finalists,
                                       std::optional<std::size_t> default_trial) {
  std::optional<std::size_t> fastest;
  for (std::size_t i : finalists) {
    if (!eligible[i] || !trials[i].outcome.timed()) continue;
    if (!fastest || trials[i].outcome.median_seconds < trials[*fastest].outcome.median_seconds) fastest = i;
  }
  if (!fastest) return std::nullopt;
  const Outcome& best = trials[*fastest].outcome;
  const auto rank = [&](std::size_t i) {
    return std::tuple(default_trial != i, determinism_of(task, trials[i].schedule) != Determinism::kRunToRun,
                      simplicity(trials[i].schedule), trials[i].outcome.median_seconds);
  };
  std::size_t winner = *fastest;
  for (std::size_t i : finalists) {
    const Outcome& rival = trials[i].outcome;
    if (!eligible[i] || !rival.timed()) continue;
    // Against the default the turns count too: a config that is slower than no config is the worst gift.
    const bool even = tied(rival, best) || (default_trial == i && !keeps_winning(trials[*fastest], trials[i]));
    if (even && rank(i) < rank(winner)) winner = i;
  }
  return winner;
}

}  // namespace redtune
