// Schedules in, outcomes out: the seam between the search and whatever answers it - a live device, a replayed log, a
// fake for fault tests.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "logs/outcome.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

/// How the wall time of a run was spent, in seconds. `other` is what the caller spends outside evaluate().
struct TimeSplit {
  double compiling = 0, measuring = 0, other = 0;
};

struct Candidate {
  Schedule schedule;
  Program program;
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;

  /// Evaluates a batch: compiles on all cores, measures one at a time. Calls `done` once per candidate, in any order,
  /// as soon as its outcome is known; calls `starting` before each first launch. Returns early, leaving the rest
  /// unevaluated, when `stop` turns true.
  struct Callbacks {
    std::function<void(std::size_t)> starting;
    std::function<void(std::size_t, const Outcome&)> done;
    std::function<bool()> stop;
  };
  virtual void evaluate(std::span<const Candidate> batch, const Callbacks& callbacks) = 0;

  /// Median seconds of the best schedule so far: deadlines and early dropping derive from it. 0: none yet.
  virtual void set_best(double seconds) = 0;

  virtual const TimeSplit& split() const = 0;
};

}  // namespace redtune
