#include "space/space_grid.h"

#include <algorithm>
#include <bit>

#include "space/axes.h"
#include "space/mappings.h"

namespace redtune {
namespace {

struct Progression {
  int step;  // of exponents, from 0
  int max;
};

/// One row per kind of processor. A CPU compiler unrolls and schedules by itself and a work-item is a loop
/// iteration there, so thread counts are coarse and serial work goes far; on a GPU it is the other way round.
struct KindGrid {
  Progression serial, rx, px, vec, items, acc, split;
  bool prefetch;
  std::array<int, 5> row_rows, column_rows;  // 0: none
  int largest_divisor;                       // of the vectors along pi, also taken as `rows` (column type)
};

constexpr KindGrid kCpuGrid{{2, 16}, {3, 6}, {3, 6},          {2, 4},           {1, 3}, {1, 3},
                            {1, 14}, true,   {1, 2, 4, 8, 0}, {1, 2, 4, 8, 16}, 48};
constexpr KindGrid kGpuGrid{{2, 4},  {1, 10}, {1, 10},         {1, 4},          {1, 3}, {2, 2},
                            {1, 16}, false,   {1, 2, 4, 0, 0}, {1, 2, 4, 0, 0}, 8};

std::vector<int> values(const Progression& progression) {
  std::vector<int> result;
  for (int e = 0; e <= progression.max; e += progression.step) result.push_back(e);
  return result;
}

void insert_sorted(std::vector<int>& list, int value) {
  const auto at = std::lower_bound(list.begin(), list.end(), value);
  if (at == list.end() || *at != value) list.insert(at, value);
}

std::vector<int> rows_grid(const Task& task, const KindGrid& kind) {
  const Axes axes = axes_of(task.canonical);
  std::vector<int> rows;
  for (const int value : axes.row_type ? kind.row_rows : kind.column_rows) {
    if (value > 0) rows.push_back(value);
  }
  if (axes.row_type) return rows;
  const std::int64_t vec = max_vector(task);
  const std::int64_t vectors = (axes.inner + vec - 1) / vec;
  for (int divisor = 1; divisor <= kind.largest_divisor; ++divisor) {
    if (vectors > 0 && vectors % divisor == 0) insert_sorted(rows, divisor);
  }
  return rows;
}

// Of the variables that are powers of two.
constexpr std::array<std::int32_t Schedule::*, 7> kSizeMembers{
    &Schedule::serial, &Schedule::rx,  &Schedule::px,   &Schedule::vec,
    &Schedule::items,  &Schedule::acc, &Schedule::split};

}  // namespace

int floor_log2(std::int64_t n) { return n <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(n)) - 1; }
int ceil_log2(std::int64_t n) { return n <= 1 ? 0 : std::bit_width(static_cast<std::uint64_t>(n - 1)); }

Grids grids_of(const Task& task) {
  const KindGrid& kind = task.target.kind == TargetKind::kOpenClCpu ? kCpuGrid : kGpuGrid;
  Grids grids;
  grids.exponents[kSerial] = values(kind.serial);
  grids.exponents[kRx] = values(kind.rx);
  grids.exponents[kPx] = values(kind.px);
  grids.exponents[kVec] = values(kind.vec);
  insert_sorted(grids.exponents[kVec], floor_log2(max_vector(task)));
  grids.exponents[kItems] = values(kind.items);
  grids.exponents[kAcc] = values(kind.acc);
  grids.exponents[kSplit] = values(kind.split);
  grids.exponents[kWalk] = {static_cast<int>(Walk::kStrided), static_cast<int>(Walk::kChunked)};
  grids.exponents[kPrefetch] = kind.prefetch ? std::vector<int>{0, 1} : std::vector<int>{0};
  // One copy serves where the output cannot take the atomics itself; more spread them over more addresses.
  grids.exponents[kCopies] = {0, 1, 3};
  grids.rows = rows_grid(task, kind);
  return grids;
}

Schedule schedule_of(const GridPoint& point) {
  const MappingInfo& mapping = mappings()[static_cast<std::size_t>(point.mapping)];
  Schedule schedule;
  schedule.block = mapping.block;
  schedule.grid = mapping.grid;
  schedule.rows = point.rows;
  for (std::size_t v = 0; v < kSizeMembers.size(); ++v) schedule.*kSizeMembers[v] = 1 << point.exponents[v];
  schedule.walk = static_cast<Walk>(point.exponents[kWalk]);
  schedule.prefetch = point.exponents[kPrefetch] == 0 ? 0 : kPrefetchBytes;
  schedule.copies = 1 << point.exponents[kCopies];
  return schedule;
}

std::optional<int> exponent_of(const Schedule& schedule, Variable variable) {
  if (variable == kWalk) return static_cast<int>(schedule.walk);
  if (variable == kPrefetch) {
    if (schedule.prefetch == 0) return 0;
    return schedule.prefetch == kPrefetchBytes ? std::optional<int>(1) : std::nullopt;
  }
  const std::int32_t value = size_of(schedule, variable);
  if (value < 1 || !std::has_single_bit(static_cast<std::uint32_t>(value))) return std::nullopt;
  const int exponent = floor_log2(value);
  return exponent < 1 << kVariableInfo[static_cast<std::size_t>(variable)].bits ? std::optional<int>(exponent)
                                                                                : std::nullopt;
}

std::int32_t size_of(const Schedule& schedule, Variable variable) {
  if (variable == kWalk) return static_cast<std::int32_t>(schedule.walk);
  if (variable == kPrefetch) return schedule.prefetch;
  if (variable == kCopies) return schedule.copies;
  return schedule.*kSizeMembers[static_cast<std::size_t>(variable)];
}

std::string shown(Variable variable, int exponent) {
  if (variable == kWalk) return std::string(name(static_cast<Walk>(exponent)));
  if (variable == kPrefetch) return std::to_string(exponent == 0 ? 0 : kPrefetchBytes);
  return std::to_string(std::int64_t{1} << exponent);
}

std::optional<GridPoint> point_of(const Schedule& schedule) {
  GridPoint point;
  const auto mapping = std::find_if(mappings().begin(), mappings().end(), [&](const MappingInfo& row) {
    return row.block == schedule.block && row.grid == schedule.grid;
  });
  if (mapping == mappings().end()) return std::nullopt;
  if (schedule.rows < 1 || schedule.rows >= 1 << kRowsBits) return std::nullopt;
  point.mapping = static_cast<int>(mapping - mappings().begin());
  point.rows = schedule.rows;
  for (int v = 0; v < kVariables; ++v) {
    const std::optional<int> exponent = exponent_of(schedule, static_cast<Variable>(v));
    if (!exponent) return std::nullopt;
    point.exponents[static_cast<std::size_t>(v)] = *exponent;
  }
  return point;
}

}  // namespace redtune
