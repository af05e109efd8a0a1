// What the rows of a bench say together.
#pragma once

#include <string>
#include <vector>

#include "tuner/bench/bench_row.h"

namespace redtune {

/// Ratios of one baseline: its time over the tuned schedule's. Rows where it failed or is its makers'
/// reference implementation are counted as such and nowhere else.
struct BaselineSummary {
  std::string name;
  std::size_t rows = 0, wins = 0, ties = 0, losses = 0, unresolved = 0, failed = 0, reference = 0;
  double arithmetic_mean = 0, geometric_mean = 0, least = 0, most = 0;  // 0 without rows
  std::string least_id, most_id;
};
std::vector<BaselineSummary> summaries_of(const BenchResult& result);

/// Published ratios over the rows of `result`: a method's time over that of the method that stands where
/// redtune does. Empty when the suite names none.
std::vector<BaselineSummary> published_summaries_of(const BenchResult& result);

/// Sums over the rows of a group; a baseline's over those rows where it has a time, and the tuned time over
/// just these beside it.
struct GroupTotal {
  struct Side {
    std::size_t rows = 0;
    double seconds = 0, tuned_seconds = 0;
  };
  std::string name;
  std::size_t rows = 0, missing = 0;  // measured; in the suite but without a time here
  double seconds = 0;
  std::vector<Side> sides;  // by BenchResult::baselines
};
/// In the order of the suite.
std::vector<GroupTotal> totals_of(const BenchResult& result);

/// Why baselines have no time, or one that does not count: one line for each reason, with the first row.
std::vector<std::string> marks_of(const BenchResult& result);

/// Version and chosen implementations of each baseline that is a program, and how its clock differs.
std::vector<std::string> versions_of(const BenchResult& result);

/// The entry of the suite that a row belongs to.
const SuiteEntry& entry_of(const BenchResult& result, const BenchRow& row);

}  // namespace redtune
