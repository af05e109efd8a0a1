// Cases of code generation, compilation and launch limits. Most need no device.
#include <gmock/gmock.h>

#include <chrono>

#include "codegen/codegen.h"
#include "codegen/nvrtc.h"
#include "space/constraints.h"
#include "space/heuristic.h"
#include "space/search_space.h"
#include "support/error.h"
#include "tests/device/cases.h"

namespace redtune::cases {
namespace {

using testing::HasSubstr;
using testing::Not;

Task planned(const std::string& json, const std::string& target) {
  return make_task(parse_operator(parse_json(json, "case"), "case"), load_target(target));
}

std::string short_json(const char* op, const char* shape, const char* axes, const char* dtype) {
  return std::string(R"({"op":")") + op + R"(","shape":)" + shape + R"(,"axes":)" + axes + R"(,"dtype":")" + dtype + "\"}";
}

/// Compiles with NVRTC where there is one; its complaint otherwise.
std::string compile_error(const Program& program, int architecture) {
  try {
    const NvrtcResult result =
        Nvrtc::instance().compile(full_text(program, TargetKind::kCuda), {.compute_capability = architecture});
    return result.ok ? "" : result.error + "\n" + result.log;
  } catch (const NoDevice&) {
    return "";
  }
}

// Infinities have no name in kernel text: they are bits.
TEST(CasesOfText, InfinitiesAreBitsForEveryElementType) {
  for (const char* op : {"max", "min", "argmax", "argmin", "logsumexp"}) {
    std::vector<Program> programs;
    for (const DTypeInfo& dtype : kDTypes) {
      const std::string word(dtype.name);
      const Task task = planned(short_json(op, "[64,96]", "[1]", word.c_str()), "sm_90");
      programs.push_back(generate(task, default_schedule(task)));
      EXPECT_THAT(programs.back().text, Not(HasSubstr("INFINITY"))) << op << " " << word;
      EXPECT_THAT(programs.back().text, Not(testing::ContainsRegex("[^a-z_]inf[^a-z_o]"))) << op << " " << word;
      EXPECT_THAT(programs.back().text, Not(testing::ContainsRegex("[^a-z_]nan[^a-z_]"))) << op << " " << word;
    }
    EXPECT_EQ(compile_error(merge(programs), 90), "") << op;
  }
}

TEST(CasesOfLimits, TooMuchSharedMemoryIsSeenBeforeCompiling) {
  Task task = planned(short_json("sum", "[64,65536]", "[1]", "f64"), "sm_90");
  const Schedule large = parse_schedule("block=tree rx=1024");
  EXPECT_FALSE(why_not(task, {}, large));
  task.target.shared_bytes_per_block = 4096;
  const auto rejection = why_not(task, {}, large);
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->constraint, "shared_bytes");
  EXPECT_THAT(rejection->detail, HasSubstr("4096 bytes of shared memory"));
  EXPECT_GT(SearchSpace(task).size(), 0u) << "the others are left";
  // Nothing but such tiles: an empty space, which says so.
  task.target.shared_bytes_per_block = 0;
  SpaceFilter tree;
  tree.block = BlockCombine::kTree;
  EXPECT_EQ(SearchSpace(task, tree).size(), 0u);
}

TEST(CasesOfLimits, RegistersAndUnrollingHaveABudget) {
  const Task task = planned(short_json("argmax", "[64,65536]", "[1]", "f64"), "sm_90");
  const auto broken = [&](const char* text) {
    const auto rejection = why_not(task, {}, parse_schedule(text));
    return rejection ? rejection->constraint : "";
  };
  EXPECT_EQ(broken("block=shuffle rx=1024 items=32 acc=32"), "grid");
  EXPECT_EQ(broken("block=shuffle rx=256 rows=4 acc=4 items=4"), "registers");
  EXPECT_EQ(broken("block=shuffle rx=256 rows=4 acc=4 items=8"), "unroll_budget");
  const Task column = planned(short_json("sum", "[65536,4]", "[0]", "f32"), "sm_90");
  EXPECT_TRUE(why_not(column, {}, parse_schedule("px=4 items=65536")));
}

TEST(CasesOfLimits, BlocksHaveAtMostAThousandThreadsWhateverTheOperator) {
  for (const char* op : {"sum", "max", "min", "logsumexp", "argmax"}) {
    for (const char* target : {"sm_75", "sm_80", "sm_90", "sm_100", "cpu"}) {
      const Task task = planned(short_json(op, "[30733,5120]", "[1]", "f32"), target);
      const Schedule schedule = default_schedule(task);
      EXPECT_FALSE(why_not(task, {}, schedule)) << schedule.text();
      EXPECT_LE(schedule.threads(), task.target.max_threads_per_block);
      for (const KernelLaunch& launch : generate(task, schedule).launches) {
        EXPECT_LE(launch.grid[0], task.target.max_grid_x);
        EXPECT_EQ(launch.grid[1] * launch.grid[2], 1) << "no other grid axis has a limit to meet";
      }
    }
  }
  const auto rejection =
      why_not(planned(short_json("max", "[30733,5120]", "[1]", "f32"), "sm_90"), {}, parse_schedule("block=tree rx=1024 px=2"));
  ASSERT_TRUE(rejection);
  EXPECT_EQ(rejection->constraint, "threads_per_block");
}

TEST(CasesOfPlanning, ManyAxesArePlannedInSeconds) {
  const auto start = std::chrono::steady_clock::now();
  const char* const json[] = {
      R"({"op":"sum","shape":[7,11,13,17,19,23,2,3],"axes":[1,3,5,7]})",
      R"({"op":"sum","shape":[961600],"strides":[3],"axes":[0]})",
      R"({"op":"sum","shape":[31,961600],"strides":[1,31],"axes":[0]})",
      R"({"op":"sum","shape":[64,601,25,64],"strides":[25,102400,1,1600],"axes":[1,3]})",
  };
  for (const char* text : json) {
    for (const char* target : {"cpu", "sm_90"}) {
      const Task task = planned(text, target);
      EXPECT_FALSE(generate(task, default_schedule(task)).text.empty()) << text;
    }
  }
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 20);
}

TEST(CasesOfPlanning, StridesWhoseProductsPassThirtyTwoBitsArePlanned) {
  const Task task = planned(R"({"op":"sum","shape":[4,4],"strides":[1000000000,1],"axes":[1]})", "sm_90");
  EXPECT_TRUE(task.needs_64bit_index());
  const Program program = generate(task, default_schedule(task));
  EXPECT_THAT(program.text, HasSubstr("#define rt_index rt_i64"));
  EXPECT_EQ(compile_error(program, 90), "");
}

TEST(CasesOfPlanning, SixteenBitFloatsNeedNoNewArchitecture) {
  for (const char* dtype : {"bf16", "f16"}) {
    for (const char* op : {"sum", "max", "logsumexp"}) {
      const Task task = planned(short_json(op, "[64,96]", "[1]", dtype), "sm_75");
      EXPECT_EQ(compile_error(generate(task, default_schedule(task)), 75), "") << op << " " << dtype;
    }
  }
}

}  // namespace
}  // namespace redtune::cases
