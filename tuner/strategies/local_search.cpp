// Local search for few trials on spaces of 10^3 to 10^5 schedules.
//
// 1. Spread: for each mapping of the space the schedule nearest to the default (a good schedule of another
// mapping is
//    seldom far from it), then points far from all chosen ones, mapping by mapping.
// 2. Step: moves from the best few measured schedules. A size alone is often the wrong step, because
// constraints and
//    the amount of work per thread tie sizes together; so there are coupled moves (rows * 2 with serial / 2),
//    longer steps, and changes of the mapping that keep the sizes as far as the new mapping allows. A
//    surrogate orders them.
// 3. A share of each batch explores: the best-looking of a random handful of the whole space, rewarded for
// being new.
//    When every move of the best few has been made, the next best take their place, so no optimum is a dead
//    end.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "space/heuristic.h"
#include "space/mappings.h"
#include "support/rng.h"
#include "tuner/strategies/strategies.h"
#include "tuner/strategies/surrogate.h"

namespace redtune {
namespace {

constexpr std::size_t kInitialTrials =
    24;                                  // the spread, default not counted; less than half of a usual budget
constexpr std::size_t kSpreadPool = 48;  // random candidates per far point
constexpr std::size_t kNearestScan =
    16384;  // schedules looked at for the nearest of a mapping: bounds the cost
constexpr std::size_t kElites = 3;
constexpr std::size_t kMinimumMoves = 12;  // fewer open moves than this: more elites
constexpr double kExploringShare = 0.15;
constexpr std::size_t kExploringPool = 256;
// What one doubling of distance to the nearest known schedule is worth, as a factor of time (log): small for
// steps.
constexpr double kStepNovelty = 0.02, kExploringNovelty = 0.15;
// Beyond this factor of the best, how bad something is teaches nothing; a failure counts as this bad.
const double kWorstLog = std::log(20.0);

constexpr std::int32_t Schedule::*kSizes[] = {&Schedule::rx,     &Schedule::px,    &Schedule::vec,
                                              &Schedule::acc,    &Schedule::items, &Schedule::rows,
                                              &Schedule::serial, &Schedule::split};

struct Seen {
  std::size_t index;
  SchedulePoint point;
  double log_seconds;  // infinity: failed
};

class LocalSearch : public SearchStrategy {
 public:
  LocalSearch(const SearchSpace& space, std::uint64_t seed)
      : space_(space), rng_(seed), visited_(space.size(), false) {
    group_by_mapping();
  }

  std::vector<std::size_t> propose(std::size_t limit) override {
    std::vector<std::size_t> batch;
    while (batch.size() < limit && spread_ < kInitialTrials) {
      ++spread_;
      if (const auto index = next_of_spread()) choose(*index, batch);
    }
    if (batch.size() < limit && unvisited_ > 0) steps(limit, batch);
    return batch;
  }

  void observe(std::span<const Observation> results) override {
    for (const Observation& result : results) {
      visit(result.index);
      const bool timed = result.outcome->timed() && result.outcome->median_seconds > 0;
      const SchedulePoint point = points_[result.index];
      seen_.push_back({result.index, point, timed ? std::log(result.outcome->median_seconds) : HUGE_VAL});
      chosen_.push_back(point);
      // What an earlier run tried has been spread already.
      if (!proposed_[result.index]) ++spread_;
    }
    std::stable_sort(seen_.begin(), seen_.end(),
                     [](const Seen& a, const Seen& b) { return a.log_seconds < b.log_seconds; });
  }

 private:
  void group_by_mapping() {
    std::map<std::pair<BlockCombine, GridCombine>, std::size_t> group_of;
    unvisited_ = space_.size();
    proposed_.assign(space_.size(), false);
    for (std::size_t i = 0; i < space_.size(); ++i) {
      const Schedule s = space_.at(i);
      const auto [place, fresh] = group_of.try_emplace({s.block, s.grid}, groups_.size());
      if (fresh) groups_.emplace_back();
      groups_[place->second].push_back(static_cast<std::uint32_t>(i));
      points_.push_back(schedule_point(s));
    }
    for (std::size_t i = 0; i < groups_.size(); ++i) order_.push_back(i);
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[rng_.below(i)]);
  }

  void visit(std::size_t index) {
    if (visited_[index]) return;
    visited_[index] = true;
    --unvisited_;
  }

  void choose(std::size_t index, std::vector<std::size_t>& batch) {
    visit(index);
    proposed_[index] = true;
    chosen_.push_back(points_[index]);
    batch.push_back(index);
  }

  std::optional<std::size_t> next_of_spread() {
    if (groups_.empty() || unvisited_ == 0) return std::nullopt;
    const std::size_t turn = turn_++;
    const std::size_t group = order_[turn % order_.size()];
    if (turn < order_.size()) return nearest(group, schedule_point(default_schedule(space_.task())));
    return farthest(group);
  }

  // The unvisited schedule of a group that is nearest to `point`.
  std::optional<std::size_t> nearest(std::size_t group, const SchedulePoint& point) const {
    std::optional<std::size_t> best;
    double best_distance = HUGE_VAL;
    const std::size_t stride = 1 + groups_[group].size() / kNearestScan;
    for (std::size_t i = 0; i < groups_[group].size(); i += stride) {
      const std::size_t index = groups_[group][i];
      if (visited_[index]) continue;
      const double distance = squared_distance(point, points_[index]);
      if (distance < best_distance) best = index, best_distance = distance;
    }
    return best;
  }

  // Of a random handful of a group, the one farthest from all that was chosen so far.
  std::optional<std::size_t> farthest(std::size_t group) {
    std::optional<std::size_t> best;
    double best_distance = -1;
    for (std::size_t i = 0; i < kSpreadPool; ++i) {
      const std::size_t index = groups_[group][rng_.below(groups_[group].size())];
      if (visited_[index]) continue;
      const SchedulePoint point = points_[index];
      double distance = HUGE_VAL;
      for (const SchedulePoint& other : chosen_)
        distance = std::min(distance, squared_distance(point, other));
      if (distance > best_distance) best = index, best_distance = distance;
    }
    return best;
  }

  void steps(std::size_t limit, std::vector<std::size_t>& batch) {
    Surrogate surrogate = fitted();
    std::set<std::size_t> open = open_moves(limit);
    while (batch.size() < limit && unvisited_ > 0) {
      const bool explores = open.empty() || rng_.uniform() < kExploringShare;
      std::vector<std::size_t> pool;
      if (explores) {
        pool = random_pool();
      } else {
        pool.assign(open.begin(), open.end());
      }
      const auto best = most_promising(surrogate, pool, explores ? kExploringNovelty : kStepNovelty);
      if (!best) return;
      surrogate.add(points_[*best]);
      open.erase(*best);
      choose(*best, batch);
    }
  }

  Surrogate fitted() const {
    Surrogate surrogate;
    std::vector<SchedulePoint> points;
    std::vector<double> values;
    const double best = seen_.empty() ? 0 : seen_.front().log_seconds;
    for (const Seen& seen : seen_) {
      points.push_back(seen.point);
      values.push_back(std::isfinite(best) ? std::min(seen.log_seconds - best, kWorstLog) : 0);
    }
    surrogate.fit(std::move(points), std::move(values));
    return surrogate;
  }

  // Unvisited moves of the best few that worked; of more when those are used up.
  std::set<std::size_t> open_moves(std::size_t limit) {
    std::set<std::size_t> open;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (!std::isfinite(seen_[i].log_seconds)) break;
      if (i >= kElites && open.size() >= std::max(limit, kMinimumMoves)) break;
      for (std::size_t index : moves(seen_[i].index)) {
        if (!visited_[index]) open.insert(index);
      }
    }
    return open;
  }

  const std::vector<std::size_t>& moves(std::size_t index) {
    const auto [place, fresh] = moves_.try_emplace(index);
    std::vector<std::size_t>& result = place->second;
    if (!fresh) return result;
    result = space_.neighbours(index);
    for (const Schedule& to : size_moves(space_.at(index))) {
      if (const auto found = space_.find(to)) result.push_back(*found);
    }
    for (std::size_t group = 0; group < groups_.size(); ++group) {
      if (const auto found = nearest(group, points_[index])) result.push_back(*found);
    }
    return result;
  }

  static std::vector<Schedule> size_moves(const Schedule& from) {
    std::vector<Schedule> result;
    for (const auto size : kSizes) {
      for (const int percent : {400, 25}) {
        Schedule to = from;
        to.*size = from.*size * percent / 100;
        if (to.*size > 0) result.push_back(to);
      }
      for (const auto other : kSizes) {
        Schedule to = from;
        to.*size *= 2;
        to.*other /= 2;
        if (size != other && to.*other > 0) result.push_back(to);
      }
    }
    // Accumulators rotate over the items: more of both, or fewer.
    for (const bool more : {true, false}) {
      Schedule to = from;
      to.items = more ? from.items * 2 : from.items / 2;
      to.acc = more ? from.acc * 2 : from.acc / 2;
      if (to.items > 0 && to.acc > 0) result.push_back(to);
    }
    return result;
  }

  std::vector<std::size_t> random_pool() {
    std::vector<std::size_t> pool;
    // A nearly used up space is scanned: drawing would miss its last schedules.
    if (unvisited_ <= kExploringPool) {
      for (std::size_t i = 0; i < space_.size(); ++i) {
        if (!visited_[i]) pool.push_back(i);
      }
      return pool;
    }
    while (pool.size() < kExploringPool) {
      // By mapping first: a mapping with many sizes is not more promising for it. One that is used up must
      // not stop the drawing, so a miss draws from the whole space.
      const auto& group = groups_[rng_.below(groups_.size())];
      std::size_t index = group[rng_.below(group.size())];
      if (visited_[index]) index = space_.sample(rng_);
      if (!visited_[index]) pool.push_back(index);
    }
    return pool;
  }

  std::optional<std::size_t> most_promising(const Surrogate& surrogate, const std::vector<std::size_t>& pool,
                                            double novelty_worth) const {
    std::optional<std::size_t> best;
    double best_score = HUGE_VAL;
    for (std::size_t index : pool) {
      const SchedulePoint point = points_[index];
      const double score = surrogate.predict(point) - novelty_worth * surrogate.novelty(point);
      if (score < best_score) best = index, best_score = score;
    }
    return best;
  }

  const SearchSpace& space_;
  Rng rng_;
  std::vector<SchedulePoint> points_;  // of every schedule
  std::vector<bool> visited_, proposed_;
  std::size_t unvisited_ = 0;
  std::vector<std::vector<std::uint32_t>> groups_;  // schedules of each mapping
  std::vector<std::size_t> order_;                  // of the groups in the spread
  std::size_t spread_ = 0, turn_ = 0;
  std::vector<SchedulePoint> chosen_;
  std::vector<Seen> seen_;  // best first
  std::map<std::size_t, std::vector<std::size_t>> moves_;
};

}  // namespace

std::unique_ptr<SearchStrategy> make_local_search(const SearchSpace& space, std::uint64_t seed) {
  return std::make_unique<LocalSearch>(space, seed);
}

}  // namespace redtune
