// Every schedule of small tasks of every form computes the right answer: all mappings, vector widths, tails,
// splits and walks that the space holds, on random and adversarial inputs.
//
// A narrow target and tiny shapes keep the spaces small without losing a mapping, a tail or a walk. Oclgrind
// runs them, since it needs no machine code; a sample with every mapping runs on the machine's own device,
// whose compiler is another one. REDTUNE_EXHAUSTIVE=1 runs everything there too (minutes).
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "space/axes.h"
#include "space/mappings.h"
#include "support/error.h"
#include "support/hash.h"
#include "tests/space/task_builder.h"
#include "tuner/verification.h"

namespace redtune {
namespace {

struct Case {
  const char *shape, *axes, *op, *dtype, *out;
  int warp;  // of 2: blocks of more than a warp; of 8: several outputs in one warp
};

// Every form, the smallest shapes that keep all of its mappings, with full and partial last tiles.
constexpr Case kCases[] = {
    {"19", "0", "sum", "f64", "", 2},             // R
    {"17", "0", "max", "f64", "", 8},             //
    {"2x5", "1", "min", "i32", "", 2},            // PR
    {"65x2", "1", "min", "i32", "", 8},           //
    {"17x2", "0", "sum", "f64", "", 8},           // RP
    {"2x33", "0", "prod", "f64", "", 8},          //
    {"2x3x3", "0,2", "max", "i64", "", 2},        // RPR
    {"2x3x3", "1", "sum", "f32", "", 2},          // PRP
    {"2x3x2x3", "1,3", "sum", "bf16", "f32", 2},  // PRPR
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.op << " " << c.dtype << " " << c.shape << " over " << c.axes;
}

std::optional<DeviceInfo> device() {
  static const std::optional<DeviceInfo> found = [] {
    std::optional<DeviceInfo> cpu;
    for (DeviceInfo& info : list_devices()) {
      if (info.id == "cpu") cpu = info;
    }
    return cpu;
  }();
  return found;
}

Target narrow(Target target, int warp) {
  target.warp = warp;
  target.max_threads_per_block = target.max_threads_per_unit = 8;
  target.vector_bytes = 8;
  return target;
}

Task task_of_case(const Case& c, const Target& target) {
  return make_task(task_of(c.shape, c.axes, "cpu", c.op, c.dtype, c.out).op, target);
}

void expect_right(const Task& task, const std::vector<Schedule>& schedules, const VerifyOptions& options) {
  Verifier verifier(*device(), options);
  VerifyTally tally(options.data_seed);
  verifier.verify(task, schedules, [&](const ScheduleVerdict& verdict) {
    tally.add(task, schedules[verdict.index], verdict);
  });
  EXPECT_EQ(tally.total().schedules, static_cast<std::int64_t>(schedules.size()));
  EXPECT_EQ(tally.total().rejected, 0);
  EXPECT_TRUE(tally.failures().empty()) << tally.failure_text(5);
}

class Schedules : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!device()) GTEST_SKIP() << "no OpenCL device for the CPU";
  }
};

TEST_P(Schedules, AllAreRightUnderOclgrind) {
  VerifyOptions options;
  options.watch = Watch::kAccesses;
  options.programs_per_build = 32;
  const Task task = task_of_case(GetParam(), narrow(device()->target, GetParam().warp));
  Rng rng(7);
  const std::vector<Schedule> all = schedules_by_mapping(SearchSpace(task), std::nullopt, rng);
  try {
    expect_right(task, all, options);
  } catch (const UserError& absent) {
    GTEST_SKIP() << absent.what();
  }
}

TEST_P(Schedules, ASampleIsRightOnTheDevice) {
  const char* const everything = std::getenv("REDTUNE_EXHAUSTIVE");
  const bool all = everything && *everything == '1';
  const Task task = task_of_case(GetParam(), device()->target);
  Rng rng(7);
  VerifyOptions options;
  options.optimize = all;
  expect_right(
      task, schedules_by_mapping(SearchSpace(task), all ? std::nullopt : std::optional<std::size_t>(1), rng),
      options);
}

INSTANTIATE_TEST_SUITE_P(EveryForm, Schedules, testing::ValuesIn(kCases));

// Every operator in a row and a column form, every element type at least twice. Extents leave tails.
constexpr Case kOperatorCases[] = {
    {"2x300", "1", "argmax", "f32", "", 8},  // atomics on value and position packed
    {"300x5", "0", "argmin", "bf16", "i32", 8},
    {"5x43", "1", "any", "f32", "", 8},
    {"43x21", "0", "any", "u8", "i32", 8},
    {"3x5x37", "0,2", "all", "i64", "i32", 8},
    {"4x37x9", "1", "all", "bool", "", 8},
    {"3x5x37", "0,2", "mean", "f32", "", 8},
    {"37x21", "0", "mean", "bf16", "f32", 8},
    {"4x67", "1", "mean", "i8", "", 8},
    {"3x5x37", "0,2", "argmax", "f32", "", 8},
    {"4x3x8x9", "1,3", "argmin", "i8", "", 8},
    {"3x23x18", "1", "argmax", "f64", "i32", 8},
    {"3x7x5x12", "0,2", "argmin", "f16", "", 8},
    {"5x41", "1", "argmax", "i64", "", 8},
    {"3x5x37", "0,2", "l2norm", "bf16", "f32", 8},
    {"43x21", "0", "l2norm", "f64", "", 8},
    {"5x43", "1", "logsumexp", "f32", "", 8},
    {"4x37x9", "1", "logsumexp", "f16", "f32", 8},
    {"3x5x37", "0,2", "var", "f32", "", 8},
    {"43x21", "0", "var", "u8", "", 8},
    {"5x67", "1", "std", "f16", "", 8},
    {"4x37x12", "1", "std", "f32", "", 8},
    {"5x67", "1", "max", "u8", "", 8},
    {"43x33", "0", "min", "bool", "", 8},
};

/// A few mappings of each: what an operator adds is the same text in all of them.
class OperatorSchedules : public Schedules {};

TEST_P(OperatorSchedules, AreRightOnTheDevice) {
  constexpr std::size_t kMappings = 5;
  const Task task = task_of_case(GetParam(), device()->target);
  Rng rng(hash64(std::string(GetParam().op) + GetParam().dtype + GetParam().shape));
  std::vector<Schedule> schedules = schedules_by_mapping(SearchSpace(task), 1, rng);
  while (schedules.size() > kMappings) schedules.erase(schedules.begin() + static_cast<long>(rng.below(schedules.size())));
  VerifyOptions options;
  options.optimize = false;
  expect_right(task, schedules, options);
}

INSTANTIATE_TEST_SUITE_P(EveryOperator, OperatorSchedules, testing::ValuesIn(kOperatorCases));

// Integers accumulate in 64 bits unless an operator asks for 32: then atomics are of 32 bits too.
TEST(NarrowIntegers, AreRightByAtomics) {
  if (!device()) GTEST_SKIP() << "no OpenCL device for the CPU";
  const Json json = Json::parse(
      R"({"op": "sum", "shape": [5, 301], "axes": [1], "dtype": "i32", "out": "i32", "accumulator": "i32"})");
  const Task task = make_task(parse_operator(json, "test"), device()->target);
  VerifyOptions options;
  options.optimize = false;
  for (const char* mapping : {"shared_atomic", "atomic", "private_atomic"}) {
    Rng rng(7);
    const SearchSpace space(task, parse_mapping_filter(mapping));
    ASSERT_GT(space.size(), 0u) << mapping;
    expect_right(task, schedules_by_mapping(space, 1, rng), options);
  }
}

// What the tasks above leave out would go untested without a word.
TEST(SchedulesCover, EveryMappingTailSplitAndWalk) {
  std::set<std::string> mappings_seen;
  std::set<std::int64_t> tails, splits;
  std::set<Walk> walks;
  std::map<std::string, std::set<std::int32_t>> sizes;
  for (const Case& c : kCases) {
    const Task task = task_of_case(c, narrow(load_target("cpu"), c.warp));
    const SearchSpace space(task);
    EXPECT_GT(space.size(), 0u) << c;
    for (std::size_t i = 0; i < space.size(); ++i) {
      const Schedule s = space.at(i);
      mappings_seen.insert(s.mapping());
      walks.insert(s.walk);
      tails.insert(tiling_of(axes_of(task.canonical), s, task.target.warp).tail);
      for (const auto& [word, size] : {std::pair{"rx", s.rx},
                                       {"px", s.px},
                                       {"vec", s.vec},
                                       {"acc", s.acc},
                                       {"items", s.items},
                                       {"rows", s.rows},
                                       {"serial", s.serial},
                                       {"split", s.split}})
        sizes[word].insert(size);
    }
  }
  for (const MappingInfo& mapping : mappings())
    EXPECT_TRUE(!has_mapping(load_target("cpu"), mapping) ||
                mappings_seen.contains(std::string(mapping.name)))
        << mapping.name;
  EXPECT_EQ(walks.size(), 2u);
  EXPECT_GE(tails.size(), 2u);
  for (const auto& [word, seen] : sizes) EXPECT_GE(seen.size(), 2u) << word;
}

}  // namespace
}  // namespace redtune
