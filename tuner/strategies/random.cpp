#include <unordered_map>

#include "support/rng.h"
#include "tuner/strategies/strategies.h"

namespace redtune {
namespace {

// A shuffle whose untouched places are not stored: cost by what is drawn, not by the size of the space.
class Random : public SearchStrategy {
 public:
  Random(std::size_t size, std::uint64_t seed) : size_(size), seen_(size, false), rng_(seed) {}

  std::vector<std::size_t> propose(std::size_t limit) override {
    std::vector<std::size_t> batch;
    while (drawn_ < size_ && batch.size() < limit) {
      const std::size_t place = drawn_ + static_cast<std::size_t>(rng_.below(size_ - drawn_));
      const std::size_t index = at(place);
      moved_[place] = at(drawn_);
      moved_.erase(drawn_++);
      if (!seen_[index]) batch.push_back(index);
    }
    return batch;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& result : results) seen_[result.index] = true;
  }

 private:
  std::size_t at(std::size_t place) const {
    const auto found = moved_.find(place);
    return found == moved_.end() ? place : found->second;
  }

  std::size_t size_, drawn_ = 0;
  std::vector<bool> seen_;
  Rng rng_;
  std::unordered_map<std::size_t, std::size_t> moved_;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_random(const DiscreteSpace& space, std::uint64_t seed) {
  return std::make_unique<Random>(space.size(), seed);
}

}  // namespace redtune
