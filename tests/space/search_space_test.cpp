#include "space/search_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "space/mappings.h"
#include "tests/space/task_builder.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::HasSubstr;

/// A small task of every form, on a CPU and on a GPU.
std::vector<Task> small_tasks() {
  std::vector<Task> tasks;
  for (const char* target : {"cpu", "sm_75"}) {
    tasks.push_back(task_of("1", "", target));
    tasks.push_back(task_of("64", "", target));
    tasks.push_back(task_of("7x33", "1", target));
    tasks.push_back(task_of("40x24", "0", target));
    tasks.push_back(task_of("5x6x40", "0,2", target));
    tasks.push_back(task_of("4x30x12", "1", target));
    tasks.push_back(task_of("2x5x3x8", "0,2", target, "max", "f16"));
    tasks.push_back(task_of("12x10", "none", target));
    tasks.push_back(task_of("0x8", "1", target));
  }
  tasks.push_back(task_of("5x640", "1", "sm_90", "min", "i32"));
  tasks.push_back(task_of("6x4x64", "0,2", "sm_90"));
  return tasks;
}

std::string broken(const SearchSpace& space, const std::string& schedule) {
  const std::optional<Rejection> rejection = space.why_not(parse_schedule(schedule));
  return rejection ? rejection->constraint : "";
}

std::string explained(const SearchSpace& space, const std::string& schedule) {
  const std::optional<Rejection> rejection = space.why_not(parse_schedule(schedule));
  return rejection ? rejection->detail : "";
}

TEST(SearchSpace, HoldsThePointsThatIslCounts) {
  for (const Task& task : small_tasks()) {
    const SearchSpace space(task);
    EXPECT_EQ(space.codes(), space.isl_points()) << task.key();
  }
}

TEST(SearchSpace, IsNeverEmptyAndAlwaysHoldsASerialSchedule) {
  for (const Task& task : small_tasks()) {
    const SearchSpace space(task, parse_mapping_filter("none+none"));
    EXPECT_GT(space.size(), 0u) << task.key();
  }
}

TEST(SearchSpace, HasOneScheduleForOneElement) {
  for (const char* target : {"cpu", "sm_90"}) {
    const SearchSpace space(task_of("1", "", target));
    ASSERT_EQ(space.size(), 1u) << target;
    EXPECT_EQ(space.at(0), Schedule{});
  }
}

TEST(SearchSpace, FindsEveryScheduleThatItLists) {
  for (const Task& task : small_tasks()) {
    const SearchSpace space(task);
    for (std::size_t i = 0; i < space.size(); ++i) {
      const Schedule schedule = space.at(i);
      ASSERT_EQ(space.find(schedule), i) << schedule.text();
      ASSERT_FALSE(space.why_not(schedule)) << schedule.text();
      ASSERT_EQ(parse_schedule(schedule.text()), schedule);
    }
  }
}

TEST(SearchSpace, ExplainsExactlyTheSchedulesThatItDoesNotList) {
  const SearchSpace space(task_of("40x24", "0", "cpu"));
  const SearchSpace wider(task_of("4000x2400", "0", "cpu"));
  for (std::size_t i = 0; i < wider.size(); i += 7) {
    const Schedule schedule = wider.at(i);
    ASSERT_EQ(space.why_not(schedule).has_value(), !space.find(schedule).has_value()) << schedule.text();
  }
}

TEST(SearchSpace, ExplainsAnyScheduleOrFindsIt) {
  Rng rng(3);
  const auto any = [&](std::int32_t bound) {
    return std::int32_t{1} << rng.below(static_cast<std::uint64_t>(bound));
  };
  for (const char* target : {"cpu", "sm_75"}) {
    for (const auto& [shape, axes] : {std::pair{"512x4096", "1"}, {"4096x520", "0"}, {"7x300x33", "0,2"}}) {
      const SearchSpace space(task_of(shape, axes, target, "sum", "f64"));
      for (int i = 0; i < 5'000; ++i) {
        Schedule s;
        const MappingInfo& mapping = mappings()[rng.below(mappings().size())];
        s.block = mapping.block;
        s.grid = mapping.grid;
        s.rx = any(11);
        s.px = any(8);
        s.vec = any(5);
        s.items = any(3);
        s.acc = any(2);
        s.rows = any(4);
        s.serial = any(2);
        s.split = any(12);
        s.walk = static_cast<Walk>(rng.below(2));
        const std::optional<Rejection> rejection = space.why_not(s);
        ASSERT_EQ(rejection.has_value(), !space.find(s).has_value()) << s.text();
        ASSERT_FALSE(rejection && (rejection->constraint.empty() || rejection->detail.empty())) << s.text();
      }
    }
  }
}

TEST(SearchSpace, NeighboursAreMutualAndOthers) {
  for (const Task& task : small_tasks()) {
    const SearchSpace space(task);
    for (std::size_t i = 0; i < space.size(); i += 1 + space.size() / 200) {
      const std::vector<std::size_t> around = space.neighbours(i);
      ASSERT_TRUE(std::is_sorted(around.begin(), around.end()));
      for (const std::size_t other : around) {
        ASSERT_NE(other, i);
        ASSERT_LT(other, space.size());
        const std::vector<std::size_t> back = space.neighbours(other);
        ASSERT_TRUE(std::binary_search(back.begin(), back.end(), i))
            << space.at(i).text() << " -> " << space.at(other).text();
      }
    }
  }
}

TEST(SearchSpace, NeighboursReachEveryMapping) {
  const SearchSpace space(task_of("64x4096", "1", "sm_75"));
  std::vector<bool> seen(space.size());
  std::vector<std::size_t> open{0};
  seen[0] = true;
  while (!open.empty()) {
    const std::size_t here = open.back();
    open.pop_back();
    for (const std::size_t next : space.neighbours(here)) {
      if (!seen[next]) open.push_back(next);
      seen[next] = true;
    }
  }
  std::set<std::string> reached;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (seen[i]) reached.insert(space.at(i).mapping());
  }
  std::set<std::string> legal;
  for (const MappingInfo& row : mappings()) {
    if (!reject_mapping(space.task(), row.block, row.grid)) legal.emplace(row.name);
  }
  EXPECT_EQ(reached, legal);
}

TEST(SearchSpace, SameSeedGivesTheSameSamples) {
  const SearchSpace space(task_of("64x1024", "1", "cpu"));
  Rng a(7), b(7), c(8);
  std::set<std::size_t> first, other;
  for (int i = 0; i < 100; ++i) {
    const std::size_t sample = space.sample(a);
    ASSERT_LT(sample, space.size());
    ASSERT_EQ(sample, space.sample(b));
    first.insert(sample);
    other.insert(space.sample(c));
  }
  EXPECT_NE(first, other);
  EXPECT_GT(first.size(), 50u);
}

TEST(SearchSpace, NamesTheConstraintThatAScheduleBreaks) {
  const SearchSpace gpu(task_of("768x21128", "1", "sm_90"));
  const SearchSpace narrow(task_of("64x100", "0", "sm_90"));
  const SearchSpace cpu(task_of("4096x1024", "1", "cpu"));
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 px=2 vec=4"), "");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 px=8"), "threads_per_block");
  EXPECT_EQ(broken(gpu, "block=tree rx=16"), "partial_warp");
  EXPECT_EQ(broken(gpu, "rx=32"), "block_combine");
  EXPECT_EQ(broken(gpu, "block=tree px=32"), "block_combine");
  EXPECT_EQ(broken(gpu, "block=warp rx=64"), "block_combine");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=32"), "block_combine");
  EXPECT_EQ(broken(gpu, "block=warp rx=16"), "full_warps");
  EXPECT_EQ(broken(gpu, "block=lane rx=256"), "lane_depth");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 split=8"), "split_needs_combine");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 grid=atomic"), "combine_needs_split");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 walk=strided"), "strided_needs_split");
  EXPECT_EQ(broken(gpu, "block=tree rx=2 px=32 vec=1"), "coalesced");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 acc=4 items=2"), "acc_divides_items");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 items=8 rows=4"), "unroll_budget");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 items=4 acc=4 rows=4 vec=4"), "registers");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 vec=8"), "vector_alignment");
  EXPECT_EQ(broken(gpu, "block=shuffle rx=256 serial=16"), "idle_units");
  EXPECT_EQ(broken(gpu, "block=shuffle grid=atomic rx=256 split=4 serial=4"), "serial_or_split");
  EXPECT_EQ(broken(gpu, "block=shuffle grid=atomic rx=256 split=64"), "split_waves");
  EXPECT_EQ(broken(gpu, "grid=atomic rx=1024 split=8"), "atomics_per_output");
  EXPECT_EQ(broken(narrow, "px=256"), "idle_lanes_kept");
  EXPECT_EQ(broken(narrow, "block=tree rx=16 px=32 items=8"), "idle_lanes_reduced");
  EXPECT_EQ(broken(narrow, "block=tree grid=second_kernel rx=16 px=32 split=8"), "empty_split");
  EXPECT_EQ(broken(gpu, "block=shared_atomic rx=64"), "shared_contention");
  EXPECT_EQ(broken(gpu, "block=tree grid=private_atomic rx=64 split=8 copies=2"), "copies_are_shared");
  EXPECT_EQ(broken(gpu, "block=tree grid=private_atomic rx=64 split=8"), "one_copy");
  EXPECT_EQ(broken(gpu, "block=tree grid=private_atomic rx=64 split=4 copies=2 walk=strided"), "one_walk");
  EXPECT_EQ(broken(gpu, "block=tree grid=atomic rx=64 split=4 copies=2"), "copies_without_use");
  EXPECT_EQ(broken(SearchSpace(task_of("64x4096", "1", "sm_90")), "block=tree grid=cluster rx=64 split=16"),
            "cluster_size");
  EXPECT_EQ(broken(gpu, "block=tree grid=grid_sync rx=256 split=8"), "resident");
  EXPECT_EQ(broken(gpu, "block=shared_atomic rx=8 px=4 rows=2"), "one_output");
  EXPECT_EQ(broken(gpu, "block=tree grid=private_atomic rx=64 split=4 copies=4"), "grid");
  EXPECT_EQ(broken(SearchSpace(task_of("64x4096", "1", "sm_90", "max", "i32")), "block=redux rx=16 px=2"),
            "block_combine");
  EXPECT_EQ(broken(cpu, "block=tree rx=8 prefetch=4096"), "prefetch_alone");
  EXPECT_EQ(broken(cpu, "prefetch=4096"), "prefetch_reach");
}

TEST(SearchSpace, ExplainsWithNumbers) {
  const SearchSpace gpu(task_of("768x21128", "1", "sm_90"));
  EXPECT_EQ(explained(gpu, "block=shuffle rx=256 px=8"),
            "rx*px = 256*8 = 2048 threads, target sm_90 allows 1024");
  EXPECT_EQ(explained(gpu, "block=shuffle rx=256 serial=16"), "serial=16 leaves 48 blocks for 132 units");
  EXPECT_EQ(explained(gpu, "block=shuffle rx=256 split=8"),
            "split=8 blocks share the reduced axis and grid=none does not combine them");
}

TEST(SearchSpace, ExplainsSizesThatAreNotOnTheGrid) {
  const SearchSpace cpu(task_of("4096x1024", "1", "cpu"));
  EXPECT_EQ(explained(cpu, "rx=3"), "rx=3 is not on the grid 1, 8, 64");
  EXPECT_EQ(explained(cpu, "px=32"), "px=32 is not on the grid 1, 8, 64");
  EXPECT_EQ(explained(cpu, "rows=3"), "rows=3 is not on the grid 1, 2, 4, 8");
  EXPECT_EQ(explained(cpu, "prefetch=64"), "prefetch=64 is not on the grid 0, 4096");
  EXPECT_EQ(broken(cpu, "rx=2147483647"), "grid");
  EXPECT_EQ(broken(cpu, "rows=2147483647"), "grid");
  EXPECT_FALSE(cpu.find(parse_schedule("rx=3")));
  EXPECT_FALSE(cpu.find(parse_schedule("rx=1073741824")));
}

TEST(SearchSpace, ExplainsMappingsThatAreIllegal) {
  EXPECT_THAT(explained(SearchSpace(task_of("64x1024", "1", "cpu", "sum", "f16")),
                        "block=tree grid=atomic rx=8 split=2"),
              HasSubstr("ask for out f32"));
  EXPECT_EQ(broken(SearchSpace(task_of("64x1024", "0", "cpu")), "block=warp rx=8"), "shuffle_form");
}

TEST(SearchSpace, FilterKeepsWhatItNamesAndExplainsTheRest) {
  const Task task = task_of("64x4096", "1", "sm_90");
  const SearchSpace all(task);
  std::size_t sum = 0;
  for (const char* word : {"tree", "atomic", "hybrid"}) {
    const SearchSpace some(task, parse_mapping_filter(word));
    for (std::size_t i = 0; i < some.size(); ++i) ASSERT_EQ(name(some.at(i).mapping_class()), word);
    sum += some.size();
  }
  EXPECT_EQ(sum, all.size());
  const SearchSpace hybrid(task, parse_mapping_filter("tree+atomic"));
  ASSERT_GT(hybrid.size(), 0u);
  for (std::size_t i = 0; i < hybrid.size(); ++i) ASSERT_EQ(hybrid.at(i).mapping(), "tree+atomic");
  EXPECT_EQ(explained(hybrid, "block=shuffle rx=256"),
            "the filter asks for block=tree; shuffle is block=shuffle grid=none, class tree");
}

TEST(SearchSpace, RunToRunHasNoAtomicsThatRound) {
  SpaceFilter filter;
  filter.run_to_run_only = true;
  const Task task = task_of("64x4096", "1", "sm_90");
  const SearchSpace filtered(task, filter), demanded(repeatable(task));
  EXPECT_EQ(filtered.codes(), demanded.codes());
  for (std::size_t i = 0; i < filtered.size(); ++i) {
    ASSERT_EQ(determinism_of(task, filtered.at(i)), Determinism::kRunToRun);
  }
  EXPECT_EQ(broken(filtered, "block=shuffle grid=atomic rx=256 split=4"), "filter");
  EXPECT_EQ(broken(demanded, "block=shuffle grid=atomic rx=256 split=4"), "determinism");
  const Task exact = task_of("64x4096", "1", "sm_90", "max");
  EXPECT_EQ(SearchSpace(exact, filter).codes(), SearchSpace(exact).codes());
}

TEST(SearchSpace, ReadsMappingFilters) {
  EXPECT_EQ(parse_mapping_filter("hybrid").mapping_class, MappingClass::kHybrid);
  EXPECT_EQ(parse_mapping_filter("tree").mapping_class, MappingClass::kTree);
  EXPECT_EQ(parse_mapping_filter("lane").block, BlockCombine::kLane);
  EXPECT_EQ(parse_mapping_filter("last_block").grid, GridCombine::kLastBlock);
  const SpaceFilter both = parse_mapping_filter("warp+second_kernel");
  EXPECT_EQ(both.block, BlockCombine::kWarp);
  EXPECT_EQ(both.grid, GridCombine::kSecondKernel);
  EXPECT_THAT(message_of([] { parse_mapping_filter("hybrd"); }),
              HasSubstr("unknown mapping 'hybrd'; did you mean 'hybrid'"));
  EXPECT_THAT(message_of([] { parse_mapping_filter("tree+atomics"); }),
              HasSubstr("did you mean 'tree+atomic'"));
}

TEST(SearchSpace, TypicalTasksHaveThousandsOfSchedules) {
  for (const char* target : {"cpu", "sm_90"}) {
    for (const auto& [shape, axes] : {std::pair{"4096x1024", "1"}, {"1024x1024", "0"}, {"16777216", ""}}) {
      const SearchSpace space(task_of(shape, axes, target));
      EXPECT_GT(space.size(), 1'000u) << shape << " on " << target;
      EXPECT_LT(space.size(), 300'000u) << shape << " on " << target;
    }
  }
}

TEST(SearchSpace, IslTextHasALineForEachMapping) {
  const std::string text =
      SearchSpace(task_of("7x33", "1", "sm_75"), parse_mapping_filter("tree")).isl_text();
  EXPECT_THAT(text, HasSubstr("\nnone: { [rows"));
  EXPECT_THAT(text, HasSubstr("\ntree: { [rows"));
  EXPECT_THAT(text, testing::Not(HasSubstr("atomic")));
}

}  // namespace
}  // namespace redtune
