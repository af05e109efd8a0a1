#include "tuner/portfolio/selection.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "support/error.h"

namespace redtune {
namespace {

constexpr double kRegretStep = 0.005;

using Members = std::vector<std::size_t>;

// What a set of candidates is worth.
struct Quality {
  std::size_t uncovered = 0;
  double worst = 0, mean = 0;

  auto exact() const { return std::tuple(uncovered, worst, mean); }
  auto rounded() const { return std::tuple(uncovered, std::round(worst / kRegretStep), std::round(mean / kRegretStep)); }
};

// `least`: per shape the least regret among the members.
Quality quality_of(const std::vector<double>& least) {
  Quality quality;
  double sum = 0;
  for (double regret : least) {
    if (std::isinf(regret)) {
      ++quality.uncovered;
      continue;
    }
    quality.worst = std::max(quality.worst, regret);
    sum += regret;
  }
  const std::size_t covered = least.size() - quality.uncovered;
  if (covered > 0) quality.mean = sum / static_cast<double>(covered);
  return quality;
}

class Chooser {
 public:
  Chooser(const RegretMatrix& regret, std::size_t kernels)
      : regret_(regret), candidates_(regret.front().size()), kernels_(std::min(kernels, candidates_)) {}

  double steps_of_all() const {
    double sets = 0, of_size = 1;
    for (std::size_t size = 1; size <= kernels_; ++size) {
      of_size *= static_cast<double>(candidates_ - size + 1) / static_cast<double>(size);
      sets += of_size;
    }
    return sets * static_cast<double>(regret_.size());
  }

  Members best_of_all() {
    extend({}, std::vector<double>(regret_.size(), kCannotServe), 0);
    return best_;
  }

  Members greedy() const {
    Members members;
    while (members.size() < kernels_) {
      Members best;
      for (std::size_t c = 0; c < candidates_; ++c) {
        if (std::find(members.begin(), members.end(), c) != members.end()) continue;
        Members more = members;
        more.insert(std::upper_bound(more.begin(), more.end(), c), c);
        if (best.empty() || quality(more).exact() < quality(best).exact()) best = std::move(more);
      }
      members = std::move(best);
    }
    while (exchange(members)) {
    }
    while (drop_one(members)) {
    }
    return members;
  }

  std::vector<double> least_of(const Members& members) const {
    std::vector<double> least(regret_.size(), kCannotServe);
    for (std::size_t member : members) least = with(least, member);
    return least;
  }

 private:
  std::vector<double> with(std::vector<double> least, std::size_t candidate) const {
    for (std::size_t s = 0; s < least.size(); ++s) least[s] = std::min(least[s], regret_[s][candidate]);
    return least;
  }
  Quality quality(const Members& members) const { return quality_of(least_of(members)); }

  // Every set that has `members` as its lowest ones; sets of one size come in lexicographic order, so the
  // first of equals has the simplest members.
  void extend(const Members& members, const std::vector<double>& least, std::size_t from) {
    if (members.size() == kernels_) return;
    for (std::size_t c = from; c < candidates_; ++c) {
      Members more = members;
      more.push_back(c);
      const std::vector<double> now = with(least, c);
      const Quality quality = quality_of(now);
      const auto rank = std::tuple(quality.rounded(), more.size());
      if (best_.empty() || rank < std::tuple(best_quality_.rounded(), best_.size())) {
        best_ = more;
        best_quality_ = quality;
      }
      extend(more, now, c + 1);
    }
  }

  // The best exchange of one member for another, if it is better than none.
  bool exchange(Members& members) const {
    Members best = members;
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t c = 0; c < candidates_; ++c) {
        if (std::find(members.begin(), members.end(), c) != members.end()) continue;
        Members other = members;
        other[i] = c;
        std::sort(other.begin(), other.end());
        if (quality(other).exact() < quality(best).exact()) best = std::move(other);
      }
    }
    const bool better = best != members;
    members = std::move(best);
    return better;
  }

  // From the least simple one on: whoever is not missed goes.
  bool drop_one(Members& members) const {
    for (std::size_t i = members.size(); members.size() > 1 && i-- > 0;) {
      Members fewer = members;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (quality(members).rounded() < quality(fewer).rounded()) continue;
      members = std::move(fewer);
      return true;
    }
    return false;
  }

  const RegretMatrix& regret_;
  std::size_t candidates_, kernels_;
  Members best_;
  Quality best_quality_;
};

}  // namespace

Selection select_portfolio(const RegretMatrix& regret, std::size_t kernels, double most_steps) {
  RT_CHECK(kernels > 0, "a portfolio of no kernels");
  Selection result;
  result.server.resize(regret.size());
  result.uncovered = regret.size();
  result.exhaustive = true;
  if (regret.empty() || regret.front().empty()) return result;
  Chooser chooser(regret, kernels);
  result.exhaustive = chooser.steps_of_all() <= most_steps;
  const Members members = result.exhaustive ? chooser.best_of_all() : chooser.greedy();
  const Quality quality = quality_of(chooser.least_of(members));
  result.uncovered = quality.uncovered;
  result.worst = quality.worst;
  result.mean = quality.mean;
  for (std::size_t s = 0; s < regret.size(); ++s) {
    for (std::size_t member : members) {
      if (std::isinf(regret[s][member])) continue;
      if (!result.server[s] || regret[s][member] < regret[s][*result.server[s]]) result.server[s] = member;
    }
  }
  for (std::size_t member : members) {
    const bool serves =
        std::any_of(result.server.begin(), result.server.end(), [&](const auto& s) { return s == member; });
    if (serves) result.members.push_back(member);
  }
  return result;
}

}  // namespace redtune
