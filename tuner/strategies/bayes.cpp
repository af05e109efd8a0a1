// The default: Bayesian optimisation with a Gaussian process.
//
// 1. Spread: a handful of points far from each other, among them rather dyadic sizes than others, and rather
//    points that the guess of a model (if there is one) takes for fast.
// 2. Step: the point with the largest expected improvement. What is improved is speed relative to the best so
//    far, to a small power: a logarithm would spend itself on telling bad from very bad, speed itself ignores
//    all but the best. A batch goes on as if its points had given what was predicted.
//    Coarse before fine: the first trials keep to sizes that are powers of two, which hardware likes and which
//    show where the good region is.
// 3. Behind kMostPoints measured points the process learns no more; its order by optimistic estimate is
//    followed, and every fourth point is random, so that a long run ends in having tried everything.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "support/rng.h"
#include "tuner/strategies/gaussian_process.h"
#include "tuner/strategies/strategies.h"

namespace redtune {
namespace {

constexpr std::size_t kSpread = 6;
constexpr std::size_t kSpreadPool = 16;      // candidates per spread point, of which the farthest is taken
constexpr std::size_t kGuessTournament = 8;  // draws per candidate, of which the best guess is taken
constexpr std::size_t kDrawings = 2000;
constexpr std::size_t kCoarseTrials = 24;  // on the grid of dyadic sizes, where that has kLeastCoarse points
constexpr std::size_t kLeastCoarse = 100;
constexpr double kPower = 0.3;
constexpr double kFailureQuantile = 0.9;  // a failure counts as the point that so many are better than
constexpr std::size_t kMostPoints = 320;
constexpr std::size_t kMostCandidates = 16384;  // in larger spaces a sample, and what surrounds the best few
constexpr std::size_t kRandomEvery = 4;

double normal_density(double x) { return std::exp(-0.5 * x * x) * 0.3989422804014327; }
double normal_share(double x) { return 0.5 * std::erfc(-x * 0.7071067811865476); }

// Grows with the expected improvement; far below the best it still orders points, where the expectation
// underflows.
double improvement(double best, double mean, double deviation) {
  const double z = (best - mean) / deviation;
  if (z < -6) return -1e6 + z;
  return (best - mean) * normal_share(z) + deviation * normal_density(z);
}

std::size_t points_between_fits(std::size_t points) { return points < 16 ? 1 : points < 64 ? 4 : 12; }

class Bayes : public SearchStrategy {
 public:
  Bayes(const DiscreteSpace& space, std::uint64_t seed)
      : space_(space), rng_(seed), process_(space), visited_(space.size(), false), unvisited_(space.size()) {
    add_first_candidates();
    find_coarse_points();
  }

  std::vector<std::size_t> propose(std::size_t limit) override {
    std::vector<std::size_t> batch;
    if (unvisited_ == 0 || limit == 0) return batch;
    if (points_.size() >= kSpread) fit_when_due();
    while (batch.size() < limit && unvisited_ > 0) {
      const std::size_t point = next();
      visit(point);
      batch.push_back(point);
      if (process_.size() < kMostPoints) {
        points_.push_back(point);
        process_.add(static_cast<std::uint32_t>(point));
      }
    }
    return batch;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& result : results) {
      visit(result.index);
      const double seconds = result.timed() ? result.outcome->median_seconds : 0;
      if (seconds > 0 && (best_seconds_ == 0 || seconds < best_seconds_)) {
        best_seconds_ = seconds;
        elites_.push_back(result.index);
      }
      take(result.index, seconds);
    }
    process_.set_values(values());
    add_around_elites();
  }

 private:
  void visit(std::size_t point) {
    if (!visited_[point]) --unvisited_;
    visited_[point] = true;
  }

  // The process wants points with values first, in the order of their values.
  void take(std::size_t point, double seconds) {
    const std::size_t place = seconds_.size();
    if (place < points_.size() && points_[place] == point) {
      seconds_.push_back(seconds);
      return;
    }
    const auto pending =
        std::find(points_.begin() + static_cast<std::ptrdiff_t>(place), points_.end(), point);
    if (pending == points_.end() && points_.size() >= kMostPoints) return;
    if (pending != points_.end()) points_.erase(pending);
    points_.insert(points_.begin() + static_cast<std::ptrdiff_t>(place), point);
    seconds_.push_back(seconds);
    process_.condition_on({points_.begin(), points_.end()});
  }

  std::vector<double> values() const {
    std::vector<double> values;
    for (double seconds : seconds_) {
      if (seconds > 0) values.push_back(-std::pow(best_seconds_ / seconds, kPower));
    }
    double failed = 0;
    if (!values.empty()) {
      const auto rank = static_cast<std::size_t>(kFailureQuantile * static_cast<double>(values.size()));
      std::vector<double> sorted = values;
      std::sort(sorted.begin(), sorted.end());
      failed = sorted[std::min(rank, sorted.size() - 1)];
    }
    std::vector<double> all;
    std::size_t worked = 0;
    for (double seconds : seconds_) all.push_back(seconds > 0 ? values[worked++] : failed);
    return all;
  }

  void fit_when_due() {
    if (seconds_.size() < next_fit_ || process_.size() >= kMostPoints) return;
    process_.fit(seconds_.size() < 40 ? 2 : 1);
    next_fit_ = seconds_.size() + points_between_fits(seconds_.size());
  }

  std::size_t next() {
    if (points_.size() < kSpread) return spread();
    if (process_.size() >= kMostPoints && ++late_ % kRandomEvery == 0) return random_unvisited();
    const bool learning = process_.size() < kMostPoints;
    const double best = best_value();
    std::optional<std::size_t> chosen;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < process_.candidates().size(); ++c) {
      const std::size_t point = process_.candidates()[c];
      if (!allowed(point)) continue;
      const double mean = process_.mean(c), deviation = process_.deviation(c);
      const double worth = learning ? improvement(best, mean, deviation) : deviation - mean;
      if (worth > most) {
        most = worth;
        chosen = point;
      }
    }
    return chosen ? *chosen : random_unvisited();
  }

  double best_value() const { return best_seconds_ > 0 ? -1 : 0; }

  std::size_t random_unvisited() {
    for (std::size_t i = 0; i < kDrawings; ++i) {
      const std::size_t point = rng_.below(space_.size());
      if (!visited_[point]) return point;
    }
    std::size_t skip = rng_.below(unvisited_), point = 0;
    while (visited_[point] || skip-- > 0) ++point;
    return point;
  }

  // Where there is a guess every other point, the first to begin with, is what it takes for the fastest.
  std::size_t spread() {
    const bool guessed = !space_.guess().empty();
    if (guessed && turn_++ % 2 == 0) return best_guessed(kSpreadPool * kGuessTournament);
    std::optional<std::size_t> farthest;
    double most = -1;
    for (std::size_t i = 0; i < kSpreadPool; ++i) {
      const std::size_t point = guessed ? best_guessed(kGuessTournament) : drawn_point();
      if (points_.empty()) return point;
      double distance = std::numeric_limits<double>::infinity();
      for (std::size_t other : points_) distance = std::min(distance, distance_between(point, other));
      if (distance > most) {
        most = distance;
        farthest = point;
      }
    }
    return *farthest;
  }

  std::size_t best_guessed(std::size_t draws) {
    std::size_t best = drawn_point();
    for (std::size_t i = 1; i < draws; ++i) {
      const std::size_t other = drawn_point();
      if (space_.guess()[other] < space_.guess()[best]) best = other;
    }
    return best;
  }

  // An unvisited point, of the coarse grid while that is searched.
  std::size_t drawn_point() {
    for (std::size_t i = 0; i < kDrawings; ++i) {
      const std::size_t point = rng_.below(space_.size());
      if (allowed(point)) return point;
    }
    return random_unvisited();
  }

  bool allowed(std::size_t point) const {
    return !visited_[point] && (coarse_.empty() || points_.size() >= kCoarseTrials || coarse_[point]);
  }

  void find_coarse_points() {
    std::size_t count = 0;
    coarse_.assign(space_.size(), true);
    for (std::size_t i = 0; i < space_.size(); ++i) {
      const auto levels = space_.levels(i);
      for (std::size_t d = 0; d < levels.size(); ++d) {
        const Dimension& dimension = space_.dimensions()[d];
        if (!dimension.dyadic.empty() && !dimension.dyadic[levels[d]]) coarse_[i] = false;
      }
      count += coarse_[i] ? 1 : 0;
    }
    if (count < kLeastCoarse) coarse_.clear();
  }

  double distance_between(std::size_t a, std::size_t b) const {
    const auto x = space_.levels(a), y = space_.levels(b);
    double sum = 0;
    for (std::size_t d = 0; d < x.size(); ++d) {
      const Dimension& dimension = space_.dimensions()[d];
      const double step =
          dimension.ordered ? dimension.places[x[d]] - dimension.places[y[d]] : (x[d] == y[d] ? 0 : 1);
      sum += step * step;
    }
    return sum;
  }

  void add_first_candidates() {
    std::vector<std::uint32_t> points(space_.size());
    std::iota(points.begin(), points.end(), 0u);
    if (points.size() > kMostCandidates) {
      for (std::size_t i = 0; i < kMostCandidates; ++i)
        std::swap(points[i], points[i + rng_.below(points.size() - i)]);
      points.resize(kMostCandidates);
      is_candidate_.assign(space_.size(), false);
      for (std::uint32_t point : points) is_candidate_[point] = true;
    }
    process_.add_candidates(points);
  }

  void add_around_elites() {
    if (is_candidate_.empty()) {
      elites_.clear();
      return;
    }
    std::vector<std::uint32_t> fresh;
    for (std::size_t elite : elites_) {
      for (std::size_t point : space_.moves(elite)) {
        if (is_candidate_[point]) continue;
        is_candidate_[point] = true;
        fresh.push_back(static_cast<std::uint32_t>(point));
      }
    }
    elites_.clear();
    if (!fresh.empty()) process_.add_candidates(fresh);
  }

  const DiscreteSpace& space_;
  Rng rng_;
  GaussianProcess process_;
  std::vector<bool> visited_, is_candidate_, coarse_;
  std::size_t unvisited_, next_fit_ = 0, late_ = 0, turn_ = 0;
  std::vector<std::size_t> points_;  // of the process: with a value, then proposed
  std::vector<double> seconds_;      // 0: failed
  double best_seconds_ = 0;
  std::vector<std::size_t> elites_;  // best so far, their surroundings not yet looked at
};

}  // namespace

std::unique_ptr<SearchStrategy> make_bayes(const DiscreteSpace& space, std::uint64_t seed) {
  return std::make_unique<Bayes>(space, seed);
}

}  // namespace redtune
