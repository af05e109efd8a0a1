// Simulated annealing: a walk over neighbours that also goes uphill, less so as it cools; it starts anew from
// the best point when it is frozen.
#include <cmath>

#include "support/rng.h"
#include "tuner/strategies/strategies.h"
#include "tuner/strategies/unvisited.h"

namespace redtune {
namespace {

constexpr std::size_t kStarts = 8;  // random points; the walk begins at the best of them
// Temperatures are logarithms of time: at the start a step to 1.65 times the time is taken with a chance of
// 1/e.
constexpr double kHot = 0.5, kCold = 0.02, kCooling = 0.97;

class Annealing : public SearchStrategy {
 public:
  Annealing(const DiscreteSpace& space, std::uint64_t seed)
      : space_(space), rng_(seed), open_(space.size()) {}

  std::vector<std::size_t> propose(std::size_t limit) override {
    std::vector<std::size_t> batch;
    while (batch.size() < limit && !open_.empty()) {
      const std::size_t point = started_ < kStarts ? open_.random(rng_) : step();
      ++started_;
      open_.visit(point);
      batch.push_back(point);
    }
    return batch;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& result : results) {
      open_.visit(result.index);
      if (!result.timed()) continue;
      const double value = std::log(result.outcome->median_seconds);
      const bool first = !walking_;
      if (first || value < best_value_) {
        best_ = result.index;
        best_value_ = value;
      }
      if (first || value < value_ ||
          (started_ > kStarts && rng_.uniform() < std::exp((value_ - value) / temperature_))) {
        here_ = result.index;
        value_ = value;
      }
      walking_ = true;
      if (started_ > kStarts) cool();
    }
  }

 private:
  void cool() {
    temperature_ *= kCooling;
    if (temperature_ > kCold) return;
    temperature_ = kHot;
    here_ = best_;
    value_ = best_value_;
  }

  std::size_t step() {
    if (!walking_) return open_.random(rng_);
    for (std::size_t reach = 1; reach <= 2; ++reach) {
      std::vector<std::size_t> near = space_.neighbours(here_, reach);
      std::erase_if(near, [&](std::size_t point) { return open_.visited(point); });
      if (!near.empty()) return near[rng_.below(near.size())];
    }
    return open_.random(rng_);
  }

  const DiscreteSpace& space_;
  Rng rng_;
  Unvisited open_;
  std::size_t started_ = 0, here_ = 0, best_ = 0;
  double value_ = 0, best_value_ = 0, temperature_ = kHot;
  bool walking_ = false;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_annealing(const DiscreteSpace& space, std::uint64_t seed) {
  return std::make_unique<Annealing>(space, seed);
}

}  // namespace redtune
