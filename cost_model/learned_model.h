// The learned model: trees over the features of a schedule, trained on what was measured of any number of
// tasks. Predictions order the schedules of one task (smaller is faster); they are no seconds.
//
// Label of a row: -log(seconds / fastest of its task), so that tasks of all sizes weigh alike. Schedules that
// failed are not rows. Training stops early: it ends when the pairwise accuracy on groups that it does not
// see (whole tasks where there are several, else a fifth of the rows) has not improved for a while, and keeps
// the trees up to there.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cost_model/boosted_trees.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

/// Measured schedules of one task.
struct TaskSamples {
  std::string task;             // its key, for reports
  std::vector<float> features;  // row-major, one row per schedule (feature_matrix)
  std::vector<double> seconds;  // > 0
};

struct TrainingReport {
  std::size_t tasks = 0, rows = 0;
  int rounds = 0;                // kept
  double held_out_accuracy = 0;  // pairwise, on what was held out
  std::string held_out;          // "2 of 9 tasks", "a fifth of the rows"
};

class LearnedModel {
 public:
  /// At least two rows in all; throws UserError otherwise. Tasks with one row are left out.
  static LearnedModel train(const std::vector<TaskSamples>& samples, const TreeOptions& options,
                            TrainingReport* report = nullptr);

  /// One value per row, smaller is faster, in units of log(time).
  std::vector<float> predict(std::span<const float> features) const;

  /// One file: a line of JSON (what it is, feature schema, size and hash of the rest), then XGBoost's bytes.
  void save(const std::string& path) const;
  /// Throws UserError when the file cannot be read, is no model, is torn or changed, or was trained on
  /// features of another redtune.
  static LearnedModel load(const std::string& path);

 private:
  LearnedModel(BoostedTrees trees, int rounds, Objective objective)
      : trees_(std::move(trees)), rounds_(rounds), objective_(objective) {}
  BoostedTrees trees_;
  int rounds_;
  Objective objective_;
};

/// What the strategies and `--model` want: predictions for every schedule.
std::vector<float> predict_schedules(const LearnedModel& model, const Task& task,
                                     std::span<const Schedule> schedules);

}  // namespace redtune
