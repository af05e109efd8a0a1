#include "tuner/bench/bench_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.h"
#include "support/text.h"
#include "tuner/bench/bench_summary.h"

namespace redtune {
namespace {

using Cells = std::vector<std::string>;

constexpr const char* kFormats[] = {"table", "md", "csv", "json"};

// One table in both text forms.
std::string bench_text(const std::vector<Cells>& rows, bool markdown) {
  if (!markdown) {
    TextTable table;
    for (const Cells& row : rows) table.row(row);
    return table.str();
  }
  const auto line = [](const Cells& cells) { return "| " + join(cells, " | ") + " |\n"; };
  Cells rule(rows.front().size(), "---:");
  rule.front() = "---";
  std::string text = line(rows.front()) + line(rule);
  for (std::size_t i = 1; i < rows.size(); ++i) text += line(rows[i]);
  return text;
}

std::string ratio_cell(const BenchRow& row, const std::string& name) {
  const BenchSide* const side = row.side(name);
  if (side == nullptr) return "";
  if (!side->time) return "-";
  const double ratio = side->time->seconds / row.tuned.seconds;
  const std::string text = fmt::format("{:.{}f}", ratio, ratio < 100 ? 2 : 0);
  if (side->reference) return "(" + text + ")";
  const BenchVerdict verdict = compare(row.tuned, *side->time);
  return verdict == BenchVerdict::kTie ? text + "=" : verdict == BenchVerdict::kUnresolved ? text + "~" : text;
}

Cells bench_header(const BenchResult& result) {
  Cells header{"row", "moves", "time", "spread", "GB/s"};
  if (result.peak.bytes_per_second > 0) header.push_back("of peak");
  header.push_back("mapping");
  header.insert(header.end(), result.baselines.begin(), result.baselines.end());
  const PublishedSource& published = result.suite.published;
  if (!published.ours.empty()) header.push_back(published.ours + ", " + published.device);
  return header;
}

Cells bench_cells(const BenchResult& result, const BenchRow& row) {
  Cells cells{row.id + (row.scaled.empty() ? "" : " (made smaller)")};
  const std::size_t width = bench_header(result).size();
  if (!row.ok()) {
    cells.insert(cells.end(), {"", "no time"});
    cells.resize(width);
    return cells;
  }
  const double rate = row.bytes / row.tuned.seconds;
  cells.insert(cells.end(),
               {format_bytes(row.bytes), format_seconds(row.tuned.seconds),
                fmt::format("{:.1f} %", row.tuned.spread * 100), fmt::format("{:.1f}", rate / 1e9)});
  if (result.peak.bytes_per_second > 0) {
    cells.push_back(fmt::format("{:.0f} %", 100 * rate / result.peak.bytes_per_second));
  }
  cells.push_back(row.mapping);
  for (const std::string& name : result.baselines) cells.push_back(ratio_cell(row, name));
  if (!result.suite.published.ours.empty()) {
    const double ours = published_seconds(entry_of(result, row), result.suite.published.ours);
    cells.push_back(ours > 0 ? format_seconds(ours) : "");
  }
  return cells;
}

std::vector<Cells> summary_cells(const std::vector<BaselineSummary>& summaries, bool verdicts) {
  std::vector<Cells> rows{{"", "rows", "arithmetic mean", "geometric mean", "min", "max"}};
  if (verdicts) rows[0].insert(rows[0].end(), {"wins", "ties", "losses", "unresolved", "not counted"});
  for (const BaselineSummary& s : summaries) {
    Cells cells{s.name, std::to_string(s.rows)};
    if (s.rows == 0) {
      cells.insert(cells.end(), 4, "-");
    } else {
      for (const double value : {s.arithmetic_mean, s.geometric_mean, s.least, s.most}) {
        cells.push_back(fmt::format("{:.2f}", value));
      }
    }
    if (verdicts) {
      for (const std::size_t n : {s.wins, s.ties, s.losses, s.unresolved, s.failed + s.reference}) {
        cells.push_back(std::to_string(n));
      }
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::vector<Cells> total_cells(const BenchResult& result) {
  std::vector<Cells> rows{{"group", "rows", "tuned"}};
  rows[0].insert(rows[0].end(), result.baselines.begin(), result.baselines.end());
  for (const GroupTotal& total : totals_of(result)) {
    Cells cells{total.name,
                std::to_string(total.rows) +
                    (total.missing > 0 ? fmt::format(" of {}", total.rows + total.missing) : ""),
                format_seconds(total.seconds)};
    for (const GroupTotal::Side& side : total.sides) {
      if (side.rows == 0) {
        cells.push_back("-");
        continue;
      }
      cells.push_back(fmt::format("{:.2f}", side.seconds / side.tuned_seconds) +
                      (side.rows < total.rows ? fmt::format(" ({} of {})", side.rows, total.rows) : ""));
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::vector<Cells> published_cells(const BenchResult& result) {
  Cells methods;
  for (const BenchRow& row : result.rows) {
    for (const auto& [method, seconds] : entry_of(result, row).published) {
      if (std::find(methods.begin(), methods.end(), method) == methods.end()) methods.push_back(method);
    }
  }
  std::vector<Cells> rows;
  if (methods.empty()) return rows;
  rows.push_back({"row"});
  rows[0].insert(rows[0].end(), methods.begin(), methods.end());
  for (const BenchRow& row : result.rows) {
    Cells cells{row.id};
    for (const std::string& method : methods) {
      const double seconds = published_seconds(entry_of(result, row), method);
      cells.push_back(seconds > 0 ? format_seconds(seconds) : "");
    }
    rows.push_back(std::move(cells));
  }
  return rows;
}

std::string list_of(const std::vector<std::string>& lines, bool markdown) {
  std::string text;
  for (const std::string& line : lines) text += (markdown ? "- " : "") + line + "\n";
  return text;
}

std::vector<std::string> notes_of(const BenchResult& result) {
  std::vector<std::string> notes;
  for (const BenchRow& row : result.rows) {
    if (!row.scaled.empty()) notes.push_back(row.id + " was made smaller: " + row.scaled);
    if (!row.ok()) notes.push_back(row.id + " has no time: " + split(row.error, '\n').front());
    const std::string& note = entry_of(result, row).note;
    if (!note.empty()) notes.push_back(row.id + ": " + note);
  }
  return notes;
}

// What makes ratios worthless: programs that took the cores away in the midst of samples, or a busy machine.
std::string warning_of(const BenchResult& result) {
  constexpr double kMost = 0.05;
  int preempted = 0, samples = 0;
  for (const BenchRow& row : result.rows) {
    for (const BenchSide& side : row.sides) {
      if (!side.time || side.clock != "wall") continue;
      preempted += side.time->preempted;
      samples += side.time->samples;
    }
  }
  if (preempted <= kMost * samples) return "";
  return fmt::format(
      "warning: other programs ran during {} of {} samples of baselines on the CPU: do not trust "
      "the comparison\n",
      preempted, samples);
}

std::string head_of(const BenchResult& result) {
  std::string text = fmt::format("{}: {} of {} rows on {} ({}), {}; medians, all in turns\n",
                                 result.suite.name, result.rows.size(), result.suite.entries.size(),
                                 result.device, result.driver, result.clock);
  if (result.peak.bytes_per_second > 0) {
    text += fmt::format("peak: {:.1f} GB/s read, measured here: {}\n", result.peak.bytes_per_second / 1e9,
                        result.peak.source);
  }
  return text + warning_of(result);
}

std::string readable(const BenchResult& result, bool markdown) {
  const std::string gap = "\n";
  std::string text = head_of(result) + gap;
  std::vector<Cells> rows{bench_header(result)};
  for (const BenchRow& row : result.rows) rows.push_back(bench_cells(result, row));
  text += bench_text(rows, markdown) + gap;
  text +=
      "Columns of baselines: their time over ours (above 1: redtune is faster); = a tie (within 3 %), ~ farther "
      "apart but the intervals\noverlap, () not counted, - no time.\n" +
      gap;
  if (!result.baselines.empty())
    text += bench_text(summary_cells(summaries_of(result), true), markdown) + gap;
  const std::vector<Cells> totals = total_cells(result);
  if (totals.size() > 1)
    text += "Total of each group, rows counted once; baselines as ratios:\n" + gap +
            bench_text(totals, markdown) + gap;
  const PublishedSource& source = result.suite.published;
  const std::vector<Cells> published = published_cells(result);
  if (!published.empty()) {
    text += fmt::format("Published, on {} ({}; {}), not measured here:\n", source.device, source.source,
                        source.how);
    text += gap + bench_text(published, markdown) + gap;
    const std::vector<BaselineSummary> ratios = published_summaries_of(result);
    if (!ratios.empty()) {
      text += "Published ratios to " + source.ours + " over the same rows:\n" + gap +
              bench_text(summary_cells(ratios, false), markdown) + gap;
    }
  }
  text += list_of(versions_of(result), markdown) + list_of(marks_of(result), markdown) +
          list_of(notes_of(result), markdown);
  return text;
}

std::string bench_csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string csv_of(const BenchResult& result) {
  std::string text =
      "id,operator,scaled,contestant,kind,device,seconds,low_seconds,high_seconds,spread,samples,bytes,"
      "bytes_per_second,share_of_peak,ratio,verdict,schedule,version,implementation,failure\n";
  const auto line = [&](const Cells& cells) {
    Cells quoted;
    for (const std::string& cell : cells) quoted.push_back(bench_csv_cell(cell));
    text += join(quoted, ",") + "\n";
  };
  const auto number = [](double value) { return fmt::format("{:.9g}", value); };
  for (const BenchRow& row : result.rows) {
    const auto add = [&](const std::string& name, const std::string& kind, const BenchTime* time,
                         const std::string& verdict, const std::string& schedule, const BenchSide* side,
                         const std::string& failure) {
      Cells cells{row.id, row.op.key(), row.scaled, name, kind, result.device};
      if (time != nullptr) {
        const double rate = row.bytes / time->seconds;
        cells.insert(cells.end(),
                     {number(time->seconds), number(time->low), number(time->high), number(time->spread),
                      std::to_string(time->samples), number(row.bytes), number(rate)});
        cells.push_back(result.peak.bytes_per_second > 0 ? number(rate / result.peak.bytes_per_second) : "");
        cells.push_back(number(time->seconds / row.tuned.seconds));
      } else {
        cells.resize(cells.size() + 9);
      }
      cells.insert(cells.end(),
                   {verdict, schedule, side ? side->version : "", side ? side->implementation : "", failure});
      line(cells);
    };
    add("tuned", "measured", row.ok() ? &row.tuned : nullptr, "", row.schedule, nullptr, row.error);
    for (const BenchSide& side : row.sides) {
      std::string verdict;
      if (side.time && side.reference) verdict = "reference";
      if (side.time && !side.reference) {
        verdict = name(compare(row.tuned, *side.time));
      }
      add(side.name, "measured", side.time ? &*side.time : nullptr, verdict, side.schedule, &side,
          side.failure);
    }
    for (const auto& [method, seconds] : entry_of(result, row).published) {
      Cells cells{row.id,         row.op.key(), "", method, "published", result.suite.published.device,
                  number(seconds)};
      cells.resize(20);
      line(cells);
    }
  }
  return text;
}

Json summary_json(const std::vector<BaselineSummary>& summaries, bool verdicts) {
  Json list = Json::array();
  for (const BaselineSummary& s : summaries) {
    Json json = {{"name", s.name}, {"rows", s.rows}};
    if (s.rows > 0) {
      json["arithmetic_mean"] = s.arithmetic_mean;
      json["geometric_mean"] = s.geometric_mean;
      json["min"] = {{"ratio", s.least}, {"id", s.least_id}};
      json["max"] = {{"ratio", s.most}, {"id", s.most_id}};
    }
    if (verdicts) {
      json["wins"] = s.wins;
      json["ties"] = s.ties;
      json["unresolved"] = s.unresolved;
      json["losses"] = s.losses;
      json["failed"] = s.failed;
      json["reference"] = s.reference;
    }
    list.push_back(std::move(json));
  }
  return list;
}

std::string json_of(const BenchResult& result) {
  Json json = {{"suite", result.suite.name},
               {"device", result.device},
               {"driver", result.driver},
               {"timing", result.clock},
               {"host_load", result.host_load}};
  if (result.peak.bytes_per_second > 0) {
    json["peak"] = {{"bytes_per_second", result.peak.bytes_per_second}, {"source", result.peak.source}};
  }
  const PublishedSource& source = result.suite.published;
  if (!source.device.empty()) {
    json["published"] = {
        {"device", source.device}, {"source", source.source}, {"how", source.how}, {"ours", source.ours}};
    json["published"]["ratios"] = summary_json(published_summaries_of(result), false);
  }
  json["baselines"] = summary_json(summaries_of(result), true);
  json["groups"] = Json::array();
  for (const GroupTotal& total : totals_of(result)) {
    Json group = {{"name", total.name},
                  {"rows", total.rows},
                  {"missing", total.missing},
                  {"tuned_seconds", total.seconds},
                  {"baselines", Json::array()}};
    for (std::size_t i = 0; i < total.sides.size(); ++i) {
      const GroupTotal::Side& side = total.sides[i];
      group["baselines"].push_back({{"name", result.baselines[i]},
                                    {"rows", side.rows},
                                    {"seconds", side.seconds},
                                    {"tuned_seconds", side.tuned_seconds}});
    }
    json["groups"].push_back(std::move(group));
  }
  json["rows"] = Json::array();
  for (const BenchRow& row : result.rows) {
    Json one = to_json(row);
    const SuiteEntry& entry = entry_of(result, row);
    one["groups"] = entry.groups;
    if (!entry.published.empty()) one["published"] = Json::object();
    for (const auto& [method, seconds] : entry.published) one["published"][method] = seconds;
    if (!entry.note.empty()) one["note"] = entry.note;
    if (!entry.facts.empty()) one["facts"] = entry.facts;
    json["rows"].push_back(std::move(one));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void check_bench_format(const std::string& format) {
  const std::vector<std::string> known(std::begin(kFormats), std::end(kFormats));
  if (std::find(known.begin(), known.end(), format) == known.end()) {
    throw UserError("--format: " + unknown_word_message("format", format, known));
  }
}

std::string format_bench(const BenchResult& result, const std::string& format) {
  check_bench_format(format);
  if (format == "csv") return csv_of(result);
  if (format == "json") return json_of(result);
  return readable(result, format == "md");
}

}  // namespace redtune
