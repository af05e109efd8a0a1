#include "tuner/explaining.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "cost_model/analytic_model.h"
#include "logs/task_records.h"
#include "support/error.h"
#include "tuner/trials.h"

namespace redtune {
namespace {

// Observations that pull the effect of a level towards none.
constexpr double kShrinkage = 1;
constexpr int kSweeps = 60;

struct Field {
  std::string name;
  std::vector<std::string> values;  // per timed trial
};

std::vector<std::pair<std::string, std::string>> fields_of(const Schedule& schedule) {
  std::vector<std::pair<std::string, std::string>> fields;
  const Json configuration = configuration_of(schedule);
  for (const auto& [name, value] : configuration.items()) {
    fields.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return fields;
}

// log(time) as a sum of effects of fields, by backfitting.
class AdditiveModel {
 public:
  AdditiveModel(const std::vector<Schedule>& schedules, const std::vector<double>& seconds) {
    for (double s : seconds) logs_.push_back(std::log(s));
    mean_ = std::accumulate(logs_.begin(), logs_.end(), 0.0) / static_cast<double>(logs_.size());
    for (const Schedule& schedule : schedules) {
      const auto fields = fields_of(schedule);
      if (fields_.empty()) fields_.resize(fields.size());
      for (std::size_t f = 0; f < fields.size(); ++f) {
        fields_[f].name = fields[f].first;
        fields_[f].values.push_back(fields[f].second);
      }
    }
    effects_.resize(fields_.size());
    std::vector<double> residuals;
    for (double log : logs_) residuals.push_back(log - mean_);
    const std::vector<double> around = residuals;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::size_t f = 0; f < fields_.size(); ++f) refit(f, residuals);
    }
    const auto squares = [](const std::vector<double>& values) {
      return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    };
    const double total = squares(around);
    explained_ = total > 0 ? std::max(0.0, 1 - squares(residuals) / total) : 0;
  }

  double effect(std::size_t field, const std::string& value) const {
    const auto found = effects_[field].find(value);
    return found == effects_[field].end() ? 0 : found->second;
  }
  double explained() const { return explained_; }

 private:
  void refit(std::size_t f, std::vector<double>& residuals) {
    std::map<std::string, double> sums, fresh;
    std::map<std::string, double> counts;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      const std::string& value = fields_[f].values[i];
      sums[value] += residuals[i] + effects_[f][value];
      counts[value] += 1;
    }
    for (const auto& [value, sum] : sums) fresh[value] = sum / (counts[value] + kShrinkage);
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      const std::string& value = fields_[f].values[i];
      residuals[i] += effects_[f][value] - fresh[value];
    }
    effects_[f] = std::move(fresh);
  }

  std::vector<double> logs_;
  double mean_ = 0, explained_ = 0;
  std::vector<Field> fields_;
  std::vector<std::map<std::string, double>> effects_;
};

struct CostTerm {
  const char* name;
  const char* meaning;
  double AnalyticTime::*member;
};
constexpr std::array<CostTerm, 8> kCosts{{
    {"launches", "starting kernels and blocks", &AnalyticTime::launches},
    {"fill", "filling the output before atomics", &AnalyticTime::fill},
    {"memory", "reading the input at the rate that the access pattern and the work in flight allow", &AnalyticTime::memory},
    {"compute", "additions that wait for each other", &AnalyticTime::compute},
    {"atomics", "atomics on different addresses", &AnalyticTime::atomics},
    {"contention", "atomics on one address, one after the other", &AnalyticTime::contention},
    {"combine", "barriers, shuffles and single lanes inside a block", &AnalyticTime::combine},
    {"partials", "partial results through memory", &AnalyticTime::partials},
}};

struct Fact {
  const char* name;
  double (*of)(const ScheduleFacts& facts);
};
constexpr std::array<Fact, 11> kFacts{{
    {"threads per block", [](const ScheduleFacts& f) { return f.threads; }},
    {"blocks", [](const ScheduleFacts& f) { return f.blocks; }},
    {"elements per thread", [](const ScheduleFacts& f) { return f.elements_per_thread; }},
    {"contiguous bytes that threads load together", [](const ScheduleFacts& f) { return f.run_bytes; }},
    {"bytes that a thread asks for at once", [](const ScheduleFacts& f) { return f.in_flight_bytes; }},
    {"independent accumulators of a thread",
     [](const ScheduleFacts& f) { return static_cast<double>(f.schedule.acc) * f.schedule.rows; }},
    {"occupancy (estimate)", [](const ScheduleFacts& f) { return f.occupancy; }},
    {"kernels, filling included", [](const ScheduleFacts& f) { return f.launches; }},
    {"barriers per block", [](const ScheduleFacts& f) { return f.barriers; }},
    {"atomics per output", [](const ScheduleFacts& f) { return f.atomics_per_output; }},
    {"bytes of partial results", [](const ScheduleFacts& f) { return f.partial_bytes; }},
}};

void compare_by_model(const TuneResult& result, RunExplanation& e) {
  const TaskFacts task(result.task);
  const ScheduleFacts before(task, *e.default_schedule), after(task, e.best);
  const AnalyticTime slow = analytic_time(task, before), fast = analytic_time(task, after);
  e.model_default = slow.total;
  e.model_best = fast.total;
  for (const CostTerm& term : kCosts) {
    if (slow.*term.member > 0 || fast.*term.member > 0) {
      e.costs.push_back({term.name, term.meaning, slow.*term.member, fast.*term.member});
    }
  }
  std::stable_sort(e.costs.begin(), e.costs.end(), [](const CostShift& a, const CostShift& b) {
    return a.of_default - a.of_best > b.of_default - b.of_best;
  });
  constexpr double kWorthTelling = 1.5;
  for (const Fact& fact : kFacts) {
    const double a = fact.of(before), b = fact.of(after);
    if (std::max(a, b) > kWorthTelling * std::min(a, b)) e.facts.push_back({fact.name, a, b});
  }
}

void compare_knobs(const AdditiveModel& model, RunExplanation& e) {
  const auto from = fields_of(*e.default_schedule), to = fields_of(e.best);
  double sum = 0;
  for (std::size_t f = 0; f < from.size(); ++f) {
    if (from[f].second == to[f].second) continue;
    const double step = model.effect(f, to[f].second) - model.effect(f, from[f].second);
    sum += step;
    e.knobs.push_back({from[f].first, from[f].second, to[f].second, std::exp(step)});
  }
  std::stable_sort(e.knobs.begin(), e.knobs.end(),
                   [](const KnobEffect& a, const KnobEffect& b) { return a.factor < b.factor; });
  e.together = std::exp(std::log(e.best_seconds / e.default_seconds) - sum);
}

void find_one_step_rivals(const std::vector<Schedule>& schedules, const std::vector<double>& seconds, RunExplanation& e) {
  const auto best = fields_of(e.best);
  std::map<std::string, OneStepRival> rivals;
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const auto other = fields_of(schedules[i]);
    std::size_t differs = best.size(), count = 0;
    for (std::size_t f = 0; f < best.size(); ++f) {
      if (best[f].second != other[f].second) differs = f, ++count;
    }
    if (count != 1) continue;
    const OneStepRival rival{best[differs].first, best[differs].second, other[differs].second,
                             seconds[i] / e.best_seconds};
    const auto [place, fresh] = rivals.try_emplace(rival.knob, rival);
    if (!fresh && rival.factor < place->second.factor) place->second = rival;
  }
  for (auto& [unused, rival] : rivals) e.one_step.push_back(std::move(rival));
  std::stable_sort(e.one_step.begin(), e.one_step.end(),
                   [](const OneStepRival& a, const OneStepRival& b) { return a.factor > b.factor; });
}

void find_runner_up(const TuneResult& result, RunExplanation& e) {
  const Outcome& best = result.trials[*result.best].outcome;
  const Trial* second = nullptr;
  for (std::size_t i = 0; i < result.trials.size(); ++i) {
    const Trial& trial = result.trials[i];
    if (i == *result.best || !trial.outcome.timed()) continue;
    if (second == nullptr || trial.outcome.median_seconds < second->outcome.median_seconds) second = &trial;
  }
  if (second == nullptr) return;
  e.runner_up = second->schedule;
  e.runner_up_seconds = second->outcome.median_seconds;
  e.tied = tied(second->outcome, best);
  const auto winner = fields_of(e.best), other = fields_of(second->schedule);
  for (std::size_t f = 0; f < winner.size(); ++f) {
    if (winner[f].second == other[f].second) continue;
    e.apart.push_back(winner[f].first + " " + winner[f].second + " instead of " + other[f].second);
  }
}

}  // namespace

RunExplanation explain_run(const TuneResult& result) {
  RT_CHECK(result.best.has_value(), "nothing to explain: the run has no best");
  RunExplanation e;
  const Trial& best = result.trials[*result.best];
  e.best = best.schedule;
  e.best_seconds = best.outcome.median_seconds;
  e.bytes_per_second = result.task.compulsory_bytes() / e.best_seconds;
  std::vector<Schedule> schedules;
  std::vector<double> seconds;
  for (const Trial& trial : result.trials) {
    if (!trial.outcome.timed()) continue;
    schedules.push_back(trial.schedule);
    seconds.push_back(trial.outcome.median_seconds);
  }
  e.timed = schedules.size();
  const AdditiveModel model(schedules, seconds);
  e.explained = model.explained();
  find_runner_up(result, e);
  find_one_step_rivals(schedules, seconds, e);
  const auto base = result.default_trial();
  if (!base || !result.trials[*base].outcome.timed()) return e;
  e.default_schedule = result.trials[*base].schedule;
  e.default_seconds = result.trials[*base].outcome.median_seconds;
  e.default_won = *base == *result.best;
  if (e.default_won) return e;
  compare_knobs(model, e);
  compare_by_model(result, e);
  return e;
}

}  // namespace redtune
