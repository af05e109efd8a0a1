#include "tuner/cli/explain_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "support/text.h"

namespace redtune {
namespace {

constexpr std::size_t kMostRows = 6;
// A step below this is noise as far as a reader is concerned.
constexpr double kWorthTelling = 0.01;

std::string change_text(double factor) {
  return fmt::format("{}{:.0f} %", factor < 1 ? "-" : "+", 100 * std::fabs(1 - factor));
}

// 4096, 0.25, 1.5e+06: whole numbers as they are.
std::string number_text(double value) {
  return value == std::floor(value) && value < 1e15 ? format_count(static_cast<std::int64_t>(value))
                                                    : fmt::format("{:.3g}", value);
}

std::string winner_text(const RunExplanation& e) {
  std::string text = fmt::format("why: {} takes {}, {:.1f} GB/s of what must move\n", e.best.text(),
                                 format_seconds(e.best_seconds), e.bytes_per_second / 1e9);
  if (!e.runner_up) return text + "  no other schedule gave a time\n";
  const double gap = 100 * (e.runner_up_seconds / e.best_seconds - 1);
  text += fmt::format("  runner-up {}: {}, {:+.1f} %{}; the winner has {}\n", e.runner_up->text(),
                      format_seconds(e.runner_up_seconds), gap,
                      e.tied ? ", a tie: their 95 % intervals overlap" : ", apart by more than the noise",
                      join(e.apart, ", "));
  return text;
}

std::string knobs_text(const RunExplanation& e) {
  std::string text = fmt::format(
      "  from the default to the winner ({} of the time), by an additive fit over {} timed trials that explains {:.0f} % of "
      "their spread:\n",
      change_text(e.best_seconds / e.default_seconds), e.timed, 100 * e.explained);
  TextTable table;
  table.row({"", "knob", "default", "winner", "time"});
  std::size_t minor = 0;
  for (const KnobEffect& k : e.knobs) {
    if (std::fabs(k.factor - 1) < kWorthTelling) {
      ++minor;
      continue;
    }
    table.row({"   ", k.knob, k.from, k.to, change_text(k.factor)});
  }
  table.row({"   ", "together", "", "", change_text(e.together)});
  std::vector<std::string> lines = split(table.str(), '\n');
  for (const std::string& line : lines) {
    if (!line.empty()) text += line + "\n";
  }
  if (minor > 0) text += fmt::format("    {} more differ and do not matter\n", minor);
  return text;
}

std::string one_step_text(const RunExplanation& e) {
  if (e.one_step.empty()) return "";
  std::string text = "  measured with one knob changed, the best other value of each:\n";
  for (std::size_t i = 0; i < std::min(kMostRows, e.one_step.size()); ++i) {
    const OneStepRival& r = e.one_step[i];
    text += fmt::format("    {} {} instead of {}: {:.2f} times the winner's time\n", r.knob, r.rival, r.winner, r.factor);
  }
  return text;
}

std::string costs_text(const RunExplanation& e) {
  std::string text;
  if (e.model_default <= e.model_best) {
    text += fmt::format("  the analytic model does not see it: it puts the default ahead ({} against {})\n",
                        format_seconds(e.model_default), format_seconds(e.model_best));
  } else {
    std::string terms;
    for (const CostShift& c : e.costs) {
      if (c.of_default <= c.of_best || c.of_default - c.of_best < kWorthTelling * e.model_default) continue;
      terms += fmt::format("    {}: {} against {}: {}\n", c.name, format_seconds(c.of_default), format_seconds(c.of_best),
                           c.meaning);
    }
    if (!terms.empty()) text += "  what the default lost, by the analytic model (estimates):\n" + terms;
  }
  if (e.facts.empty()) return text;
  text += "  what differs (default -> winner):\n";
  for (const FactShift& f : e.facts) {
    text += fmt::format("    {}: {} -> {}\n", f.name, number_text(f.of_default), number_text(f.of_best));
  }
  return text;
}

}  // namespace

std::string explain_text(const RunExplanation& e) {
  std::string text = winner_text(e);
  if (e.default_won) {
    text += "  the default won: nothing that was tried is clearly faster\n";
  } else if (!e.default_schedule) {
    text += "  the default gave no time, so nothing can be compared with it\n";
  } else {
    text += knobs_text(e) + costs_text(e);
  }
  return text + one_step_text(e);
}

Json explain_json(const RunExplanation& e) {
  Json json{{"timed", e.timed}, {"best", e.best.text()}, {"seconds", e.best_seconds},
            {"bytes_per_second", e.bytes_per_second}, {"default_won", e.default_won}};
  if (e.runner_up) {
    json["runner_up"] = {{"schedule", e.runner_up->text()},
                         {"seconds", e.runner_up_seconds},
                         {"tied", e.tied},
                         {"winner_has", e.apart}};
  }
  json["one_step"] = Json::array();
  for (const OneStepRival& r : e.one_step) {
    json["one_step"].push_back(
        {{"knob", r.knob}, {"winner", r.winner}, {"rival", r.rival}, {"factor", r.factor}});
  }
  if (!e.default_schedule || e.default_won) return json;
  json["default"] = {{"schedule", e.default_schedule->text()}, {"seconds", e.default_seconds}};
  json["explained"] = e.explained;
  json["together"] = e.together;
  for (const KnobEffect& k : e.knobs) {
    json["knobs"].push_back({{"knob", k.knob}, {"default", k.from}, {"winner", k.to}, {"factor", k.factor}});
  }
  json["model"] = {{"default_seconds", e.model_default}, {"best_seconds", e.model_best}};
  for (const CostShift& c : e.costs) {
    json["model"]["terms"].push_back(
        {{"name", c.name}, {"default_seconds", c.of_default}, {"best_seconds", c.of_best}});
  }
  json["facts"] = Json::array();
  for (const FactShift& f : e.facts) {
    json["facts"].push_back({{"name", f.name}, {"default", f.of_default}, {"best", f.of_best}});
  }
  return json;
}

}  // namespace redtune
