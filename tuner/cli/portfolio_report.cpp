#include "tuner/cli/portfolio_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "space/mappings.h"
#include "support/text.h"

namespace redtune {
namespace {

std::string percent_text(double share) { return fmt::format("{:.1f} %", 100 * share); }

// The number of a kernel in the tables, from 1 on.
std::size_t kernel_number(const Selection& selection, std::size_t candidate) {
  const auto& members = selection.members;
  return static_cast<std::size_t>(std::find(members.begin(), members.end(), candidate) - members.begin()) + 1;
}

double served_regret(const TimeTable& table, std::size_t shape, std::size_t candidate) {
  return table.cells[shape][candidate].seconds / table.best_seconds[shape] - 1;
}

// Of the shapes that none serves, what keeps the first kernel from it: mostly all have one reason.
std::string why_uncovered(const Portfolio& portfolio, std::size_t shape) {
  if (portfolio.selection.members.empty()) return "";
  const TimeCell& cell = portfolio.table.cells[shape][portfolio.selection.members.front()];
  return cell.state == CellState::kUnmeasured ? "not measured" : cell.why;
}

std::size_t count_of(const Portfolio& portfolio, std::size_t candidate, CellState state) {
  return static_cast<std::size_t>(
      std::count_if(portfolio.table.cells.begin(), portfolio.table.cells.end(),
                    [&](const auto& row) { return row[candidate].state == state; }));
}

std::string shapes_table(const Portfolio& portfolio) {
  const TimeTable& table = portfolio.table;
  TextTable text;
  text.row({"shape", "own best", "default", "kernel", "time", "regret"});
  for (std::size_t s = 0; s < table.shapes.size(); ++s) {
    const double base = table.default_seconds(s);
    std::vector<std::string> row{table.shapes[s].task().op.title(), format_seconds(table.best_seconds[s]),
                                 base > 0 ? format_seconds(base) : "-"};
    if (const auto server = portfolio.selection.server[s]) {
      row.insert(row.end(), {std::to_string(kernel_number(portfolio.selection, *server)),
                             format_seconds(table.cells[s][*server].seconds),
                             percent_text(served_regret(table, s, *server))});
    } else {
      row.insert(row.end(), {"-", "-", "not served: " + why_uncovered(portfolio, s)});
    }
    text.row(row);
  }
  return text.str();
}

std::string kernels_table(const Portfolio& portfolio) {
  const TimeTable& table = portfolio.table;
  TextTable text;
  text.row({"kernel", "serves", "illegal on", "schedule"});
  for (std::size_t member : portfolio.selection.members) {
    const auto& server = portfolio.selection.server;
    const auto serves =
        std::count_if(server.begin(), server.end(), [&](const auto& s) { return s == member; });
    text.row({std::to_string(kernel_number(portfolio.selection, member)), std::to_string(serves),
              std::to_string(count_of(portfolio, member, CellState::kIllegal)),
              table.candidates[member].schedule.text()});
  }
  return text.str();
}

// What the rules of thumb lose on the same shapes, where they gave a time.
std::vector<double> default_regrets(const TimeTable& table) {
  std::vector<double> regrets;
  for (std::size_t s = 0; s < table.shapes.size(); ++s) {
    if (const double base = table.default_seconds(s); base > 0)
      regrets.push_back(std::max(0.0, base / table.best_seconds[s] - 1));
  }
  return regrets;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

std::string left_out_cell(const LeftOutAnswer& answer) {
  return answer.regret ? percent_text(*answer.regret) : answer.why;
}

Json left_out_json(const TimeTable& table, const LeftOutAnswer& answer) {
  if (!answer.regret) return {{"regret", nullptr}, {"why", answer.why}};
  return {{"regret", *answer.regret},
          {"from", table.shapes[answer.from].task().op.key()},
          {"schedule", answer.schedule}};
}

std::string summary_text(const LossSummary& summary) {
  if (summary.count == 0) return "nothing to tell";
  return fmt::format("median {}, mean {}, worst {} of {} shapes", percent_text(summary.median),
                     percent_text(summary.mean), percent_text(summary.worst), summary.count) +
         (summary.missing > 0 ? fmt::format(" ({} more have no answer)", summary.missing) : "");
}

}  // namespace

Json summary_json(const LossSummary& summary) {
  return {{"count", summary.count},
          {"missing", summary.missing},
          {"median", summary.median},
          {"mean", summary.mean},
          {"worst", summary.worst}};
}

std::string portfolio_text(const Portfolio& portfolio) {
  const TimeTable& table = portfolio.table;
  const Selection& selection = portfolio.selection;
  std::string text =
      fmt::format("{} on {}, {} shapes, {} candidates\n", portfolio.kind,
                  table.shapes.front().result.device.name, table.shapes.size(), table.candidates.size());
  text += shapes_table(portfolio) + kernels_table(portfolio);
  text +=
      fmt::format("regret: mean {}, worst {}", percent_text(selection.mean), percent_text(selection.worst));
  if (selection.uncovered > 0) text += fmt::format("; {} shapes not served", selection.uncovered);
  const std::vector<double> base = default_regrets(table);
  if (!base.empty()) {
    text += fmt::format("; of the default: mean {}, worst {}", percent_text(mean_of(base)),
                        percent_text(*std::max_element(base.begin(), base.end())));
  }
  text += selection.exhaustive ? "\n" : "; chosen greedily: there are too many sets to compare all\n";
  for (const std::string& line : portfolio.left_out) text += "left out: " + line + "\n";
  return text;
}

Json portfolio_json(const Portfolio& portfolio) {
  const TimeTable& table = portfolio.table;
  const Selection& selection = portfolio.selection;
  Json json = {{"kind", portfolio.kind}, {"device", table.shapes.front().result.device.name}};
  json["kernels"] = Json::array();
  for (std::size_t member : selection.members) {
    const Schedule& schedule = table.candidates[member].schedule;
    json["kernels"].push_back({{"schedule", schedule.text()},
                               {"mapping", schedule.mapping()},
                               {"determinism", name(determinism_of(table.shapes.front().task(), schedule))},
                               {"illegal", count_of(portfolio, member, CellState::kIllegal)},
                               {"failed", count_of(portfolio, member, CellState::kFailed)},
                               {"unmeasured", count_of(portfolio, member, CellState::kUnmeasured)}});
  }
  json["shapes"] = Json::array();
  for (std::size_t s = 0; s < table.shapes.size(); ++s) {
    Json row = {{"operator", table.shapes[s].task().op.key()}, {"best_seconds", table.best_seconds[s]}};
    if (const double base = table.default_seconds(s); base > 0) row["default_seconds"] = base;
    if (const auto server = selection.server[s]) {
      row["kernel"] = kernel_number(selection, *server) - 1;
      row["seconds"] = table.cells[s][*server].seconds;
      row["regret"] = served_regret(table, s, *server);
    } else {
      row["kernel"] = nullptr;
      row["why"] = why_uncovered(portfolio, s);
    }
    json["shapes"].push_back(std::move(row));
  }
  json["mean_regret"] = selection.mean;
  json["worst_regret"] = selection.worst;
  json["uncovered"] = selection.uncovered;
  json["candidates"] = table.candidates.size();
  json["exhaustive"] = selection.exhaustive;
  json["left_out"] = portfolio.left_out;
  return json;
}

std::string leave_out_text(const TimeTable& table, const std::vector<LeftOutShape>& rows) {
  TextTable text;
  text.row({"left out", "nearest config", "portfolio", "nearest shape", "in range"});
  for (const LeftOutShape& row : rows) {
    const bool told = row.nearest.regret.has_value();
    text.row({table.shapes[row.shape].task().op.title(), left_out_cell(row.nearest), left_out_cell(row.portfolio),
              told ? table.shapes[row.nearest.from].task().op.title() : "-", row.inside ? "yes" : "no"});
  }
  return text.str();
}

Json leave_out_json(const TimeTable& table, const std::vector<LeftOutShape>& rows) {
  Json json = {{"shapes", Json::array()}};
  for (const LeftOutShape& row : rows) {
    json["shapes"].push_back({{"operator", table.shapes[row.shape].task().op.key()},
                              {"in_range", row.inside},
                              {"nearest", left_out_json(table, row.nearest)},
                              {"portfolio", left_out_json(table, row.portfolio)}});
  }
  json["nearest"] = summary_json(summary_of(rows, &LeftOutShape::nearest));
  json["portfolio"] = summary_json(summary_of(rows, &LeftOutShape::portfolio));
  return json;
}

std::string leave_out_summary(const std::vector<LeftOutShape>& rows, std::size_t kernels) {
  return "a shape that was left out loses\n  by the nearest config: " +
         summary_text(summary_of(rows, &LeftOutShape::nearest)) +
         fmt::format("\n  by a portfolio of {} of the others: ", kernels) +
         summary_text(summary_of(rows, &LeftOutShape::portfolio)) + "\n";
}

}  // namespace redtune
