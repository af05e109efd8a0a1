// The same set as the enumeration of search_space.cpp, told to isl: the check of one by the other.
#include <isl/cpp.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "space/constraints.h"
#include "space/mappings.h"
#include "space/polyhedral.h"
#include "space/search_space.h"
#include "support/text.h"

namespace redtune {
namespace {

std::string tuple() {
  std::vector<std::string> names{"rows"};
  for (const VariableInfo& variable : kVariableInfo) names.emplace_back(variable.name);
  return "[" + join(names, ", ") + "]";
}

std::string inequality(const Constraint& constraint) {
  std::string sum = "0";
  for (std::size_t v = 0; v < kVariables; ++v) {
    const int c = constraint.coefficients[v];
    if (c != 0) sum += fmt::format(" {} {}{}", c < 0 ? '-' : '+', std::abs(c), kVariableInfo[v].name);
  }
  return fmt::format("{} <= {}", sum, constraint.bound);
}

// An arithmetic progression stays one basic set; other grids become a disjunction.
std::string membership(std::string_view variable, const std::vector<int>& grid) {
  if (grid.empty()) return "1 = 0";
  const int step = grid.size() > 1 ? grid[1] - grid[0] : 1;
  bool even = true;
  for (std::size_t i = 1; i < grid.size(); ++i) even = even && grid[i] - grid[i - 1] == step;
  if (even) {
    const std::string range = fmt::format("{} <= {} <= {}", grid.front(), variable, grid.back());
    return step == 1 ? range
                     : fmt::format("{} and ({} - {}) mod {} = 0", range, variable, grid.front(), step);
  }
  std::vector<std::string> alternatives;
  for (const int value : grid) alternatives.push_back(fmt::format("{} = {}", variable, value));
  return "(" + join(alternatives, " or ") + ")";
}

isl::set set_of(isl::ctx ctx, const SpaceFacts& facts, const Grids& grids, const Piece& piece) {
  std::vector<std::string> conditions{fmt::format("rows = {}", piece.rows)};
  for (int v = 0; v < kVariables; ++v) {
    conditions.push_back(
        membership(kVariableInfo[static_cast<std::size_t>(v)].name, grid_in_piece(grids, piece, v)));
  }
  for (const Constraint& constraint : constraints_of(facts, piece))
    conditions.push_back(inequality(constraint));
  return isl::set(ctx, "{ " + tuple() + " : " + join(conditions, " and ") + " }");
}

struct MappingSet {
  int mapping;
  isl::set points;
};

std::vector<MappingSet> sets_of(isl::ctx ctx, const Task& task, const SpaceFilter& filter) {
  const SpaceFacts facts = facts_of(task);
  const Grids grids = narrowed(grids_of(task), filter.sizes);
  std::vector<MappingSet> sets;
  for (const Piece& piece : pieces_of(task, filter, grids)) {
    const isl::set points = set_of(ctx, facts, grids, piece);
    if (points.is_empty()) continue;
    if (sets.empty() || sets.back().mapping != piece.mapping) {
      sets.push_back({piece.mapping, points});
    } else {
      sets.back().points = sets.back().points.unite(points);
    }
  }
  return sets;
}

std::uint64_t code_of(int mapping, const isl::point& point) {
  const isl::multi_val values = point.multi_val();
  const auto value = [&](std::size_t i) { return static_cast<int>(values.at(static_cast<int>(i)).num_si()); };
  GridPoint result;
  result.mapping = mapping;
  result.rows = value(0);
  for (std::size_t v = 0; v < kVariables; ++v) result.exponents[v] = value(v + 1);
  return pack(result);
}

std::string text_of(const isl::set& set) {
  std::ostringstream out;
  out << set;
  return out.str();
}

// Large enough for every space that a test enumerates, small enough to end.
constexpr unsigned long kPointOperations = 4'000'000'000;

}  // namespace

std::vector<std::uint64_t> SearchSpace::isl_points() const {
  IslContext context(kPointOperations);
  std::vector<std::uint64_t> codes;
  for (const MappingSet& set : sets_of(context.get(), task_, filter_)) {
    set.points.foreach_point([&](const isl::point& point) { codes.push_back(code_of(set.mapping, point)); });
  }
  std::sort(codes.begin(), codes.end());
  return codes;
}

std::string SearchSpace::isl_text() const {
  IslContext context(kPointOperations);
  std::string text = "exponents of two; walk: 0 strided, 1 chunked; prefetch: 0 off, 1 on\n";
  for (const MappingSet& set : sets_of(context.get(), task_, filter_)) {
    const std::string_view mapping = mappings()[static_cast<std::size_t>(set.mapping)].name;
    text += fmt::format("{}: {}\n", mapping, text_of(set.points.coalesce()));
  }
  return text;
}

}  // namespace redtune
