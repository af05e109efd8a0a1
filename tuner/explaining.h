// Why the winner of a run won: what each knob was worth, who came second, what the default lost. From the measured trials
// alone, except for the terms of the analytic model, which are named as estimates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/tuning.h"

namespace redtune {

/// A field of the schedule in which the winner differs from the default.
struct KnobEffect {
  std::string knob, from, to;  // value in the default, in the winner
  /// By what the step multiplies the time, by an additive model of the logarithm of time over all timed trials. Levels
  /// that were seen once or twice are pulled towards 1.
  double factor = 1;
};

/// A trial that differs from the winner in one field: a measurement, no model.
struct OneStepRival {
  std::string knob, winner, rival;
  double factor = 1;  // its time over the winner's
};

/// A term of the analytic model (an estimate) in both.
struct CostShift {
  std::string name;     // "memory"
  std::string meaning;  // "reading the input at the rate that the access pattern allows"
  double of_default = 0, of_best = 0;  // seconds
};

/// A property of both that follows from their sizes.
struct FactShift {
  std::string name;
  double of_default = 0, of_best = 0;
};

struct RunExplanation {
  std::size_t timed = 0;
  Schedule best;
  double best_seconds = 0, bytes_per_second = 0;
  std::optional<Schedule> default_schedule;  // nothing when it gave no time
  double default_seconds = 0;
  bool default_won = false;

  std::optional<Schedule> runner_up;
  double runner_up_seconds = 0;
  bool tied = false;                       // the intervals of winner and runner-up overlap
  std::vector<std::string> apart;          // fields in which they differ: "vec 16 instead of 4"

  std::vector<KnobEffect> knobs;           // most worth first
  double together = 1;                     // what the knobs do only together, and what the model misses
  double explained = 0;                    // share of the variance of log(time) that the additive model explains
  std::vector<OneStepRival> one_step;      // most instructive first: per field the best other value
  std::vector<CostShift> costs;            // largest loss of the default first
  double model_default = 0, model_best = 0;  // totals of the analytic model, seconds
  std::vector<FactShift> facts;            // that differ by half or more
};

/// `result` must have a best.
RunExplanation explain_run(const TuneResult& result);

}  // namespace redtune
