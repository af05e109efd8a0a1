#include "tuner/portfolio/leave_out.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "configs/operator_kind.h"
#include "support/stats.h"

namespace redtune {
namespace {

// The others from the nearest on; those without any best tell nothing.
std::vector<std::size_t> others_by_distance(const TimeTable& table, std::size_t shape) {
  std::vector<std::size_t> others;
  for (std::size_t s = 0; s < table.shapes.size(); ++s) {
    if (s != shape && table.own_best(s)) others.push_back(s);
  }
  std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) {
    const std::vector<double>& sizes = table.shapes[shape].sizes;
    return squared_gap(table.shapes[a].sizes, sizes) < squared_gap(table.shapes[b].sizes, sizes);
  });
  return others;
}

// As a lookup goes: what is illegal at the shape is passed over, and the next nearest comes into question.
LeftOutAnswer answer_of(const TimeTable& table, std::size_t shape, const std::vector<std::size_t>& others,
                        const std::function<std::optional<std::size_t>(std::size_t)>& server) {
  LeftOutAnswer answer;
  answer.why = "no schedule of another shape is legal";
  for (std::size_t other : others) {
    const std::optional<std::size_t> candidate = server(other);
    if (!candidate) {
      answer.why = "the portfolio serves no shape near it";
      break;
    }
    const TimeCell& cell = table.cells[shape][*candidate];
    if (cell.state == CellState::kIllegal) continue;
    answer.from = other;
    answer.schedule = table.candidates[*candidate].schedule.text();
    answer.why = cell.state == CellState::kFailed ? cell.why : "";
    if (cell.state == CellState::kTimed)
      answer.regret = cell.seconds / table.best_seconds[shape] - 1;
    else if (cell.state == CellState::kUnmeasured)
      answer.why = "was not measured there";
    break;
  }
  return answer;
}

bool lies_inside(const TimeTable& table, std::size_t shape, const std::vector<std::size_t>& others) {
  for (std::size_t axis = 0; axis < table.shapes[shape].extents.size(); ++axis) {
    const auto of = [&](std::size_t s) { return table.shapes[s].extents[axis]; };
    const auto [least, most] = std::minmax_element(
        others.begin(), others.end(), [&](std::size_t a, std::size_t b) { return of(a) < of(b); });
    if (of(shape) < of(*least) || of(shape) > of(*most)) return false;
  }
  return true;
}

}  // namespace

std::vector<LeftOutShape> leave_each_out(const TimeTable& table, std::size_t kernels) {
  std::vector<LeftOutShape> rows;
  for (std::size_t shape = 0; shape < table.shapes.size(); ++shape) {
    const std::vector<std::size_t> others = others_by_distance(table, shape);
    if (others.empty() || table.best_seconds[shape] == 0) continue;
    // What only this shape proposed is not known without it.
    std::vector<std::size_t> known;
    for (std::size_t c = 0; c < table.candidates.size(); ++c) {
      const std::vector<std::size_t>& owners = table.candidates[c].best_of;
      if (std::any_of(owners.begin(), owners.end(), [&](std::size_t s) { return s != shape; }))
        known.push_back(c);
    }
    const Selection chosen = select_portfolio(regret_matrix(table, others, known), kernels);
    LeftOutShape row;
    row.shape = shape;
    row.inside = lies_inside(table, shape, others);
    row.nearest = answer_of(table, shape, others, [&](std::size_t other) { return table.own_best(other); });
    row.portfolio = answer_of(table, shape, others, [&](std::size_t other) -> std::optional<std::size_t> {
      const auto place =
          static_cast<std::size_t>(std::find(others.begin(), others.end(), other) - others.begin());
      const std::optional<std::size_t> server = chosen.server[place];
      return server ? std::optional<std::size_t>(known[*server]) : std::nullopt;
    });
    rows.push_back(std::move(row));
  }
  return rows;
}

LossSummary summary_of(const std::vector<LeftOutShape>& rows, LeftOutAnswer LeftOutShape::*answer) {
  std::vector<double> losses;
  for (const LeftOutShape& row : rows) {
    if ((row.*answer).regret) losses.push_back(*(row.*answer).regret);
  }
  LossSummary summary;
  summary.count = losses.size();
  summary.missing = rows.size() - losses.size();
  if (losses.empty()) return summary;
  summary.median = median(losses);
  summary.mean = std::accumulate(losses.begin(), losses.end(), 0.0) / static_cast<double>(losses.size());
  summary.worst = *std::max_element(losses.begin(), losses.end());
  return summary;
}

}  // namespace redtune
