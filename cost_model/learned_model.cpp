#include "cost_model/learned_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cost_model/features.h"
#include "cost_model/ranking_metrics.h"
#include "support/error.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/json.h"
#include "support/rng.h"

namespace redtune {
namespace {

constexpr int kMostRounds = 400, kCheckEvery = 10, kPatience = 40;
constexpr std::size_t kHeldOutOneIn = 5;    // tasks, or rows of a single task
constexpr std::size_t kTasksToHoldOut = 3;  // with fewer, rows are held out
constexpr std::size_t kCheckedRows = 400;   // per task: the accuracy looks at pairs
constexpr std::string_view kKind = "redtune_model";
constexpr int kVersion = 1;

struct Rows {
  std::vector<float> features, labels;
  std::vector<double> seconds;
  std::vector<unsigned> groups;

  void begin_group() { groups.push_back(0); }
  void add(const TaskSamples& task, std::size_t row, double fastest) {
    const std::size_t columns = features_count();
    const auto begin = task.features.begin() + static_cast<std::ptrdiff_t>(row * columns);
    features.insert(features.end(), begin, begin + static_cast<std::ptrdiff_t>(columns));
    labels.push_back(static_cast<float>(-std::log(task.seconds[row] / fastest)));
    seconds.push_back(task.seconds[row]);
    ++groups.back();
  }
  static std::size_t features_count() { return redtune::features().size(); }
};

double accuracy(const Rows& rows, const std::vector<float>& scores) {
  double sum = 0;
  std::size_t begin = 0, counted = 0;
  for (unsigned size : rows.groups) {
    // Evenly thinned: the number of pairs grows with the square.
    std::vector<float> predicted;
    std::vector<double> seconds;
    const std::size_t stride = 1 + size / kCheckedRows;
    for (std::size_t i = 0; i < size; i += stride) {
      predicted.push_back(-scores[begin + i]);
      seconds.push_back(rows.seconds[begin + i]);
    }
    if (predicted.size() >= 2) {
      sum += pairwise_accuracy(predicted, seconds);
      ++counted;
    }
    begin += size;
  }
  return counted == 0 ? 1 : sum / static_cast<double>(counted);
}

struct Split {
  Rows training, held_out;
  std::string description;
};

Split split_rows(const std::vector<const TaskSamples*>& tasks, std::uint64_t seed) {
  Split split;
  Rng rng(seed);
  const bool whole_tasks = tasks.size() >= kTasksToHoldOut;
  std::vector<std::size_t> order(tasks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  const std::size_t held = whole_tasks ? std::max<std::size_t>(1, tasks.size() / kHeldOutOneIn) : 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const TaskSamples& task = *tasks[order[i]];
    const double fastest = *std::min_element(task.seconds.begin(), task.seconds.end());
    split.training.begin_group();
    split.held_out.begin_group();
    for (std::size_t row = 0; row < task.seconds.size(); ++row) {
      const bool out =
          whole_tasks ? i < held : task.seconds.size() >= 2 * kHeldOutOneIn && rng.below(kHeldOutOneIn) == 0;
      (out ? split.held_out : split.training).add(task, row, fastest);
    }
    for (Rows* rows : {&split.training, &split.held_out}) {
      if (rows->groups.back() == 0) rows->groups.pop_back();
    }
  }
  split.description = whole_tasks ? std::to_string(held) + " of " + std::to_string(tasks.size()) + " tasks"
                      : split.held_out.seconds.empty() ? "nothing"
                                                       : "a fifth of the rows";
  return split;
}

}  // namespace

LearnedModel LearnedModel::train(const std::vector<TaskSamples>& samples, const TreeOptions& options,
                                 TrainingReport* report) {
  std::vector<const TaskSamples*> tasks;
  std::size_t rows = 0;
  for (const TaskSamples& task : samples) {
    RT_CHECK(task.features.size() == task.seconds.size() * Rows::features_count(),
             "a row of features for each time");
    if (task.seconds.size() < 2) continue;
    tasks.push_back(&task);
    rows += task.seconds.size();
  }
  if (tasks.empty()) throw UserError("nothing to learn from: no task has two schedules that were timed");
  const Split split = split_rows(tasks, options.seed);
  TreeOptions tree_options = options;
  tree_options.rounds = kMostRounds;
  BoostedTrees trees(tree_options);
  int best_round = options.rounds;
  double best = -1;
  const bool judged = !split.held_out.seconds.empty();
  trees.train(split.training.features, Rows::features_count(), split.training.labels, split.training.groups,
              [&](int round) {
                if (!judged) return round + 1 < options.rounds;
                if ((round + 1) % kCheckEvery != 0) return true;
                const double now =
                    accuracy(split.held_out, trees.predict(split.held_out.features, Rows::features_count()));
                if (now > best + 1e-4) {
                  best = now;
                  best_round = round + 1;
                }
                return round + 1 - best_round < kPatience;
              });
  if (report != nullptr) *report = {tasks.size(), rows, best_round, std::max(best, 0.0), split.description};
  return LearnedModel(std::move(trees), best_round, options.objective);
}

std::vector<float> LearnedModel::predict(std::span<const float> rows) const {
  std::vector<float> scores = trees_.predict(rows, Rows::features_count(), rounds_);
  for (float& score : scores) score = -score;
  return scores;
}

void LearnedModel::save(const std::string& path) const {
  const std::string bytes = trees_.save();
  Json head = Json::object();
  head[std::string(kKind)] = kVersion;
  head["features"] = feature_schema();
  head["objective"] = name(objective_);
  head["rounds"] = rounds_;
  head["bytes"] = bytes.size();
  head["hash"] = hex64(hash64(bytes));
  write_file_atomically(path, head.dump() + "\n" + bytes);
}

LearnedModel LearnedModel::load(const std::string& path) {
  const std::string text = read_file(path);
  const std::size_t end = text.find('\n');
  if (!text.starts_with("{\"" + std::string(kKind) + "\":") || end == std::string::npos) {
    throw UserError(path + ": is no model of redtune; make one with `redtune train LOG... -o MODEL`");
  }
  const Json json = parse_json(std::string_view(text).substr(0, end), path);
  JsonObject head(json, path);
  const std::int64_t version = head.get_int(std::string(kKind));
  if (version != kVersion) {
    head.fail(std::string(kKind), "is version " + std::to_string(version) + ", this redtune reads " +
                                      std::to_string(kVersion) + "; train the model again");
  }
  if (head.get_string("features") != feature_schema()) {
    head.fail("features", "is schema " + head.get_string("features") + ", this redtune has " +
                              feature_schema() + "; train the model again with `redtune train`");
  }
  const Objective objective = parse_objective(head.get_string("objective"));
  const std::int64_t rounds = head.get_int("rounds");
  if (rounds < 1) head.fail("rounds", "must be at least 1");
  const std::string bytes = text.substr(end + 1);
  if (static_cast<std::int64_t>(bytes.size()) != head.get_int("bytes") ||
      hex64(hash64(bytes)) != head.get_string("hash")) {
    throw UserError(path + ": is torn or was changed (size or hash differs); train the model again");
  }
  return LearnedModel(BoostedTrees::load(bytes), static_cast<int>(rounds), objective);
}

std::vector<float> predict_schedules(const LearnedModel& model, const Task& task,
                                     std::span<const Schedule> schedules) {
  return model.predict(feature_matrix(task, schedules));
}

}  // namespace redtune
