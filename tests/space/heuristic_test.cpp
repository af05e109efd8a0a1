#include "space/heuristic.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "space/axes.h"
#include "space/constraints.h"
#include "space/mappings.h"
#include "space/search_space.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

constexpr const char* kTargets[] = {"cpu", "sm_75", "sm_80", "sm_90", "sm_100"};

std::string default_text(const Task& task) { return default_schedule(task).text(); }

/// Asks the constraints, which costs no enumeration.
void expect_legal(const Task& task) {
  const Schedule schedule = default_schedule(task);
  const std::optional<Rejection> rejection = why_not(task, {}, schedule);
  EXPECT_FALSE(rejection) << task.key() << " " << schedule.text() << ": " << rejection->constraint << " "
                          << rejection->detail;
  EXPECT_EQ(schedule, default_schedule(task));
  if (task.op.determinism == Determinism::kRunToRun) {
    EXPECT_EQ(determinism_of(task, schedule), Determinism::kRunToRun) << task.key();
  }
}

void expect_listed(const Task& task) {
  expect_legal(task);
  EXPECT_TRUE(SearchSpace(task).find(default_schedule(task))) << task.key();
}

void expect_legal_everywhere(const std::string& shape, const std::string& axes) {
  for (const char* target : kTargets) {
    for (const char* dtype : {"f16", "f32", "f64", "i32", "i8"}) {
      for (const char* op : {"sum", "max"}) {
        const Task task = task_of(shape, axes, target, op, dtype);
        expect_legal(task);
        if (std::string(dtype) == "f32") {
          expect_listed(task);
          expect_legal(repeatable(task));
        }
      }
    }
  }
}

TEST(Heuristic, OneWorkItemPerBlockWalksLongRowsOnACpu) {
  EXPECT_EQ(default_text(task_of("4096x1024", "1", "cpu")),
            "block=none grid=none rx=1 px=1 vec=16 acc=4 items=4 rows=1 serial=256 split=1 walk=chunked");
}

TEST(Heuristic, ACpuSplitsWhenTheKeptAxesGiveTooFewBlocks) {
  EXPECT_EQ(
      default_text(task_of("16777216", "", "cpu")),
      "block=none grid=second_kernel rx=1 px=1 vec=16 acc=4 items=4 rows=1 serial=1 split=4 walk=chunked");
  EXPECT_EQ(default_schedule(task_of("4096", "", "cpu")).split, 1) << "too short to share";
}

TEST(Heuristic, ACpuKeepsAllVectorsOfANarrowKeptAxisInRegisters) {
  EXPECT_EQ(default_schedule(task_of("100000x64", "0", "cpu")).rows, 4);
  EXPECT_EQ(default_schedule(task_of("21128x768", "0", "cpu")).rows, 16)
      << "the largest divisor of 48 up to 16";
  EXPECT_EQ(default_schedule(task_of("21128x320", "0", "cpu")).rows, 10)
      << "the largest divisor of 20 up to 16";
}

// Threads and rows per block of the paper's system (reduced x kept), from its code, for the shapes of its
// figures.
TEST(Heuristic, GivesThePublishedThreadsOnAGpu) {
  const auto threads = [](const char* shape, const char* axes) {
    const Schedule s = default_schedule(task_of(shape, axes, "sm_80"));
    return std::to_string(s.rx) + "x" + std::to_string(s.px) + " split " + std::to_string(s.split);
  };
  EXPECT_EQ(threads("65536", ""), "1024x1 split 32");
  EXPECT_EQ(threads("1048576", ""), "1024x1 split 32");
  EXPECT_EQ(threads("768x768", "1"), "256x2 split 1");
  EXPECT_EQ(threads("1024x32768", "1"), "128x8 split 8");
  EXPECT_EQ(threads("1024x1024", "0"), "8x128 split 4");
  EXPECT_EQ(threads("8192x768", "0"), "8x128 split 32");
}

TEST(Heuristic, AGpuReducesShortAxesInOneThread) {
  const Schedule s = default_schedule(task_of("384000x7", "1", "sm_90"));
  EXPECT_EQ(s.rx, 1);
  EXPECT_EQ(s.px, 256);
  EXPECT_EQ(s.block, BlockCombine::kNone);
}

TEST(Heuristic, AGpuSplitsByAtomicsWhereTheyAreLegalAndElseKeepsPartials) {
  const auto grid = [](const Task& task) { return default_schedule(task).grid; };
  EXPECT_EQ(grid(task_of("21128x768", "0", "sm_90")), GridCombine::kAtomic);
  EXPECT_EQ(grid(task_of("21128x768", "0", "sm_90", "max")), GridCombine::kSecondKernel);
  EXPECT_EQ(grid(task_of("21128x768", "0", "sm_90", "sum", "f16")), GridCombine::kSecondKernel);
  EXPECT_EQ(grid(repeatable(task_of("21128x768", "0", "sm_90"))), GridCombine::kSecondKernel);
}

TEST(Heuristic, AGpuHasBlocksForEachUnitWhateverTheOperator) {
  for (const ReduceOpInfo& op : kReduceOps) {
    for (const char* target : {"sm_75", "sm_80", "sm_90", "sm_100"}) {
      for (const auto& [shape, axes] : {std::pair{"16777216", ""}, {"4x4194304", "1"}, {"1048576x64", "0"}}) {
        const Task task = task_of(shape, axes, target, std::string(op.name));
        const Schedule schedule = default_schedule(task);
        const std::int64_t blocks = tiling_of(axes_of(task.canonical), schedule, task.target.warp).blocks();
        if (schedule.grid == GridCombine::kAtomic) continue;  // as published
        EXPECT_GE(blocks, task.target.units) << task.key() << " " << schedule.text();
        EXPECT_LE(blocks, 8 * task.target.units) << task.key() << " " << schedule.text();
      }
    }
  }
}

TEST(Heuristic, IsLegalForTinyAndOddShapes) {
  for (const int n : {1, 2, 3, 5, 7, 31, 33, 49, 1195}) {
    const std::string a = std::to_string(n);
    expect_legal_everywhere(a, "");
    for (const int m : {1, 3, 33, 1195}) {
      const std::string b = std::to_string(m);
      expect_legal_everywhere(a + "x" + b, "0");
      expect_legal_everywhere(a + "x" + b, "1");
    }
    expect_legal_everywhere("3x" + a + "x7", "0,2");
    expect_legal_everywhere("3x" + a + "x7", "1");
  }
}

TEST(Heuristic, IsLegalForEmptyTasksAndCopies) {
  expect_legal_everywhere("0x8", "1");
  expect_legal_everywhere("8x0", "0");
  expect_legal_everywhere("16x16", "none");
  expect_legal(task_of("8x0", "1", "cpu"));
  expect_legal(task_of("0", "", "sm_90"));
}

TEST(Heuristic, TakesTheNearestLegalScheduleOnAnUnforeseenTarget) {
  Task task = task_of("21128x768", "0", "sm_75");
  task.target.max_threads_per_block = 64;
  task.target.shared_bytes_per_block = 128;
  expect_listed(task);
  const Schedule schedule = default_schedule(task);
  EXPECT_EQ(schedule.block, BlockCombine::kTree) << schedule.text();
  EXPECT_EQ(schedule.grid, GridCombine::kAtomic) << schedule.text();
}

TEST(Heuristic, IsLegalForHugeTasks) {
  for (const char* target : kTargets) {
    expect_legal(task_of("4294967296", "", target));
    expect_legal(task_of("1000000000x3", "1", target));
    expect_legal(task_of("3x1000000000", "0", target));
    expect_legal(task_of("2x70000x70000", "0", target));
  }
}

TEST(Heuristic, IsLegalForTheShapesOfRealNetworks) {
  const std::string path = REDTUNE_SOURCE_DIR "/../shared/data/akg_reduce_shapes.csv";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "no list of network shapes at " << path;
  std::string line;
  std::getline(file, line);
  std::set<std::string> seen;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string op, shape, axes;
    std::getline(cells, op, ',');
    std::getline(cells, shape, ',');
    std::getline(cells, axes, ',');
    if (!seen.insert(op + " " + shape + " " + axes).second) continue;
    for (char& c : axes) c = c == ' ' ? ',' : c;
    for (const char* target : kTargets) {
      for (const char* dtype : {"f16", "f32"}) {
        expect_legal(task_of(shape, axes, target, op == "ReduceSum" ? "sum" : "max", dtype));
      }
    }
  }
  EXPECT_GT(seen.size(), 200u);
}

}  // namespace
}  // namespace redtune
