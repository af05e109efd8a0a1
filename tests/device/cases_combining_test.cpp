// Cases of combining: barriers, partial warps, atomics, tickets, repeats.
#include "tests/device/cases.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>

#include "codegen/codegen.h"
#include "measure/measuring_session.h"
#include "measure/reference.h"
#include "space/mappings.h"
#include "space/search_space.h"
#include "tuner/verification.h"

namespace redtune::cases {
namespace {

const std::vector<Row>& combining_rows() {
  static const std::vector<Row> table = {
    {"partial warp", R"({"op":"prod","shape":[48]})", ones, {1}},
    {"partial warps of many", R"({"op":"min","shape":[33]})", fives, {5}},
    {"reduction on threads", R"({"op":"sum","shape":[1,7,7,512],"axes":[1,2]})", ones, {49}},
    {"long row", R"({"op":"sum","shape":[1,768],"axes":[1]})", ones, {768}},
    {"middle axis of integers", R"({"op":"sum","shape":[16,8,16],"axes":[1],"dtype":"i32"})", ones, {8}},
    {"products of many ones", R"({"op":"prod","shape":[8,10003],"axes":[1],"dtype":"f16"})", ones, {1}},    {"sums wider than their elements", R"({"op":"sum","shape":[8,10003],"axes":[1],"dtype":"f16"})", ones, {10003}},
    {"min of several short rows", R"({"op":"min","shape":[33,5],"axes":[1]})", fives, {5}},
    {"f32 sums of bf16 by atomics", R"({"op":"sum","shape":[70000],"dtype":"bf16","out":"f32"})", ones, {70000}},
    {"f32 sums of f16 by atomics", R"({"op":"sum","shape":[20000],"dtype":"f16","out":"f32"})", ones, {20000}},
  };
  return table;
}

INSTANTIATE_TEST_SUITE_P(Combining, Cases, testing::ValuesIn(groups_of(combining_rows())), test_name);

Task combined(const char* op, const char* shape, const char* axes, const char* dtype = "f32", const char* out = "") {
  return make_task(operator_from_short_form({op, shape, axes, dtype, out, "", false}), device()->target);
}

/// The first schedule of the space for each value that `property` has, among those that `wanted` takes.
template <typename Property, typename Wanted>
std::vector<Schedule> one_for_each(const Task& task, Property property, Wanted wanted) {
  const SearchSpace space(task);
  std::set<decltype(property(Schedule()))> seen;
  std::vector<Schedule> schedules;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Schedule schedule = space.at(i);
    if (wanted(schedule) && seen.insert(property(schedule)).second) schedules.push_back(schedule);
  }
  return schedules;
}

// The number of threads must not show in the answer.
TEST(CasesOfBlocks, EveryBlockSizeOfEveryCombineIsRight) {
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  const auto size = [](const Schedule& s) { return std::pair(s.block, s.threads()); };
  const auto combines = [](const Schedule& s) { return s.block != BlockCombine::kNone && s.grid == GridCombine::kNone; };
  const Task row = combined("sum", "1x768", "1"), column = combined("sum", "16x8x16", "1", "i32");
  const std::vector<Schedule> of_row = one_for_each(row, size, combines);
  EXPECT_GE(of_row.size(), 6u);
  expect_agreement(row, of_row, {{"ones", input_of(row.op, ones)}});
  expect_agreement(column, one_for_each(column, size, combines), {{"index", input_of(column.op, index)}});
}

// A block that goes on with other outputs uses its shared memory again.
TEST(CasesOfBlocks, SharedMemoryIsUsedAgainBehindABarrier) {
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  for (const char* shape : {"1x96", "3x65", "300x65"}) {
    const Task task = combined("var", shape, "1");
    const auto kind = [](const Schedule& s) { return std::tuple(s.block, s.grid, s.serial > 1, s.rows > 1); };
    const std::vector<Schedule> schedules =
        one_for_each(task, kind, [](const Schedule& s) { return s.block != BlockCombine::kNone; });
    expect_agreement(task, schedules, {{"index", input_of(task.op, index)}});
  }
}

TEST(CasesOfNan, EveryClassOfMappingAgrees) {
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  const Task task = combined("max", "4097", "");
  const std::vector<Schedule> schedules = one_for_each(
      task, [](const Schedule& s) { return s.mapping_class(); }, [](const Schedule&) { return true; });
  EXPECT_EQ(schedules.size(), 3u) << "tree, atomic, hybrid";
  expect_agreement(task, schedules, {{"NaN", input_of(task.op, [](std::int64_t i) { return i == 1 ? kNan : 0; })}});
}

// Adding to a 16-bit float would round every partial result.
TEST(CasesOfAtomics, SixteenBitOutputsAreRefusedWithAReason) {
  for (const char* dtype : {"f16", "bf16"}) {
    const Task task = make_task(operator_from_short_form({"sum", "70000", "", dtype, "", "", false}), load_target("sm_90"));
    for (const BlockCombine block : {BlockCombine::kNone, BlockCombine::kTree, BlockCombine::kWarp}) {
      const auto rejection = reject_mapping(task, block, GridCombine::kAtomic);
      ASSERT_TRUE(rejection);
      EXPECT_THAT(rejection->detail, testing::HasSubstr("ask for out f32"));
    }
  }
}

/// Answers of `repeats` runs in one process, on buffers that keep what the run before left.
std::set<std::vector<unsigned char>> answers(const Task& task, const Schedule& schedule,
                                             const std::vector<unsigned char>& input, int repeats) {
  MeasureOptions options;
  options.cold = false;
  options.deadline_floor_seconds = 120;  // whatever else the machine does
  MeasuringSession session(*device(), task, options, [&] { return input; });
  const Candidate candidate{schedule, generate(task, schedule)};
  std::set<std::vector<unsigned char>> outputs;
  for (int i = 0; i < repeats; ++i) {
    const Outcome outcome = session.check(candidate, i + 1, nullptr);
    EXPECT_TRUE(outcome.timed()) << schedule.text() << ": " << outcome.detail;
    outputs.insert(session.output());
    if (testing::Test::HasFailure()) break;
  }
  return outputs;
}

// A last block that reads partials before they are there is wrong once in thousands of runs.
TEST(CasesOfTickets, TheLastBlockSeesAllPartialsEveryTime) {
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  const int repeats = std::getenv("REDTUNE_LARGE_CASES") ? 10000 : 150;
  const Task task = combined("argmax", "1048576", "");
  const auto block = [](const Schedule& s) { return s.block; };
  const std::vector<Schedule> schedules = one_for_each(
      task, block, [](const Schedule& s) { return s.grid == GridCombine::kLastBlock && s.split >= 16; });
  ASSERT_FALSE(schedules.empty());
  EXPECT_EQ(answers(task, schedules.front(), make_input(task.op, 3), repeats).size(), 1u);
}

// What is added to must be set back in every run, not only while tuning.
TEST(CasesOfAtomics, AnotherRunOnTheSameOutputGivesTheSame) {
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  const Task task = combined("sum", "4097", "", "i32");
  const std::vector<Schedule> schedules = one_for_each(
      task, [](const Schedule& s) { return s.mapping_class(); },
      [](const Schedule& s) { return s.grid == GridCombine::kAtomic; });
  ASSERT_EQ(schedules.size(), 2u) << "atomic, hybrid";
  for (const Schedule& schedule : schedules) EXPECT_EQ(answers(task, schedule, input_of(task.op, index), 3).size(), 1u);
}

}  // namespace
}  // namespace redtune::cases
