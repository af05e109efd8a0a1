// Pieces of a space and the explanations: everything of constraints.h that goes from mapping to mapping.
#include <fmt/format.h>

#include <algorithm>

#include "space/constraints.h"
#include "space/mappings.h"
#include "support/text.h"

namespace redtune {
namespace {

Rejection filtered(const MappingInfo& mapping, std::string_view wanted) {
  return {"filter",
          fmt::format("the filter asks for {}; {} is block={} grid={}, class {}", wanted, mapping.name,
                      name(mapping.block), name(mapping.grid), name(mapping.mapping_class))};
}

std::optional<Rejection> reject_by_filter(const Task& task, const SpaceFilter& filter, const MappingInfo& m) {
  if (filter.block && *filter.block != m.block)
    return filtered(m, fmt::format("block={}", name(*filter.block)));
  if (filter.grid && *filter.grid != m.grid) return filtered(m, fmt::format("grid={}", name(*filter.grid)));
  if (filter.mapping_class && *filter.mapping_class != m.mapping_class) {
    return filtered(m, fmt::format("class {}", name(*filter.mapping_class)));
  }
  Schedule schedule;
  schedule.block = m.block;
  schedule.grid = m.grid;
  if (filter.run_to_run_only && determinism_of(task, schedule) != Determinism::kRunToRun) {
    return filtered(m, "run_to_run and atomics on floats are not");
  }
  return std::nullopt;
}

std::string listed(const std::vector<int>& grid, Variable variable) {
  std::vector<std::string> words;
  for (const int exponent : grid) words.push_back(shown(variable, exponent));
  return join(words, ", ");
}

std::optional<Rejection> reject_off_grid(const Grids& grids, const Schedule& schedule) {
  for (int v = 0; v < kVariables; ++v) {
    const auto variable = static_cast<Variable>(v);
    const std::optional<int> exponent = exponent_of(schedule, variable);
    const std::vector<int>& grid = grids.exponents[static_cast<std::size_t>(v)];
    if (exponent && std::binary_search(grid.begin(), grid.end(), *exponent)) continue;
    return Rejection{
        "grid", fmt::format("{}={} is not on the grid {}", kVariableInfo[static_cast<std::size_t>(v)].name,
                            size_of(schedule, variable), listed(grid, variable))};
  }
  if (std::binary_search(grids.rows.begin(), grids.rows.end(), schedule.rows)) return std::nullopt;
  return Rejection{"grid",
                   fmt::format("rows={} is not on the grid {}", schedule.rows, fmt::join(grids.rows, ", "))};
}

}  // namespace

std::optional<Rejection> reject_mapping(const Task& task, const SpaceFilter& filter, int mapping) {
  const MappingInfo& row = mappings()[static_cast<std::size_t>(mapping)];
  std::optional<Rejection> rejection = reject_mapping(task, row.block, row.grid);
  return rejection ? rejection : reject_by_filter(task, filter, row);
}

std::vector<Piece> pieces_of(const Task& task, const SpaceFilter& filter, const Grids& grids) {
  std::vector<Piece> pieces;
  for (int mapping = 0; mapping < static_cast<int>(mappings().size()); ++mapping) {
    if (reject_mapping(task, filter, mapping)) continue;
    for (const int rows : grids.rows) {
      pieces.push_back({mapping, rows, false});
      pieces.push_back({mapping, rows, true});
    }
  }
  return pieces;
}

bool has_copies(int mapping) {
  return mappings()[static_cast<std::size_t>(mapping)].grid == GridCombine::kPrivateAtomic;
}

std::vector<int> grid_in_piece(const Grids& grids, const Piece& piece, int variable) {
  const std::vector<int>& all = grids.exponents[static_cast<std::size_t>(variable)];
  if (variable == kCopies && !has_copies(piece.mapping)) return {0};
  if (variable != kSerial) return all;
  if (!piece.looped) return {0};
  return {std::upper_bound(all.begin(), all.end(), 0), all.end()};
}

std::optional<Rejection> why_not(const Task& task, const SpaceFilter& filter, const Schedule& schedule) {
  if (std::optional<Rejection> off = reject_off_grid(grids_of(task), schedule)) return off;
  const std::optional<GridPoint> point = point_of(schedule);
  if (!point) return Rejection{"grid", "unknown mapping " + schedule.mapping()};
  if (std::optional<Rejection> illegal = reject_mapping(task, filter, point->mapping)) return illegal;
  if (std::optional<Rejection> off = reject_off_grid(narrowed(grids_of(task), filter.sizes), schedule)) {
    return Rejection{"filter", off->detail + " that the filter leaves"};
  }
  const SpaceFacts facts = facts_of(task);
  const Piece piece{point->mapping, point->rows, point->exponents[kSerial] > 0};
  for (const Constraint& constraint : constraints_of(facts, piece)) {
    int sum = 0;
    for (std::size_t v = 0; v < kVariables; ++v) sum += constraint.coefficients[v] * point->exponents[v];
    if (sum > constraint.bound)
      return Rejection{std::string(constraint.name), constraint.explain(facts, schedule)};
  }
  return std::nullopt;
}

}  // namespace redtune
