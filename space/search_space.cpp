#include "space/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "space/constraints.h"
#include "space/mappings.h"
#include "space/space_grid.h"
#include "support/error.h"

namespace redtune {
namespace {

/// Visits the points of one piece in the order of their packed codes. At each variable the constraints that
/// contain it give the interval of values that can still be completed, so only a few dead ends are entered.
class Enumeration {
 public:
  Enumeration(const SpaceFacts& facts, const Grids& grids, const Piece& piece) {
    const std::vector<Constraint> constraints = constraints_of(facts, piece);
    RT_CHECK(constraints.size() <= slack_.size(), "more constraints than the enumeration holds");
    GridPoint origin;
    origin.mapping = piece.mapping;
    origin.rows = piece.rows;
    base_ = pack(origin);
    for (std::size_t v = 0; v < kVariables; ++v) grids_[v] = grid_in_piece(grids, piece, static_cast<int>(v));
    for (std::size_t c = 0; c < constraints.size(); ++c) add(constraints[c], static_cast<int>(c));
  }

  void append_to(std::vector<std::uint64_t>& points) {
    if (!feasible_) return;
    points_ = &points;
    visit(0, base_);
  }

 private:
  struct Term {
    int constraint, coefficient;
    int rest;  // least that the later variables add
  };

  void add(const Constraint& constraint, int index) {
    int least = 0;
    for (std::size_t v = kVariables; v-- > 0;) {
      const int coefficient = constraint.coefficients[v];
      if (coefficient == 0 || grids_[v].empty()) continue;
      terms_[v].push_back({index, coefficient, least});
      least += coefficient * (coefficient > 0 ? grids_[v].front() : grids_[v].back());
    }
    slack_[static_cast<std::size_t>(index)] = constraint.bound;
    feasible_ = feasible_ && least <= constraint.bound;
  }

  void visit(std::size_t v, std::uint64_t code) {
    if (v == kVariables) {
      points_->push_back(code);
      return;
    }
    int low = 0, high = std::numeric_limits<int>::max();
    for (const Term& term : terms_[v]) {
      // coefficient * x <= room, and 0 <= x; exponents are small, so a few steps are faster than a division.
      const int room = slack_[static_cast<std::size_t>(term.constraint)] - term.rest;
      if (term.coefficient == 1) {
        high = std::min(high, room);
      } else if (term.coefficient == -1) {
        low = std::max(low, -room);
      } else if (term.coefficient > 0) {
        high = room < 0 ? -1 : std::min(high, room / term.coefficient);
      } else if (room < 0) {
        low = std::max(low, (-room - term.coefficient - 1) / -term.coefficient);
      }
    }
    for (const int value : grids_[v]) {
      if (value < low) continue;
      if (value > high) break;
      for (const Term& t : terms_[v]) slack_[static_cast<std::size_t>(t.constraint)] -= t.coefficient * value;
      visit(v + 1, code | static_cast<std::uint64_t>(value) << kVariableInfo[v].shift);
      for (const Term& t : terms_[v]) slack_[static_cast<std::size_t>(t.constraint)] += t.coefficient * value;
    }
  }

  std::array<std::vector<int>, kVariables> grids_;
  std::array<std::vector<Term>, kVariables> terms_;
  std::array<int, 32> slack_{};
  std::uint64_t base_ = 0;
  bool feasible_ = true;
  std::vector<std::uint64_t>* points_ = nullptr;
};

/// Finds the neighbours of one point: every test is a look-up among the sorted codes of the space.
class Neighbourhood {
 public:
  Neighbourhood(const SearchSpace& space, const GridPoint& point)
      : codes_(space.codes()), grids_(grids_of(space.task())), point_(point) {}

  std::vector<std::size_t> find() {
    for (int v = 0; v < kVariables; ++v) {
      for (const int exponent : steps(point_, v)) keep(with(point_, v, exponent));
    }
    const auto at = std::lower_bound(grids_.rows.begin(), grids_.rows.end(), point_.rows);
    if (at != grids_.rows.begin()) keep(with_rows(*(at - 1)));
    if (at + 1 != grids_.rows.end()) keep(with_rows(*(at + 1)));
    for (int mapping = 0; mapping < static_cast<int>(mappings().size()); ++mapping) {
      if (mapping != point_.mapping) other_mapping(mapping);
    }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    return std::move(found_);
  }

 private:
  static GridPoint with(GridPoint point, int variable, int exponent) {
    point.exponents[static_cast<std::size_t>(variable)] = exponent;
    return point;
  }
  static GridPoint with_mapping(GridPoint point, int mapping) {
    point.mapping = mapping;
    return point;
  }
  GridPoint with_rows(int rows) const {
    GridPoint point = point_;
    point.rows = rows;
    return point;
  }

  std::vector<int> steps(const GridPoint& point, int variable) const {
    const std::vector<int>& grid = grids_.exponents[static_cast<std::size_t>(variable)];
    const int here = point.exponents[static_cast<std::size_t>(variable)];
    const auto at = std::lower_bound(grid.begin(), grid.end(), here);
    std::vector<int> result;
    if (at != grid.begin()) result.push_back(*(at - 1));
    if (at + 1 != grid.end()) result.push_back(*(at + 1));
    return result;
  }

  /// The same sizes under another mapping. Most mappings exclude each other's rx or split (none needs rx=1,
  /// tree more), so one step of either may come along, but only where neither point stands under the other's
  /// mapping: a condition that reads the same from both ends.
  void other_mapping(int mapping) {
    const GridPoint same = with_mapping(point_, mapping);
    if (index_of(same)) return keep(same);
    for (const int v : {static_cast<int>(kRx), static_cast<int>(kSplit)}) {
      for (const int exponent : steps(point_, v)) {
        if (!index_of(with(point_, v, exponent))) keep(with_mapping(with(point_, v, exponent), mapping));
      }
    }
  }

  std::optional<std::size_t> index_of(const GridPoint& point) const {
    const std::uint64_t code = pack(point);
    const auto at = std::lower_bound(codes_.begin(), codes_.end(), code);
    if (at == codes_.end() || *at != code) return std::nullopt;
    return static_cast<std::size_t>(at - codes_.begin());
  }
  void keep(const GridPoint& point) {
    if (const std::optional<std::size_t> index = index_of(point)) found_.push_back(*index);
  }

  const std::vector<std::uint64_t>& codes_;
  Grids grids_;
  GridPoint point_;
  std::vector<std::size_t> found_;
};

/// `names` in enum order.
template <typename Enum>
std::optional<Enum> parse_enum(std::string_view word, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

std::optional<BlockCombine> block_combine(std::string_view word) {
  return parse_enum<BlockCombine>(word, block_combine_names());
}

std::optional<GridCombine> grid_combine(std::string_view word) {
  return parse_enum<GridCombine>(word, grid_combine_names());
}

[[noreturn]] void unknown_mapping(std::string_view text) {
  std::vector<std::string> known{"tree", "atomic", "hybrid"};
  const auto add = [&](std::string_view word) {
    if (std::find(known.begin(), known.end(), word) == known.end()) known.emplace_back(word);
  };
  for (const std::string_view word : block_combine_names()) add(word);
  for (const std::string_view word : grid_combine_names()) add(word);
  for (const MappingInfo& mapping : mappings()) {
    if (mapping.grid != GridCombine::kNone) known.emplace_back(mapping.name);
  }
  throw UserError(unknown_word_message("mapping", text, known));
}

}  // namespace

SpaceFilter parse_mapping_filter(std::string_view text) {
  SpaceFilter filter;
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    filter.block = block_combine(text.substr(0, plus));
    filter.grid = grid_combine(text.substr(plus + 1));
    if (!filter.block || !filter.grid) unknown_mapping(text);
    return filter;
  }
  using C = MappingClass;
  // "tree" and "atomic" are also combines: the class is what people mean, and "tree+none" names the combine.
  for (const C c : {C::kTree, C::kAtomic, C::kHybrid}) {
    if (text == name(c)) filter.mapping_class = c;
  }
  if (!filter.mapping_class) filter.block = block_combine(text);
  if (!filter.mapping_class && !filter.block) filter.grid = grid_combine(text);
  if (!filter.mapping_class && !filter.block && !filter.grid) unknown_mapping(text);
  return filter;
}

SearchSpace::SearchSpace(const Task& task, const SpaceFilter& filter) : task_(task), filter_(filter) {
  filter_.run_to_run_only = filter.run_to_run_only || task.op.determinism == Determinism::kRunToRun;
  const SpaceFacts facts = facts_of(task_);
  const Grids grids = grids_of(task_);
  for (const Piece& piece : pieces_of(task_, filter_, grids))
    Enumeration(facts, grids, piece).append_to(points_);
}

Schedule SearchSpace::at(std::size_t index) const { return schedule_of(unpack(points_[index])); }

std::optional<std::size_t> SearchSpace::find(const Schedule& schedule) const {
  const std::optional<GridPoint> point = point_of(schedule);
  if (!point) return std::nullopt;
  const auto at = std::lower_bound(points_.begin(), points_.end(), pack(*point));
  if (at == points_.end() || *at != pack(*point)) return std::nullopt;
  return static_cast<std::size_t>(at - points_.begin());
}

std::optional<Rejection> SearchSpace::why_not(const Schedule& schedule) const {
  return redtune::why_not(task_, filter_, schedule);
}

std::vector<std::size_t> SearchSpace::neighbours(std::size_t index) const {
  return Neighbourhood(*this, unpack(points_[index])).find();
}

}  // namespace redtune
