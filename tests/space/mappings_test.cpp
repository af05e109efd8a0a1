#include "space/mappings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/space/task_builder.h"

namespace redtune {
namespace {

using B = BlockCombine;
using G = GridCombine;
using testing::HasSubstr;

std::string reason(const Task& task, B block, G grid) {
  const std::optional<Rejection> rejection = reject_mapping(task, block, grid);
  return rejection ? rejection->constraint + ": " + rejection->detail : "";
}

Determinism determinism(const Task& task, G grid) {
  Schedule schedule;
  schedule.grid = grid;
  return determinism_of(task, schedule);
}

TEST(Mappings, EveryRowAgreesWithTheScheduleItDescribes) {
  std::set<std::string_view> names;
  for (const MappingInfo& row : mappings()) {
    Schedule schedule;
    schedule.block = row.block;
    schedule.grid = row.grid;
    EXPECT_EQ(row.name, schedule.mapping());
    EXPECT_EQ(row.mapping_class, schedule.mapping_class()) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(mappings().front().name, "none");
}

TEST(Mappings, EveryMappingIsLegalForAFloatOrAnIntegerOverRows) {
  const Task floats = task_of("64x1024", "1", "sm_90"), integers = task_of("64x1024", "1", "sm_90", "max", "i32");
  for (const MappingInfo& row : mappings()) {
    EXPECT_EQ(reason(integers, row.block, row.grid), "") << row.name;
    if (row.block != B::kRedux) EXPECT_EQ(reason(floats, row.block, row.grid), "") << row.name;
  }
}

// What a target lacks is not in its space.
TEST(Mappings, NewerGpusHaveMore) {
  const auto on = [](const char* target) { return task_of("64x1024", "1", target, "max", "i32"); };
  EXPECT_THAT(reason(on("cpu"), B::kRedux, G::kNone), HasSubstr("redux_target: mapping redux: the instruction"));
  EXPECT_THAT(reason(on("sm_75"), B::kRedux, G::kNone), HasSubstr("target is sm_75"));
  EXPECT_EQ(reason(on("sm_80"), B::kRedux, G::kNone), "");
  EXPECT_THAT(reason(on("sm_80"), B::kTree, G::kCluster), HasSubstr("cluster_target: mapping tree+cluster: "));
  EXPECT_EQ(reason(on("sm_100"), B::kTree, G::kCluster), "");
  EXPECT_THAT(reason(on("cpu"), B::kTree, G::kGridSync), HasSubstr("cooperative_target: "));
  EXPECT_EQ(reason(on("sm_75"), B::kTree, G::kGridSync), "");
}

TEST(Mappings, WarpInstructionsAreForNarrowIntegers) {
  const auto on = [](const char* op, const char* dtype) { return task_of("64x1024", "1", "sm_90", op, dtype); };
  EXPECT_THAT(reason(on("max", "f32"), B::kRedux, G::kNone), HasSubstr("redux_dtype: "));
  EXPECT_THAT(reason(on("sum", "i32"), B::kRedux, G::kNone), HasSubstr("the accumulator is i64"));
  EXPECT_THAT(reason(on("argmax", "i32"), B::kRedux, G::kNone), HasSubstr("redux_op: "));
  EXPECT_EQ(reason(on("min", "u8"), B::kRedux, G::kNone), "");
  EXPECT_EQ(reason(on("any", "f32"), B::kRedux, G::kNone), "");
}

TEST(Mappings, PrivateCopiesTakeWhatTheOutputCannot) {
  EXPECT_EQ(reason(task_of("64x1024", "1", "sm_90", "sum", "f16"), B::kTree, G::kPrivateAtomic), "");
  EXPECT_EQ(reason(task_of("64x1024", "1", "cpu", "mean", "bf16"), B::kTree, G::kPrivateAtomic), "");
  EXPECT_THAT(reason(task_of("64x1024", "1", "sm_90", "max", "i8"), B::kTree, G::kPrivateAtomic),
              HasSubstr("atomic_width: "));
  EXPECT_THAT(reason(repeatable(task_of("64x1024", "1", "sm_90")), B::kTree, G::kPrivateAtomic),
              HasSubstr("determinism: "));
  EXPECT_THAT(reason(task_of("64x1024", "1", "sm_90", "var"), B::kTree, G::kPrivateAtomic),
              HasSubstr("atomic_state: "));
}

TEST(Mappings, ArgReductionsPackValueAndPositionWhereTheyFit) {
  for (const char* dtype : {"f32", "f16", "bf16", "i8", "i32"}) {
    const Task task = task_of("64x1024", "1", "cpu", "argmin", dtype);
    EXPECT_EQ(reason(task, B::kTree, G::kPrivateAtomic), "") << dtype;
    EXPECT_EQ(reason(repeatable(task), B::kTree, G::kPrivateAtomic), "") << dtype;
    EXPECT_THAT(reason(task, B::kTree, G::kAtomic), HasSubstr("private_atomic packs them into 64 bits")) << dtype;
  }
  EXPECT_THAT(reason(task_of("64x1024", "1", "cpu", "argmax", "f64"), B::kTree, G::kPrivateAtomic),
              HasSubstr("atomic_state: "));
}

TEST(Mappings, SharedAtomicsHaveTheRegistersType) {
  EXPECT_EQ(reason(task_of("64x1024", "1", "sm_90", "max", "i8"), B::kShared, G::kNone), "");
  EXPECT_EQ(reason(task_of("64x1024", "1", "sm_90", "sum", "f16"), B::kShared, G::kNone), "");
  EXPECT_THAT(reason(task_of("64x1024", "1", "sm_90", "argmax"), B::kShared, G::kNone), HasSubstr("atomic_state: "));
  EXPECT_THAT(reason(repeatable(task_of("64x1024", "1", "sm_90")), B::kShared, G::kNone),
              HasSubstr("determinism: "));
}

TEST(Mappings, ShufflesNeedTheContiguousAxisReduced) {
  const Task column = task_of("1024x64", "0", "sm_90");
  EXPECT_THAT(reason(column, B::kWarp, G::kNone), HasSubstr("shuffle_form: mapping warp: "));
  EXPECT_THAT(reason(column, B::kShuffle, G::kAtomic), HasSubstr("shuffle_form: mapping shuffle+atomic: "));
  EXPECT_EQ(reason(column, B::kTree, G::kAtomic), "");
  EXPECT_EQ(reason(column, B::kLane, G::kNone), "");
}

TEST(Mappings, AtomicsNeedTheOutputToBeTheAccumulator) {
  const Task half = task_of("64x1024", "1", "sm_90", "sum", "f16");
  EXPECT_EQ(
      reason(half, B::kTree, G::kAtomic),
      "atomic_dtype: mapping tree+atomic: atomics add to the output itself, so its type must be that of the "
      "accumulator: output f16, accumulator f32; for 16-bit floats ask for out f32");
  EXPECT_EQ(reason(half, B::kTree, G::kSecondKernel), "");
  EXPECT_EQ(reason(task_of("64x1024", "1", "sm_90", "sum", "f16", "f32"), B::kTree, G::kAtomic), "");
}

TEST(Mappings, AtomicsChangeOneNumber) {
  for (const char* op : {"argmax", "argmin", "l2norm", "logsumexp", "var", "std"}) {
    const Task task = task_of("64x1024", "1", "sm_90", op, "f32");
    EXPECT_THAT(reason(task, B::kTree, G::kAtomic),
                HasSubstr("atomic_state: mapping tree+atomic: a partial result of " + std::string(op)))
        << op;
    for (const MappingInfo& row : mappings()) {
      const bool atomic = row.block == B::kShared || row.grid == G::kAtomic || row.grid == G::kPrivateAtomic;
      if (atomic || row.block == B::kRedux) continue;
      EXPECT_EQ(reason(task, row.block, row.grid), "") << op << " " << row.name;
    }
  }
  EXPECT_EQ(reason(task_of("64x1024", "1", "sm_90", "mean", "f32"), B::kTree, G::kAtomic), "");
  EXPECT_EQ(reason(task_of("64x1024", "1", "sm_90", "any", "f16", "i32"), B::kTree, G::kAtomic), "");
  EXPECT_THAT(reason(task_of("64x1024", "1", "sm_90", "any", "f16"), B::kTree, G::kAtomic),
              HasSubstr("output bool, accumulator i32"));
}

TEST(Mappings, AtomicsHaveAtLeastFourBytes) {
  const Task bytes = task_of("64x1024", "1", "sm_90", "max", "i8");
  EXPECT_THAT(reason(bytes, B::kTree, G::kAtomic), HasSubstr("atomic_width: "));
  EXPECT_EQ(reason(bytes, B::kTree, G::kNone), "");
}

TEST(Mappings, WideAtomicsNeedATargetThatHasThem) {
  Task task = task_of("64x1024", "1", "cpu", "sum", "f64");
  EXPECT_EQ(reason(task, B::kTree, G::kAtomic), "");
  task.target.atomic_i64 = false;
  EXPECT_THAT(reason(task, B::kTree, G::kAtomic), HasSubstr("atomic_target: "));
}

TEST(Mappings, RunToRunRefusesAtomicsThatRound) {
  EXPECT_THAT(reason(repeatable(task_of("64x1024", "1", "sm_90")), B::kTree, G::kAtomic),
              HasSubstr("determinism: "));
  EXPECT_EQ(reason(repeatable(task_of("64x1024", "1", "sm_90", "max")), B::kTree, G::kAtomic), "");
  EXPECT_EQ(reason(repeatable(task_of("64x1024", "1", "sm_90", "sum", "i32")), B::kTree, G::kAtomic), "");
}

TEST(Mappings, OnlyAtomicsThatRoundAreNotGuaranteed) {
  EXPECT_EQ(determinism(task_of("64x1024", "1", "sm_90"), G::kAtomic), Determinism::kNotGuaranteed);
  EXPECT_EQ(determinism(task_of("64x1024", "1", "sm_90"), G::kSecondKernel), Determinism::kRunToRun);
  EXPECT_EQ(determinism(task_of("64x1024", "1", "sm_90"), G::kLastBlock), Determinism::kRunToRun);
  EXPECT_EQ(determinism(task_of("64x1024", "1", "sm_90", "min"), G::kAtomic), Determinism::kRunToRun);
  EXPECT_EQ(determinism(task_of("64x1024", "1", "sm_90", "prod", "i32"), G::kAtomic), Determinism::kRunToRun);
  EXPECT_EQ(determinism(task_of("64x1024", "1", "sm_90", "mean", "i32"), G::kAtomic),
            Determinism::kNotGuaranteed);
  EXPECT_EQ(determinism(task_of("64x1024", "1", "sm_90", "all", "f32", "i32"), G::kAtomic),
            Determinism::kRunToRun);
}

}  // namespace
}  // namespace redtune
