// Evolution: a small population of the best points; children take each dimension from one of two parents, and
// now and then move on to a neighbour.
#include <algorithm>
#include <utility>

#include "support/rng.h"
#include "tuner/strategies/strategies.h"
#include "tuner/strategies/unvisited.h"

namespace redtune {
namespace {

constexpr std::size_t kPopulation = 16;
constexpr double kMutation = 0.5;  // chance of a move after the crossing
constexpr int kTries = 20;         // for a child that is legal and new
constexpr double kRandomShare = 0.05;

class Evolutionary : public SearchStrategy {
 public:
  Evolutionary(const DiscreteSpace& space, std::uint64_t seed)
      : space_(space), rng_(seed), open_(space.size()) {}

  std::vector<std::size_t> propose(std::size_t limit) override {
    std::vector<std::size_t> batch;
    while (batch.size() < limit && !open_.empty()) {
      const bool fresh = asked_ < kPopulation || population_.size() < 2 || rng_.uniform() < kRandomShare;
      const std::size_t point = fresh ? open_.random(rng_) : child();
      ++asked_;
      open_.visit(point);
      batch.push_back(point);
    }
    return batch;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& result : results) {
      open_.visit(result.index);
      if (result.timed()) population_.emplace_back(result.outcome->median_seconds, result.index);
    }
    std::sort(population_.begin(), population_.end());
    if (population_.size() > kPopulation) population_.resize(kPopulation);
  }

 private:
  // The better of two drawn at random.
  std::size_t parent() {
    return population_[std::min(rng_.below(population_.size()), rng_.below(population_.size()))].second;
  }

  std::size_t child() {
    for (int i = 0; i < kTries; ++i) {
      const std::size_t mother = parent();
      const auto a = space_.levels(mother), b = space_.levels(parent());
      std::vector<std::uint16_t> levels(a.begin(), a.end());
      for (std::size_t d = 0; d < levels.size(); ++d) {
        if (rng_.below(2) == 0) levels[d] = b[d];
      }
      std::size_t point = space_.find(levels).value_or(mother);
      if (open_.visited(point) || rng_.uniform() < kMutation) {
        const std::vector<std::size_t> moves = space_.moves(point, 2);
        if (!moves.empty()) point = moves[rng_.below(moves.size())];
      }
      if (!open_.visited(point)) return point;
    }
    return open_.random(rng_);
  }

  const DiscreteSpace& space_;
  Rng rng_;
  Unvisited open_;
  std::size_t asked_ = 0;
  std::vector<std::pair<double, std::size_t>> population_;  // seconds, point; best first
};

}  // namespace

std::unique_ptr<SearchStrategy> make_evolutionary(const DiscreteSpace& space, std::uint64_t seed) {
  return std::make_unique<Evolutionary>(space, seed);
}

}  // namespace redtune
