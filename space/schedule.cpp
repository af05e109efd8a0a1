#include "space/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "support/error.h"

namespace redtune {
namespace {

using namespace std::string_view_literals;

// Names in enum order.
constexpr std::array kBlockNames{"none"sv, "lane"sv, "tree"sv, "warp"sv, "shuffle"sv, "shared_atomic"sv, "redux"sv};
constexpr std::array kGridNames{"none"sv,           "second_kernel"sv, "last_block"sv, "atomic"sv,
                                "private_atomic"sv, "grid_sync"sv,     "cluster"sv};
constexpr std::array kWalkNames{"strided"sv, "chunked"sv};
constexpr std::array kClassNames{"tree"sv, "atomic"sv, "hybrid"sv};

// In the order of the text form.
constexpr std::array<ScheduleSize, 10> kSizes{{
    {"rx", &Schedule::rx, 1},
    {"px", &Schedule::px, 1},
    {"vec", &Schedule::vec, 1},
    {"acc", &Schedule::acc, 1},
    {"items", &Schedule::items, 1},
    {"rows", &Schedule::rows, 1},
    {"serial", &Schedule::serial, 1},
    {"split", &Schedule::split, 1},
    {"prefetch", &Schedule::prefetch, 0},
    {"copies", &Schedule::copies, 1},
}};

std::vector<std::string> strings(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

template <typename Enum>
Enum parse_word(std::string_view field, std::string_view word, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) {
    throw UserError("schedule: " +
                    unknown_word_message("value of " + std::string(field), word, strings(names)));
  }
  return static_cast<Enum>(found - names.begin());
}

std::int32_t parse_size(const ScheduleSize& field, std::string_view word) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < field.smallest) {
    throw UserError(fmt::format("schedule: field '{}' must be an integer from {} to 2147483647, is '{}'",
                                field.name, field.smallest, word));
  }
  return value;
}

void set_field(Schedule& schedule, std::string_view field, std::string_view value) {
  if (field == "block") {
    schedule.block = parse_word<BlockCombine>(field, value, kBlockNames);
  } else if (field == "grid") {
    schedule.grid = parse_word<GridCombine>(field, value, kGridNames);
  } else if (field == "walk") {
    schedule.walk = parse_word<Walk>(field, value, kWalkNames);
  } else {
    const auto size = std::find_if(kSizes.begin(), kSizes.end(),
                                   [&](const ScheduleSize& candidate) { return candidate.name == field; });
    if (size == kSizes.end()) {
      std::vector<std::string> known{"block", "grid", "walk"};
      for (const ScheduleSize& candidate : kSizes) known.emplace_back(candidate.name);
      throw UserError("schedule: " + unknown_word_message("field", field, known));
    }
    schedule.*(size->member) = parse_size(*size, value);
  }
}

}  // namespace

std::string_view name(BlockCombine c) { return kBlockNames[static_cast<std::size_t>(c)]; }
std::string_view name(GridCombine c) { return kGridNames[static_cast<std::size_t>(c)]; }
std::string_view name(Walk w) { return kWalkNames[static_cast<std::size_t>(w)]; }
std::string_view name(MappingClass c) { return kClassNames[static_cast<std::size_t>(c)]; }

MappingClass Schedule::mapping_class() const {
  if (!uses_atomics()) return MappingClass::kTree;
  if (grid == GridCombine::kNone) return MappingClass::kAtomic;
  const bool straight = block == BlockCombine::kNone || block == BlockCombine::kWarp;
  return straight ? MappingClass::kAtomic : MappingClass::kHybrid;
}

bool Schedule::uses_atomics() const {
  return block == BlockCombine::kShared || grid == GridCombine::kAtomic || grid == GridCombine::kPrivateAtomic;
}

std::string Schedule::mapping() const {
  std::string text(name(block));
  if (grid != GridCombine::kNone) text.append("+").append(name(grid));
  return text;
}

std::string Schedule::text() const {
  std::string text = fmt::format("block={} grid={}", name(block), name(grid));
  for (const ScheduleSize& field : kSizes) {
    if (field.member != &Schedule::prefetch && field.member != &Schedule::copies) text += fmt::format(" {}={}", field.name, this->*(field.member));
  }
  text += fmt::format(" walk={}", name(walk));
  // Nearly always off: the text stays short, and older texts stay the same.
  if (prefetch != 0) text += fmt::format(" prefetch={}", prefetch);
  if (copies != 1) text += fmt::format(" copies={}", copies);
  return text;
}

std::span<const std::string_view> block_combine_names() { return kBlockNames; }
std::span<const std::string_view> grid_combine_names() { return kGridNames; }

std::span<const ScheduleSize> schedule_sizes() { return kSizes; }

double squared_distance(const Schedule& a, const Schedule& b) {
  constexpr double kOtherCombine = 4;
  const auto log = [](std::int32_t size) { return std::log2(static_cast<double>(std::max(size, 1))); };
  double sum = (a.block != b.block ? kOtherCombine : 0) + (a.grid != b.grid ? kOtherCombine : 0);
  for (const ScheduleSize& size : kSizes) {
    if (size.member == &Schedule::prefetch) continue;  // on or off, below
    const double step = log(a.*(size.member)) - log(b.*(size.member));
    sum += step * step;
  }
  return sum + (a.walk != b.walk ? 1 : 0) + ((a.prefetch > 0) != (b.prefetch > 0) ? 1 : 0);
}

Schedule parse_schedule(std::string_view text) {
  Schedule schedule;
  std::vector<std::string_view> seen;
  constexpr std::string_view kSeparators = " ,\t\n\r";
  for (std::size_t at = text.find_first_not_of(kSeparators); at != std::string_view::npos;
       at = text.find_first_not_of(kSeparators, at)) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw UserError(fmt::format("schedule: '{}' is not of the form field=value (as rx=64)", word));
    }
    const std::string_view field = word.substr(0, equals);
    set_field(schedule, field, word.substr(equals + 1));
    if (std::find(seen.begin(), seen.end(), field) != seen.end()) {
      throw UserError(fmt::format("schedule: field '{}' stands twice", field));
    }
    seen.push_back(field);
    at = end;
  }
  return schedule;
}

}  // namespace redtune
