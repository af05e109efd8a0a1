#include "tuner/strategies/strategies.h"

namespace redtune {
namespace {

class Exhaustive : public SearchStrategy {
 public:
  explicit Exhaustive(std::size_t size) : seen_(size, false) {}

  std::vector<std::size_t> propose(std::size_t limit) override {
    std::vector<std::size_t> batch;
    for (; next_ < seen_.size() && batch.size() < limit; ++next_) {
      if (!seen_[next_]) batch.push_back(next_);
    }
    return batch;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& result : results) seen_[result.index] = true;
  }

 private:
  std::vector<bool> seen_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_exhaustive(const DiscreteSpace& space, std::uint64_t) {
  return std::make_unique<Exhaustive>(space.size());
}

}  // namespace redtune
