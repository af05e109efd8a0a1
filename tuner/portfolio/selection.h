// Which few schedules serve many shapes: the choice alone, on numbers.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace redtune {

/// [shape][candidate]: the share of time that the candidate loses on the shape against the best known there,
/// 0 or more. Candidates are ordered from the simplest on; all rows have one length.
using RegretMatrix = std::vector<std::vector<double>>;
/// The regret where a candidate cannot serve a shape: it is illegal there, failed, or was not measured.
inline constexpr double kCannotServe = std::numeric_limits<double>::infinity();

struct Selection {
  std::vector<std::size_t> members;  // candidates, in rising order; each serves a shape
  std::vector<std::optional<std::size_t>>
      server;                  // per shape: the candidate that serves it; nothing: none of them can
  std::size_t uncovered = 0;   // shapes that none serves
  double worst = 0, mean = 0;  // regrets over the shapes that are served
  bool exhaustive = false;     // every set was compared; otherwise greedy with exchanges
};

/// At most `kernels` (1 or more) candidates: of all sets the one that leaves the fewest shapes uncovered,
/// then loses least on the worst shape, then in the mean. Losses are compared in steps of half a percent,
/// which is about what times can tell; among equals the smaller set, then the one of simpler candidates.
/// Deterministic. All sets are compared while that takes no more than `most_steps` additions of a candidate
/// to a set (times shapes); beyond, a greedy choice is improved by exchanging one member at a time.
Selection select_portfolio(const RegretMatrix& regret, std::size_t kernels, double most_steps = 5e7);

}  // namespace redtune
