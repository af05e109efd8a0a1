// What `redtune portfolio` prints.
#pragma once

#include <string>
#include <vector>

#include "support/json.h"
#include "tuner/portfolio/leave_out.h"
#include "tuner/portfolio/portfolio.h"

namespace redtune {

/// A table of shapes (own best, the portfolio's kernel, regret) and one of kernels.
std::string portfolio_text(const Portfolio& portfolio);
Json portfolio_json(const Portfolio& portfolio);

/// `rows` are of `table`.
std::string leave_out_text(const TimeTable& table, const std::vector<LeftOutShape>& rows);
Json leave_out_json(const TimeTable& table, const std::vector<LeftOutShape>& rows);
Json summary_json(const LossSummary& summary);
/// What the rows of any number of tables say together, on three lines.
std::string leave_out_summary(const std::vector<LeftOutShape>& rows, std::size_t kernels);

}  // namespace redtune
