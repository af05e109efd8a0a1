// Gradient-boosted trees that learn the space at hand: each round they are trained on all that was measured
// and score the whole space. Of a batch most are the best predicted ones that differ from each other in at
// least two dimensions, a share explores at random.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "cost_model/boosted_trees.h"
#include "support/error.h"
#include "support/rng.h"
#include "tuner/strategies/strategies.h"
#include "tuner/strategies/unvisited.h"

namespace redtune {
namespace {

constexpr std::size_t kFirst = 12;        // random points before there is anything to learn
constexpr std::size_t kRetrainEvery = 4;  // observations
constexpr double kExploringShare = 0.1;
constexpr std::size_t kLeastDifference = 2;  // dimensions in which the points of a batch differ
constexpr double kSpeedPower = 0.5;          // of the speed relative to the best: see bayes.cpp

class ModelGuided : public SearchStrategy {
 public:
  ModelGuided(const DiscreteSpace& space, std::uint64_t seed)
      : space_(space), rng_(seed), seed_(seed), open_(space.size()) {
    if (!BoostedTrees::available()) {
      throw UserError(
          "strategy 'model' needs XGBoost, which this redtune was built without; take --strategy bayes");
    }
    if (!space.guess().empty()) scores_.assign(space.guess().begin(), space.guess().end());
  }

  std::vector<std::size_t> propose(std::size_t limit) override {
    if (rows_.size() >= kFirst && rows_.size() >= trained_ + kRetrainEvery) train();
    std::vector<std::size_t> batch;
    while (batch.size() < limit && !open_.empty()) {
      const bool explores = scores_.empty() || rng_.uniform() < kExploringShare;
      const std::size_t point = explores ? open_.random(rng_) : best_predicted(batch);
      open_.visit(point);
      batch.push_back(point);
    }
    return batch;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& result : results) {
      open_.visit(result.index);
      if (!result.timed()) continue;  // a failure is no label
      rows_.push_back(result.index);
      seconds_.push_back(result.outcome->median_seconds);
    }
  }

 private:
  void train() {
    const std::size_t columns = space_.feature_names().size();
    if (columns == 0) return;
    const double best = *std::min_element(seconds_.begin(), seconds_.end());
    std::vector<float> features, labels;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto row = space_.features().subspan(rows_[i] * columns, columns);
      features.insert(features.end(), row.begin(), row.end());
      labels.push_back(static_cast<float>(std::pow(best / seconds_[i], kSpeedPower)));
    }
    TreeOptions options;
    options.rounds = 60;
    options.leaf_weight = 1;
    options.threads = 1;
    options.seed = seed_ + rows_.size();
    BoostedTrees trees(options);
    trees.train(features, columns, labels, {});
    scores_ = trees.predict(space_.features(), columns);
    for (float& score : scores_) score = -score;
    trained_ = rows_.size();
  }

  std::size_t differences(std::size_t a, std::size_t b) const {
    const auto x = space_.levels(a), y = space_.levels(b);
    return static_cast<std::size_t>(std::inner_product(x.begin(), x.end(), y.begin(), 0, std::plus<>(),
                                                       [](auto p, auto q) { return p != q; }));
  }

  // The best unvisited one that differs from the batch; the best of all when none does.
  std::size_t best_predicted(const std::vector<std::size_t>& batch) {
    std::size_t best = space_.size(), best_different = space_.size();
    for (std::size_t i = 0; i < space_.size(); ++i) {
      if (open_.visited(i)) continue;
      if (best == space_.size() || scores_[i] < scores_[best]) best = i;
      if (best_different != space_.size() && scores_[i] >= scores_[best_different]) continue;
      const bool differs = std::all_of(batch.begin(), batch.end(), [&](std::size_t other) {
        return differences(i, other) >= kLeastDifference;
      });
      if (differs) best_different = i;
    }
    return best_different != space_.size() ? best_different : best;
  }

  const DiscreteSpace& space_;
  Rng rng_;
  std::uint64_t seed_;
  Unvisited open_;
  std::vector<float> scores_;  // smaller is better; empty: nothing is known
  std::vector<std::size_t> rows_;
  std::vector<double> seconds_;
  std::size_t trained_ = 0;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_model(const DiscreteSpace& space, std::uint64_t seed) {
  return std::make_unique<ModelGuided>(space, seed);
}

}  // namespace redtune
