// The raw grid of a search space: its variables (exponents of two), which values each may take on a kind of
// target, and how a point packs into 8 bytes. Internal to space/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

/// Exponents of two, except walk (strided 0, chunked 1) and prefetch (0: off, 1: kPrefetchBytes ahead). In
/// the order in which they stand in a packed point and are enumerated.
enum Variable : int { kSerial, kRx, kPx, kVec, kItems, kAcc, kSplit, kWalk, kPrefetch, kCopies };
inline constexpr int kVariables = 10;
inline constexpr std::int32_t kPrefetchBytes = 4096;

using Exponents = std::array<int, kVariables>;

/// A point of the raw grid: a row of mappings(), the value of `rows`, and the exponents.
struct GridPoint {
  int mapping = 0;
  int rows = 1;
  Exponents exponents{};
};

struct VariableInfo {
  std::string_view name;
  int shift;  // place in the packed point
  int bits;
};

inline constexpr std::array<VariableInfo, kVariables> kVariableInfo{{
    {"serial", 25, 5},
    {"rx", 21, 4},
    {"px", 17, 4},
    {"vec", 14, 3},
    {"items", 12, 2},
    {"acc", 10, 2},
    {"split", 5, 5},
    {"walk", 4, 1},
    {"prefetch", 3, 1},
    {"copies", 0, 3},
}};
inline constexpr int kRowsShift = 30, kRowsBits = 6, kMappingShift = 36;

constexpr std::uint64_t pack(const GridPoint& point) {
  std::uint64_t code = static_cast<std::uint64_t>(point.mapping) << kMappingShift |
                       static_cast<std::uint64_t>(point.rows) << kRowsShift;
  for (std::size_t v = 0; v < kVariables; ++v) {
    code |= static_cast<std::uint64_t>(point.exponents[v]) << kVariableInfo[v].shift;
  }
  return code;
}

constexpr GridPoint unpack(std::uint64_t code) {
  GridPoint point;
  point.mapping = static_cast<int>(code >> kMappingShift);
  point.rows = static_cast<int>(code >> kRowsShift & ((1u << kRowsBits) - 1));
  for (std::size_t v = 0; v < kVariables; ++v) {
    point.exponents[v] =
        static_cast<int>(code >> kVariableInfo[v].shift & ((1u << kVariableInfo[v].bits) - 1));
  }
  return point;
}

/// The values that each variable may take, ascending, before any constraint.
struct Grids {
  std::array<std::vector<int>, kVariables> exponents;
  std::vector<int> rows;
};

Grids grids_of(const Task& task);

Schedule schedule_of(const GridPoint& point);

/// Nothing when the size is no value of the variable at all (rx=3, prefetch=64).
std::optional<int> exponent_of(const Schedule& schedule, Variable variable);
std::int32_t size_of(const Schedule& schedule, Variable variable);

/// The value of a variable as its schedule shows it: "64", "strided".
std::string shown(Variable variable, int exponent);

/// The grid point of a schedule; nothing when one of its sizes has no exponent (rx=3).
std::optional<GridPoint> point_of(const Schedule& schedule);

/// floor and ceiling of log2; 0 for n <= 1.
int floor_log2(std::int64_t n);
int ceil_log2(std::int64_t n);

}  // namespace redtune
