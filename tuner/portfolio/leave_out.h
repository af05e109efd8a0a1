// What a shape that nobody tuned would lose: each shape of a table in turn is taken for unknown, and is
// served by what is known of the others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/portfolio/time_table.h"

namespace redtune {

/// What serves a shape that is left out, and what it loses there against the shape's own best.
struct LeftOutAnswer {
  std::optional<double> regret;  // nothing: nothing serves it, or what does was not measured there
  std::size_t from = 0;          // the shape that it came from
  std::string schedule, why;     // `why` there is no regret
};

struct LeftOutShape {
  std::size_t shape = 0;
  bool inside = false;      // of the range of the others
  LeftOutAnswer nearest;    // the best schedule of the nearest other shape where it is legal
  LeftOutAnswer portfolio;  // of a portfolio that was chosen for the others: that of their nearest shape,
                            // where it is legal
};

/// One row for each shape that has a best. Needs two such shapes or more; otherwise none. Every schedule that
/// may be asked for should have a time at every shape: what is unmeasured is told and not counted.
std::vector<LeftOutShape> leave_each_out(const TimeTable& table, std::size_t kernels);

struct LossSummary {
  std::size_t count = 0, missing = 0;
  double median = 0, mean = 0, worst = 0;  // 0 when there is none
};
LossSummary summary_of(const std::vector<LeftOutShape>& rows, LeftOutAnswer LeftOutShape::*answer);

}  // namespace redtune
