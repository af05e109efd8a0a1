// What the PTX of chosen schedules is made of: the loads, shuffles, barriers, fences and atomics that a mapping is meant
// to have, in the number it is meant to have, and nothing beside them. PTX, because it says what a kernel asks for; what
// the assembler makes of it (registers, spills, shared bytes) is in nvrtc_space_test.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "codegen/codegen.h"
#include "space/constraints.h"
#include "space/mappings.h"
#include "support/text.h"
#include "tests/codegen/nvrtc_fixture.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct PtxCase {
  const char *op, *dtype, *out, *shape, *axes, *schedule;
};

// Instructions, without their guard; words for those that are counted.
constexpr const char* kWideLoad = R"(ld\.global\.nc\S*\.v4\.[bfu]32)";
constexpr const char* kNarrowLoad = R"(ld\.global\.nc\.[bfsu]\d+)";
constexpr const char* kPairLoad = R"(ld\.global\.nc\.v2\.\S+)";
constexpr const char* kShuffle = R"(shfl\.sync\.down\.b32)";
constexpr const char* kBarrier = R"(bar(rier)?\.(cta\.)?sync)";
constexpr const char* kFence = R"((membar\.gl|fence\.(acq_rel|sc)\.gpu))";
constexpr const char* kAtomic = R"((atom|red)\.\S+)";
constexpr const char* kTicket = R"(atom\.\S*global\S*\.(inc|add)\.u32)";
constexpr const char* kPeek = R"(ld\.(volatile|relaxed\.gpu)\.global\S*)";
// Products, divisions and loops in 64 bits. Adding to a pointer and mul.wide are how any address comes about.
constexpr const char* kWideIndex = R"((mul\.lo|mad\.lo|div|rem)\.[su]64|setp\.\S*[su]64)";

/// The instructions of one entry, one a string, by what PTX calls them.
std::vector<std::string> instructions_of(const std::string& ptx, const std::string& entry) {
  const std::size_t begin = ptx.find(".entry " + entry + "(");
  EXPECT_NE(begin, std::string::npos) << "no entry " << entry;
  if (begin == std::string::npos) return {};
  std::vector<std::string> instructions;
  for (const std::string& raw : split(ptx.substr(begin, ptx.find(".entry", begin + 1) - begin), '\n')) {
    std::string line = trim(raw);
    if (line.starts_with('@')) line = trim(line.substr(std::min(line.find_first_of(" \t"), line.size())));
    instructions.push_back(line.substr(0, line.find_first_of(" \t;")));
  }
  return instructions;
}

class NvrtcPtx : public NvrtcFixture {
 protected:
  std::string ptx_of(const PtxCase& c) {
    const Task task = task_of(c.shape, c.axes, "sm_90", c.op, c.dtype, c.out);
    const Schedule schedule = parse_schedule(c.schedule);
    const auto rejection = why_not(task, {}, schedule);
    EXPECT_FALSE(rejection) << schedule.text() << ": " << rejection->detail;
    if (rejection) return {};
    NvrtcOptions ptx = options();
    ptx.ptx = true;
    const NvrtcResult result = nvrtc_->compile(full_text(generate(task, schedule), TargetKind::kCuda), ptx);
    EXPECT_TRUE(result.ok) << result.log;
    return std::string(result.image.begin(), result.image.end());
  }

  void compile(const PtxCase& c) {
    const std::string ptx = ptx_of(c);
    instructions_ = instructions_of(ptx, "rt_main");
    EXPECT_EQ(ptx.find(".local"), std::string::npos) << "local memory";
    shared_ = ptx.find(".shared .align") != std::string::npos;
  }

  /// How many instructions of the main kernel are of that kind.
  int count(const char* pattern) const {
    const std::regex regex(pattern);
    int found = 0;
    for (const std::string& instruction : instructions_) found += std::regex_match(instruction, regex) ? 1 : 0;
    return found;
  }

  std::vector<std::string> instructions_;
  bool shared_ = false;
};

std::string trace_of(const PtxCase& c) {
  return std::string(c.op) + " " + c.dtype + " " + c.shape + " axes " + c.axes + ": " + c.schedule;
}

// ---- what each way to combine is made of: f32 sums over rows that are whole vectors ----

struct BlockFacts {
  BlockCombine block;
  const char* sizes;
  int shuffles, barriers;  // of one combine
  bool shared;
};
constexpr BlockFacts kBlocks[] = {
    {BlockCombine::kNone, "px=32", 0, 0, false},
    {BlockCombine::kLane, "rx=32 px=2", 0, 1, true},
    {BlockCombine::kTree, "rx=64", 0, 6, true},
    {BlockCombine::kWarp, "rx=32 px=4", 5, 0, false},
    {BlockCombine::kShuffle, "rx=128", 7, 1, true},
};

TEST_F(NvrtcPtx, EveryMappingIsMadeOfItsSteps) {
  using G = GridCombine;
  for (const MappingInfo& mapping : mappings()) {
    // Those with instructions of their own have tests of their own below.
    if (mapping.grid == G::kPrivateAtomic || mapping.grid == G::kGridSync || mapping.grid == G::kCluster) continue;
    for (const BlockFacts& facts : kBlocks) {
      if (facts.block != mapping.block) continue;
      const bool last = mapping.grid == GridCombine::kLastBlock, atomic = mapping.grid == GridCombine::kAtomic;
      const std::string schedule = "block=" + std::string(name(mapping.block)) + " grid=" +
                                   std::string(name(mapping.grid)) + " vec=4 items=4 " + facts.sizes +
                                   (mapping.grid == GridCombine::kNone ? "" : " split=4");
      const PtxCase c{"sum", "f32", "", "523x10008", "1", schedule.c_str()};
      SCOPED_TRACE(trace_of(c));
      compile(c);
      EXPECT_GE(count(kWideLoad), 4);
      EXPECT_EQ(count(kNarrowLoad) + count(kPairLoad), 0) << "the input is read by 16 bytes";
      EXPECT_EQ(count(kShuffle), facts.shuffles * (last ? 2 : 1));
      EXPECT_EQ(shared_, facts.shared || last);
      if (last) {
        EXPECT_GE(count(kBarrier), 2 + 2 * facts.barriers) << "and where shared memory is used again";
      } else {
        EXPECT_EQ(count(kBarrier), facts.barriers);
      }
      EXPECT_EQ(count(kFence), last ? 2 : 0) << "before the ticket and behind the last one";
      EXPECT_EQ(count(kTicket), last ? 1 : 0);
      EXPECT_EQ(count(kAtomic), last || atomic ? 1 : 0);
      EXPECT_EQ(count(R"((atom|red)\.global(\.relaxed)?(\.gpu)?\.add\.f32)"), atomic ? 1 : 0);
      EXPECT_EQ(count(kPeek) > 0, last) << "partials of other blocks are read past the first-level cache";
      EXPECT_EQ(count(kWideIndex), 0);
    }
  }
}

TEST_F(NvrtcPtx, ASecondKernelReadsPartialsOnceAndHasNoAtomic) {
  for (const char* outputs : {"5x10008", "523x10008"}) {
    const std::string ptx =
        ptx_of({"sum", "f32", "", outputs, "1", "block=tree grid=second_kernel rx=64 vec=4 items=4 split=4"});
    instructions_ = instructions_of(ptx, "rt_final");
    EXPECT_GT(count(R"(ld\.global\.nc\S*)"), 0) << outputs;
    EXPECT_EQ(count(kAtomic) + count(kFence), 0) << outputs;
    EXPECT_EQ(count(kWideIndex), 0) << outputs;
  }
}

// ---- loads: 16 bytes in one instruction, whatever the element type ----

TEST_F(NvrtcPtx, VectorsOfSixteenBytesAreOneLoad) {
  const PtxCase cases[] = {
      {"sum", "f32", "", "523x10008", "1", "block=tree rx=64 vec=4 items=4"},
      {"sum", "f32", "", "10007x264", "0", "block=lane rx=8 px=32 vec=4 items=2"},
      {"max", "f64", "", "523x10008", "1", "block=tree rx=64 vec=2 items=4"},
      {"sum", "i64", "", "10007x264", "0", "block=lane rx=8 px=32 vec=2 items=2"},
      {"prod", "i32", "", "523x10008", "1", "block=tree rx=64 vec=4 items=2"},
      {"sum", "f16", "", "523x10008", "1", "block=tree rx=64 vec=8 items=4"},
      {"max", "f16", "", "10007x264", "0", "block=lane rx=8 px=32 vec=8 items=2"},
      {"sum", "bf16", "", "10007x264", "0", "block=lane rx=8 px=32 vec=8 items=2"},
      {"mean", "bf16", "", "523x10008", "1", "block=warp rx=32 px=4 vec=8 items=2"},
      {"sum", "i8", "", "523x10016", "1", "block=warp rx=32 px=4 vec=16"},
      {"max", "i8", "", "10007x1056", "0", "block=lane rx=8 px=32 vec=16 items=2"},
      {"min", "u8", "", "523x10016", "1", "block=warp rx=32 px=4 vec=16"},
      {"any", "bool", "", "523x10016", "1", "block=warp rx=32 px=4 vec=16"},
      {"argmax", "f16", "", "523x10008", "1", "block=warp rx=32 px=4 vec=8 items=2"},
      {"argmin", "f32", "", "10008x520", "0", "block=lane rx=8 px=32 vec=4 items=2"},
      {"logsumexp", "bf16", "", "523x10008", "1", "block=warp rx=32 px=4 vec=8"},
      {"compensated_sum", "bf16", "", "523x10008", "1", "block=warp rx=32 px=4 vec=8"},
  };
  for (const PtxCase& c : cases) {
    SCOPED_TRACE(trace_of(c));
    compile(c);
    EXPECT_GT(count(kWideLoad), 0);
    EXPECT_EQ(count(kNarrowLoad) + count(kPairLoad), 0);
  }
}

TEST_F(NvrtcPtx, NarrowerVectorsAreOneLoadToo) {
  const std::pair<PtxCase, const char*> cases[] = {
      {{"sum", "f32", "", "523x10008", "1", "block=tree rx=64 vec=2 items=4"}, R"(ld\.global\.nc\.v2\.[bfu]32)"},
      {{"sum", "f16", "", "523x10008", "1", "block=tree rx=64 vec=4 items=4"}, R"(ld\.global\.nc\.v2\.[bu]32)"},
      {{"sum", "f16", "", "523x10008", "1", "block=tree rx=64 vec=2 items=4"}, R"(ld\.global\.nc\.[bu]32)"},
      {{"max", "i8", "", "523x10016", "1", "block=tree rx=64 vec=4 items=4"}, R"(ld\.global\.nc\.[bu]32)"},
      {{"max", "i8", "", "523x10016", "1", "block=tree rx=64 vec=2 items=4"}, R"(ld\.global\.nc\.[bu]16)"},
  };
  for (const auto& [c, pattern] : cases) {
    SCOPED_TRACE(trace_of(c));
    compile(c);
    EXPECT_GT(count(pattern), 0);
    EXPECT_EQ(count(R"(ld\.global\.nc\S*)"), count(pattern)) << "all loads are of that size";
  }
}

TEST_F(NvrtcPtx, TailsThatNoVectorCoversAreElements) {
  compile({"sum", "f32", "", "523x10008", "1", "block=tree rx=64 vec=4"});
  EXPECT_EQ(count(kNarrowLoad), 0);
  compile({"sum", "f32", "", "10007", "0", "block=tree grid=second_kernel rx=64 vec=4 split=4"});
  EXPECT_GT(count(kWideLoad), 0);
  EXPECT_GT(count(kNarrowLoad), 0) << "10007 is no multiple of 4";
}

// ---- atomics: native where there are any, of the output's type and the device's scope ----

TEST_F(NvrtcPtx, AtomicsAreThoseOfTheType) {
  const std::pair<PtxCase, std::vector<const char*>> cases[] = {
      {{"sum", "f32", "", "523x10008", "1", "block=tree grid=atomic rx=64 vec=4 split=4"}, {R"(add\.f32)"}},
      {{"sum", "f16", "f32", "523x10008", "1", "block=tree grid=atomic rx=64 vec=8 split=4"}, {R"(add\.f32)"}},
      {{"mean", "bf16", "f32", "523x10008", "1", "block=warp grid=atomic rx=64 vec=8 split=4"}, {R"(add\.f32)"}},
      {{"sum", "f64", "", "523x10008", "1", "block=tree grid=atomic rx=64 vec=2 split=4"}, {R"(add\.f64)"}},
      {{"sum", "i64", "", "523x10008", "1", "block=warp grid=atomic rx=64 vec=2 split=4"}, {R"(add\.[su]64)"}},
      {{"sum", "i8", "", "523x10016", "1", "block=shuffle grid=atomic rx=64 vec=8 split=4"}, {R"(add\.[su]64)"}},
      {{"max", "i32", "", "523x10008", "1", "block=none grid=atomic rx=64 vec=4 split=4"}, {R"(max\.s32)"}},
      {{"min", "i64", "", "523x10008", "1", "block=lane grid=atomic rx=32 px=4 vec=2 split=4"}, {R"(min\.s64)"}},
      {{"any", "i8", "i32", "523x10016", "1", "block=tree grid=atomic rx=64 vec=8 split=4"}, {R"(or\.b32)"}},
      {{"all", "f32", "i32", "523x10008", "1", "block=tree grid=atomic rx=64 vec=4 split=4"}, {R"(and\.b32)"}},
      {{"max", "f32", "", "523x10008", "1", "block=shuffle grid=atomic rx=64 vec=4 split=4"},
       {R"(max\.s32)", R"(min\.u32)"}},
      {{"min", "f64", "", "523x10008", "1", "block=tree grid=atomic rx=64 vec=2 split=4"},
       {R"(min\.s64)", R"(max\.u64)"}},
      {{"prod", "f32", "", "523x10008", "1", "block=tree grid=atomic rx=64 vec=4 split=4"}, {R"(cas\.b32)"}},
      {{"prod", "i64", "", "523x10008", "1", "block=tree grid=atomic rx=64 vec=2 split=4"}, {R"(cas\.b64)"}},
  };
  for (const auto& [c, kinds] : cases) {
    SCOPED_TRACE(trace_of(c));
    compile(c);
    int found = 0;
    for (const char* kind : kinds) {
      const std::string pattern = R"((atom|red)\.(relaxed\.gpu\.)?global(\.relaxed)?(\.gpu)?\.)" + std::string(kind);
      EXPECT_GE(count(pattern.c_str()), 1) << kind;
      found += count(pattern.c_str());
    }
    EXPECT_EQ(count(kAtomic), found) << "no other atomic, in no other scope";
    // The first turn of a loop of swaps may stand in front of it.
    EXPECT_LE(found, std::string(kinds[0]).starts_with("cas") ? 2 : static_cast<int>(kinds.size()));
  }
}

// ---- shuffles: one per step of each member ----

TEST_F(NvrtcPtx, WarpsShuffleEveryMemberOnce) {
  const std::tuple<const char*, const char*, int> cases[] = {
      {"sum", "f32", 5},  {"sum", "bf16", 5},    {"max", "i32", 5},        {"sum", "f64", 10},
      {"sum", "i64", 10}, {"argmax", "f32", 10}, {"logsumexp", "f32", 10}, {"var", "f32", 15},
  };
  for (const auto& [op, dtype, shuffles] : cases) {
    const PtxCase c{op, dtype, "", "523x10008", "1", "block=warp rx=32 px=4 vec=2"};
    SCOPED_TRACE(trace_of(c));
    compile(c);
    EXPECT_EQ(count(kShuffle), shuffles);
    EXPECT_EQ(count(kBarrier), 0) << "a warp needs no barrier";
    EXPECT_FALSE(shared_);
  }
}

// ---- indices: 32 bits where they suffice, 64 where they do not ----

TEST_F(NvrtcPtx, IndicesHaveThirtyTwoBitsWhereTheySuffice) {
  const PtxCase cases[] = {
      {"sum", "f32", "", "1000008", "0", "block=tree grid=second_kernel rx=256 vec=4 items=2 split=64"},
      {"sum", "f32", "", "523x10008", "1", "block=tree rx=64 vec=4 items=4"},
      {"sum", "f32", "", "10007x264", "0", "block=lane rx=8 px=32 vec=4 items=2"},
      {"sum", "f32", "", "37x131x1032", "0,2", "block=warp rx=32 px=4 vec=4"},
      {"sum", "f32", "", "19x5003x136", "1", "block=lane rx=8 px=32 vec=4 items=2"},
      {"sum", "f32", "", "3x50x7x9x11", "0,2,4", "block=warp rx=8 px=4"},
      {"argmax", "f32", "", "3x50x7x9x11", "0,2,4", "block=warp rx=8 px=4"},
      {"argmax", "i8", "", "523x10016", "1", "block=warp rx=32 px=4 vec=8"},
  };
  for (const PtxCase& c : cases) {
    SCOPED_TRACE(trace_of(c));
    compile(c);
    EXPECT_EQ(count(kWideIndex), 0);
  }
}

TEST_F(NvrtcPtx, IndicesHaveSixtyFourBitsWhereTheyMust) {
  // 9e9 elements: coordinates are taken apart by divisions, in 64 bits now.
  compile({"sum", "f32", "", "3x5000x7x9x9524", "0,2,4", "block=warp rx=32 px=4"});
  EXPECT_GT(count(kWideIndex), 0);
}

bool has(const std::string& text, const char* pattern) {
  return std::regex_search(text, std::regex(pattern));
}

TEST_F(NvrtcPtx, VectorAtomicsAreOneInstruction) {
  const std::string four =
      ptx_of({"sum", "f32", "", "10007x264", "0", "block=tree grid=atomic rx=8 px=32 vec=4 items=2 split=16"});
  EXPECT_TRUE(has(four, R"(red\.global\S*\.add\.v4\.f32)"));
  const std::string mean =
      ptx_of({"mean", "f32", "", "10007x264", "0", "block=tree grid=atomic rx=8 px=32 vec=2 items=2 split=16"});
  EXPECT_TRUE(has(mean, R"(red\.global\S*\.add\.v2\.f32)"));
  const std::string wide =
      ptx_of({"sum", "f64", "", "10007x264", "0", "block=tree grid=atomic rx=8 px=32 vec=2 items=2 split=16"});
  EXPECT_FALSE(has(wide, R"(\.v[24]\.f64 \[)")) << "there is none for f64";
}

TEST_F(NvrtcPtx, SharedAtomicsAreOnSharedMemory) {
  const std::string ptx =
      ptx_of({"sum", "f32", "", "10007x264", "0", "block=shared_atomic rx=8 px=32 vec=4 items=2"});
  EXPECT_TRUE(has(ptx, R"((red|atom)\.\S*shared\S*\.add\.f32)"));
  EXPECT_FALSE(has(ptx, R"(\b(red|atom)\.\S*global)"));
}

TEST_F(NvrtcPtx, PackedArgReductionsAreOneWideMaximum) {
  const std::string ptx =
      ptx_of({"argmin", "f32", "", "523x10008", "1", "block=shuffle grid=private_atomic rx=64 vec=4 split=8"});
  EXPECT_TRUE(has(ptx, R"((red|atom)\.\S*global\S*\.max\.u64)"));
}

TEST_F(NvrtcPtx, WarpsOfIntegersHaveTheirInstruction) {
  const std::string ptx = ptx_of({"max", "i32", "", "523x10008", "1", "block=redux rx=128 vec=4"});
  EXPECT_TRUE(has(ptx, R"(redux\.sync\.max\.s32)"));
  EXPECT_THAT(ptx, Not(HasSubstr("shfl")));
  EXPECT_THAT(ptx_of({"any", "u8", "i32", "523x10008", "1", "block=redux rx=32 px=2 vec=4"}),
              HasSubstr("redux.sync.or.b32"));
}

TEST_F(NvrtcPtx, ClustersReadEachOthersSharedMemory) {
  const std::string ptx =
      ptx_of({"sum", "f32", "", "10007x264", "0", "block=tree grid=cluster rx=8 px=32 vec=4 items=2 split=8"});
  EXPECT_THAT(ptx, HasSubstr(".reqnctapercluster 8, 1, 1"));
  EXPECT_THAT(ptx, HasSubstr("mapa.u64"));
  EXPECT_TRUE(has(ptx, R"(barrier\.cluster\.arrive\.release)"));
  EXPECT_FALSE(has(ptx, R"(\b(red|atom)\.)"));
}

TEST_F(NvrtcPtx, ResidentBlocksWaitForTickets) {
  const Task task = task_of("64x10008", "1", "sm_90");
  const Schedule schedule = parse_schedule("block=shuffle grid=grid_sync rx=64 vec=4 split=2");
  EXPECT_FALSE(why_not(task, {}, schedule));
  const Program program = generate(task, schedule);
  ASSERT_EQ(program.launches.size(), 1u);
  EXPECT_TRUE(program.launches[0].cooperative);
  const std::string ptx =
      ptx_of({"sum", "f32", "", "64x10008", "1", "block=shuffle grid=grid_sync rx=64 vec=4 split=2"});
  EXPECT_THAT(ptx, HasSubstr("nanosleep"));
  EXPECT_TRUE(has(ptx, R"(ld\.volatile\.global)"));
}

}  // namespace
}  // namespace redtune
