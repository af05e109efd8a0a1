#include "tuner/bench/bench_summary.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "support/error.h"
#include "support/stats.h"
#include "support/text.h"

namespace redtune {
namespace {

struct Ratio {
  double value;
  std::string id;
};

void describe(BaselineSummary& summary, const std::vector<Ratio>& ratios) {
  summary.rows = ratios.size();
  if (ratios.empty()) return;
  std::vector<double> values;
  for (const Ratio& ratio : ratios) values.push_back(ratio.value);
  summary.arithmetic_mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  summary.geometric_mean = geometric_mean(values);
  const auto [least, most] = std::minmax_element(
      ratios.begin(), ratios.end(), [](const Ratio& a, const Ratio& b) { return a.value < b.value; });
  summary.least = least->value;
  summary.least_id = least->id;
  summary.most = most->value;
  summary.most_id = most->id;
}

void count(BaselineSummary& summary, BenchVerdict verdict) {
  ++(verdict == BenchVerdict::kWin    ? summary.wins
     : verdict == BenchVerdict::kTie  ? summary.ties
     : verdict == BenchVerdict::kLoss ? summary.losses
                                      : summary.unresolved);
}

BaselineSummary summary_of(const BenchResult& result, const std::string& name) {
  BaselineSummary summary;
  summary.name = name;
  std::vector<Ratio> ratios;
  for (const BenchRow& row : result.rows) {
    const BenchSide* const side = row.side(name);
    if (!row.ok() || side == nullptr) continue;
    if (!side->time) {
      ++summary.failed;
    } else if (side->reference) {
      ++summary.reference;
    } else {
      ratios.push_back({side->time->seconds / row.tuned.seconds, row.id});
      count(summary, compare(row.tuned, *side->time));
    }
  }
  describe(summary, ratios);
  return summary;
}

std::vector<std::string> published_methods(const BenchResult& result) {
  std::vector<std::string> methods;
  for (const BenchRow& row : result.rows) {
    for (const auto& [method, seconds] : entry_of(result, row).published) {
      if (std::find(methods.begin(), methods.end(), method) == methods.end()) methods.push_back(method);
    }
  }
  return methods;
}

void add_row(GroupTotal& total, const BenchResult& result, const BenchRow& row) {
  ++total.rows;
  total.seconds += row.tuned.seconds;
  for (std::size_t i = 0; i < result.baselines.size(); ++i) {
    const BenchSide* const side = row.side(result.baselines[i]);
    if (side == nullptr || !side->time || side->reference) continue;
    ++total.sides[i].rows;
    total.sides[i].seconds += side->time->seconds;
    total.sides[i].tuned_seconds += row.tuned.seconds;
  }
}

}  // namespace

const SuiteEntry& entry_of(const BenchResult& result, const BenchRow& row) {
  for (const SuiteEntry& entry : result.suite.entries) {
    if (entry.id == row.id) return entry;
  }
  throw InternalError("row " + row.id + " is not of suite " + result.suite.name);
}

std::vector<BaselineSummary> summaries_of(const BenchResult& result) {
  std::vector<BaselineSummary> summaries;
  for (const std::string& name : result.baselines) summaries.push_back(summary_of(result, name));
  return summaries;
}

std::vector<BaselineSummary> published_summaries_of(const BenchResult& result) {
  const std::string& ours = result.suite.published.ours;
  std::vector<BaselineSummary> summaries;
  if (ours.empty()) return summaries;
  for (const std::string& method : published_methods(result)) {
    if (method == ours) continue;
    BaselineSummary& summary = summaries.emplace_back();
    summary.name = method;
    std::vector<Ratio> ratios;
    for (const BenchRow& row : result.rows) {
      const SuiteEntry& entry = entry_of(result, row);
      const double other = published_seconds(entry, method), own = published_seconds(entry, ours);
      if (other > 0 && own > 0) ratios.push_back({other / own, row.id});
    }
    describe(summary, ratios);
  }
  return summaries;
}

std::vector<GroupTotal> totals_of(const BenchResult& result) {
  std::vector<GroupTotal> totals;
  std::map<std::string, std::size_t> index;
  std::map<std::string, const BenchRow*> rows;
  for (const BenchRow& row : result.rows) rows[row.id] = &row;
  for (const SuiteEntry& entry : result.suite.entries) {
    const auto row = rows.find(entry.id);
    for (const std::string& group : entry.groups) {
      const auto [at, added] = index.emplace(group, totals.size());
      if (added) {
        totals.emplace_back().name = group;
        totals.back().sides.resize(result.baselines.size());
      }
      GroupTotal& total = totals[at->second];
      if (row == rows.end() || !row->second->ok()) {
        ++total.missing;
      } else {
        add_row(total, result, *row->second);
      }
    }
  }
  std::erase_if(totals, [](const GroupTotal& total) { return total.rows == 0; });
  return totals;
}

std::vector<std::string> marks_of(const BenchResult& result) {
  // Reason -> rows, in the order of the baselines and of the rows.
  std::vector<std::string> lines;
  for (const std::string& name : result.baselines) {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    const auto note = [&](const std::string& reason, const std::string& id) {
      for (auto& [known, ids] : reasons) {
        if (known == reason) return ids.push_back(id);
      }
      reasons.push_back({reason, {id}});
    };
    for (const BenchRow& row : result.rows) {
      const BenchSide* const side = row.ok() ? row.side(name) : nullptr;
      if (side == nullptr) continue;
      if (!side->time) note("no time: " + split(side->failure, '\n').front(), row.id);
      if (side->time && side->reference) {
        note("measured, not counted: reference implementation " + side->implementation, row.id);
      }
    }
    for (const auto& [reason, ids] : reasons) {
      lines.push_back(name + ", " + std::to_string(ids.size()) + (ids.size() == 1 ? " row (" : " rows (as ") +
                      ids.front() + "): " + reason);
    }
  }
  return lines;
}

std::vector<std::string> versions_of(const BenchResult& result) {
  std::vector<std::string> lines;
  for (const std::string& name : result.baselines) {
    std::string version, clock;
    std::map<std::string, std::size_t> chosen;
    int preempted = 0, samples = 0;
    for (const BenchRow& row : result.rows) {
      const BenchSide* const side = row.side(name);
      if (side == nullptr || side->version.empty()) continue;
      version = side->version;
      clock = side->clock;
      ++chosen[side->implementation];
      if (side->time) preempted += side->time->preempted;
      if (side->time) samples += side->time->samples;
    }
    if (version.empty()) continue;
    std::string line = name + ": " + version + "; clock " + clock + "; chose";
    for (const auto& [implementation, rows] : chosen) {
      line += (line.ends_with("chose") ? " " : ", ") + implementation + " (" + std::to_string(rows) + ")";
    }
    if (preempted > 0) {
      line += "; other programs ran during " + std::to_string(preempted) + " of " + std::to_string(samples) +
              " samples";
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace redtune
