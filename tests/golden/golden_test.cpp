// The text of one kernel per way to combine, byte for byte. When a change of the texts is meant:
// REDTUNE_ACCEPT_GOLDEN=1 rewrites the files, and the change is reviewed as their diff.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

#include "codegen/codegen.h"
#include "space/constraints.h"
#include "support/files.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

struct Golden {
  const char *op, *dtype, *out, *shape, *axes, *target;
  const char* schedule;
};

// Extents that no size divides: each text has its tails.
constexpr Golden kGoldens[] = {
    {"max", "bf16", "", "37x10001", "1", "cpu", "block=none vec=4 acc=4 items=4 serial=4 prefetch=4096"},
    {"sum", "f16", "", "1003x768", "0", "sm_90", "block=lane rx=8 px=32 vec=8 acc=1 items=2"},
    {"prod", "f64", "", "5131x1030", "1", "sm_90", "block=tree rx=64 px=2 vec=2 acc=4 items=4 serial=4"},
    {"min", "i32", "", "131x1028", "1", "sm_90", "block=warp rx=32 px=4 vec=4 items=2 rows=2"},
    {"sum", "f32", "", "19x131x1028", "0,2", "sm_90", "block=shuffle rx=128 px=1 vec=4 acc=4 items=4"},
    {"sum", "bf16", "", "100003x72", "0", "sm_90",
     "block=none grid=second_kernel rx=1 px=32 vec=2 items=4 split=64 walk=chunked"},
    {"sum", "i64", "", "5x10007x66", "1", "sm_90",
     "block=tree grid=second_kernel rx=8 px=32 vec=2 split=16 walk=strided"},
    {"max", "f16", "", "1000008", "0", "sm_90",
     "block=shuffle grid=last_block rx=256 vec=8 acc=4 items=4 split=64 walk=strided"},
    {"sum", "f32", "", "10007x132", "0", "sm_90",
     "block=lane grid=last_block rx=8 px=32 vec=4 acc=4 items=4 split=16 walk=chunked"},
    {"max", "i32", "", "10007x66", "0", "sm_90",
     "block=none grid=atomic rx=4 px=32 vec=2 items=2 split=16 walk=strided"},
    {"sum", "f32", "", "7x100004", "1", "sm_90",
     "block=warp grid=atomic rx=256 px=1 vec=4 acc=4 items=4 split=8 walk=chunked"},
    {"min", "f64", "", "1000002", "0", "sm_90",
     "block=tree grid=atomic rx=256 vec=2 acc=4 items=4 split=64 walk=strided"},
    // Partial results of several members: a row on a CPU, where the tail is a masked vector, and columns.
    {"argmax", "f16", "", "5x7x1030", "0,2", "cpu",
     "block=none grid=second_kernel vec=4 items=4 acc=2 split=4"},
    {"var", "f32", "", "7x100004", "1", "sm_90",
     "block=shuffle grid=second_kernel rx=128 vec=4 items=2 split=8"},
    {"logsumexp", "f32", "", "10007x132", "0", "sm_90",
     "block=lane grid=last_block rx=8 px=32 vec=2 items=2 split=16"},
    {"mean", "f32", "", "7x100004", "1", "sm_90", "block=shuffle grid=atomic rx=128 vec=4 items=2 split=8"},
    {"any", "i8", "i32", "10007x72", "0", "sm_90",
     "block=tree grid=atomic rx=8 px=32 vec=2 items=2 split=16"},
    {"sum", "f32", "", "10007x264", "0", "sm_90", "block=shared_atomic rx=8 px=32 vec=4 items=2"},
    {"sum", "f16", "", "10007x264", "0", "sm_90",
     "block=tree grid=private_atomic rx=8 px=32 vec=4 items=2 split=16 copies=2"},
    {"argmax", "f32", "", "7x100004", "1", "sm_90",
     "block=shuffle grid=private_atomic rx=128 vec=4 items=2 split=8"},
    {"max", "i32", "", "131x1028", "1", "sm_90", "block=redux rx=64 px=2 vec=4 items=2"},
    {"sum", "f32", "", "7x100004", "1", "sm_90", "block=shuffle grid=grid_sync rx=128 vec=4 items=2 split=16"},
    {"sum", "f32", "", "10007x264", "0", "sm_90", "block=tree grid=cluster rx=8 px=32 vec=4 items=2 split=8"},
};

std::string name_of(const Golden& golden) {
  return parse_schedule(golden.schedule).mapping() + "_" + golden.op + "_" + golden.dtype;
}

/// Names the parameter in lists of tests, instead of its bytes.
void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.shape << " over " << golden.axes; }

class GoldenKernel : public ::testing::TestWithParam<Golden> {};

TEST_P(GoldenKernel, IsTheSameByteForByte) {
  const Golden& golden = GetParam();
  const Task task = task_of(golden.shape, golden.axes, golden.target, golden.op, golden.dtype, golden.out);
  const Schedule schedule = parse_schedule(golden.schedule);
  const auto rejection = why_not(task, {}, schedule);
  ASSERT_FALSE(rejection) << schedule.text() << ": " << rejection->detail;
  const std::string text = "// " + task.op.key() + " on " + task.target.name + "\n// " + schedule.text() +
                           "\n" + generate(task, schedule).text;

  const std::string file = name_of(golden) + ".txt";
  const std::string kept = std::string(REDTUNE_SOURCE_DIR) + "/tests/golden/" + file;
  const char* accept = std::getenv("REDTUNE_ACCEPT_GOLDEN");
  if (accept != nullptr && std::string_view(accept) == "1") {
    write_file_atomically(kept, text);
    return;
  }
  const std::string directory = std::string(REDTUNE_BINARY_DIR) + "/tests/golden/now";
  const std::string now = directory + "/" + file;
  if (std::filesystem::exists(kept) && read_file(kept) == text) {
    std::filesystem::remove(now);
    return;
  }
  make_directories(directory);
  write_file_atomically(now, text);
  ADD_FAILURE() << "the kernel text changed:\n  diff -u " << kept << " " << now
                << "\nwhen that is meant: REDTUNE_ACCEPT_GOLDEN=1 ctest -L golden, then review the diff";
}

INSTANTIATE_TEST_SUITE_P(Mappings, GoldenKernel, ::testing::ValuesIn(kGoldens), [](const auto& golden) {
  std::string name = name_of(golden.param);
  for (char& letter : name) letter = letter == '+' ? '_' : letter;
  return name;
});

TEST(GoldenKernels, CoverEveryCombine) {
  unsigned blocks = 0, grids = 0;
  for (const Golden& golden : kGoldens) {
    const Schedule schedule = parse_schedule(golden.schedule);
    blocks |= 1u << static_cast<unsigned>(schedule.block);
    grids |= 1u << static_cast<unsigned>(schedule.grid);
  }
  EXPECT_EQ(blocks, 0b1111111u);
  EXPECT_EQ(grids, 0b1111111u);
}

}  // namespace
}  // namespace redtune
