// An evaluator without a device: a function answers for each schedule. For tests of the loop and its faults.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure/evaluator.h"

namespace redtune {

inline Outcome timed_outcome(double seconds, double noise = 0.001) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kTimed;
  for (int i = 0; i < 9; ++i) outcome.seconds.push_back(seconds * (1 + noise * (i - 4) / 4));
  outcome.median_seconds = seconds;
  outcome.low_seconds = seconds * (1 - noise / 2);
  outcome.high_seconds = seconds * (1 + noise / 2);
  outcome.spread = noise / 2;
  outcome.kernel_seconds = seconds;
  return outcome;
}

inline Outcome failed_outcome(OutcomeKind kind, const std::string& detail) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.detail = detail;
  return outcome;
}

class FakeEvaluator : public Evaluator {
 public:
  /// Asked with the schedule and how often it was asked before.
  using Answer = std::function<Outcome(const Schedule&, int)>;

  explicit FakeEvaluator(Answer answer, std::vector<std::string>* evaluated = nullptr)
      : answer_(std::move(answer)), evaluated_(evaluated) {}

  void evaluate(std::span<const Candidate> batch, const Callbacks& callbacks) override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (callbacks.stop && callbacks.stop()) return;
      const std::string text = batch[i].schedule.text();
      if (evaluated_ != nullptr) evaluated_->push_back(text);
      if (callbacks.starting) callbacks.starting(i);
      const Outcome outcome = answer_(batch[i].schedule, asked_[text]++);
      if (callbacks.done) callbacks.done(i, outcome);
    }
  }

  void set_best(double seconds) override { best = seconds; }
  const TimeSplit& split() const override { return split_; }

  double best = 0;

 private:
  Answer answer_;
  std::vector<std::string>* evaluated_;
  std::map<std::string, int> asked_;
  TimeSplit split_;
};

}  // namespace redtune
