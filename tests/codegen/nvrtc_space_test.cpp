// What the generator makes of schedules from all over the spaces, through the compiler: everything compiles,
// nothing spills, the assembler counts the shared bytes that the launch claims, and the PTX has the
// instructions that a mapping is meant to have.
#include <gmock/gmock.h>

#include <algorithm>
#include <iostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/nvrtc_batch.h"
#include "space/constraints.h"
#include "space/mappings.h"
#include "space/search_space.h"
#include "support/rng.h"
#include "tests/codegen/nvrtc_fixture.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Form {
  const char* name;
  const char* shape;
  const char* axes;
};

// Sizes that leave tails in most schedules and still let vectors be aligned.
constexpr Form kForms[] = {
    {"R", "1000008", "0"},         {"PR", "523x10008", "1"},    {"RP", "10007x264", "0"},
    {"RPR", "37x131x1032", "0,2"}, {"PRP", "19x5003x136", "1"},
};
constexpr const char* kOps[] = {"sum", "max", "min", "prod"};  // the first rows of kReduceOps
constexpr const char* kDTypes[] = {"f32", "f64", "f16", "bf16", "i32", "i64"};

struct Sample {
  Task task;
  Schedule schedule;
  std::string text() const { return task.key() + " " + schedule.text(); }
};

/// Draws schedules; the mappings take turns, each where the next task allows it.
class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : rng_(seed) {}

  void draw(const Task& task, std::vector<Sample>& samples) {
    std::vector<std::size_t> order(used_.size());
    for (std::size_t m = 0; m < order.size(); ++m) order[m] = m;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return used_[a] < used_[b]; });
    for (const std::size_t m : order) {
      const MappingInfo& mapping = mappings()[m];
      if (reject_mapping(task, mapping.block, mapping.grid)) continue;
      SpaceFilter filter;
      filter.block = mapping.block;
      filter.grid = mapping.grid;
      const SearchSpace space(task, filter);
      if (space.size() == 0) continue;
      ++used_[m];
      samples.push_back({task, space.at(space.sample(rng_))});
      return;
    }
  }
  bool coin() { return rng_.below(2) != 0; }

 private:
  Rng rng_;
  std::vector<std::size_t> used_ = std::vector<std::size_t>(mappings().size());
};

/// One schedule per form, op and dtype.
std::vector<Sample> samples_for(const std::string& target, std::uint64_t seed) {
  std::vector<Sample> samples;
  Sampler sampler(seed);
  for (const Form& form : kForms) {
    for (const char* op : kOps) {
      for (const char* dtype : kDTypes) {
        const bool half = std::string(dtype).find("16") != std::string::npos;
        sampler.draw(task_of(form.shape, form.axes, target, op, dtype, half && sampler.coin() ? "f32" : ""), samples);
      }
    }
  }
  return samples;
}

/// Of every other operator one schedule in every second form, the element types in turns; `turn` says what comes first.
std::vector<Sample> samples_of_the_others(const std::string& target, std::size_t turn) {
  constexpr const char* kTypes[] = {"f32", "i8", "f16", "f64", "bf16", "i32", "u8", "bool", "i64", "f32", "f64"};
  std::vector<Sample> samples;
  Sampler sampler(turn);
  for (const Form& form : kForms) {
    for (std::size_t i = std::size(kOps); i < kReduceOps.size(); ++i) {
      // As many operators as make an odd number: the next form leaves out the others.
      if (++turn % 2 == 0) continue;
      sampler.draw(task_of(form.shape, form.axes, target, std::string(kReduceOps[i].name),
                           kTypes[turn / 2 % std::size(kTypes)]),
                   samples);
    }
  }
  return samples;
}

/// Schedules that are known to spill, by part of Sample::text().
struct KnownSpill {
  const char* sample;
  std::int64_t most_bytes;  // of stores and loads
  const char* reason;
};
constexpr KnownSpill kKnownSpills[] = {
    {"sum(f64[10007,264];axes=0)->f64 @ sm_80 block=lane grid=last_block rx=16 px=64", 32,
     "blocks of 1024 threads: 32 registers so that two are resident, and two pairs put aside"},
    {"argmax(f16[37,131,1032];axes=0,2)->i64 @ sm_90 block=warp grid=last_block rx=16 px=32", 24,
     "blocks of 512 threads: 40 registers so that three are resident, and the positions of two rows put aside"},
    {"min(f64[37,131,1032];axes=0,2)->f64 @ sm_90 block=shuffle grid=atomic rx=64 px=16", 16,
     "the assembler keeps to 32 registers so that two blocks of 1024 threads are resident, and puts one pair aside"},
    {"sum(bf16[19,5003,136];axes=1)->bf16 @ sm_100 block=lane grid=none rx=8 px=32 vec=4 acc=4 items=4 "
     "rows=2",
     16,
     "the assembler keeps to 48 registers of its own accord and puts one pair aside for a few instructions"},
};

std::int64_t spills_let_be(const std::string& text) {
  for (const KnownSpill& known : kKnownSpills) {
    if (text.find(known.sample) != std::string::npos) return known.most_bytes;
  }
  return 0;
}

void expect_good(const Sample& sample, const BatchItem& item) {
  ASSERT_TRUE(item.result->ok) << sample.text() << "\n" << item.result->log;
  for (const KernelLaunch& launch : item.program->launches) {
    const KernelResources* kernel = item.result->find(launch.entry);
    ASSERT_NE(kernel, nullptr) << sample.text() << ": no " << launch.entry;
    EXPECT_EQ(kernel->shared_bytes, launch.shared_bytes) << sample.text() << ": " << launch.entry;
    const std::int64_t let_be = spills_let_be(sample.text());
    EXPECT_LE(kernel->spill_store_bytes + kernel->spill_load_bytes, let_be)
        << sample.text() << ": " << launch.entry << " takes " << kernel->registers << " registers";
    EXPECT_LE(kernel->stack_bytes, let_be) << sample.text() << ": " << launch.entry;
  }
}

class NvrtcSpace : public NvrtcFixture, public ::testing::WithParamInterface<int> {
 protected:
  bool known() const {
    const std::vector<int>& supported = nvrtc_->supported_architectures();
    return std::find(supported.begin(), supported.end(), GetParam()) != supported.end();
  }
  static std::string target() { return "sm_" + std::to_string(GetParam()); }
  void compile(const std::vector<Sample>& samples);
};

void NvrtcSpace::compile(const std::vector<Sample>& samples) {
  const int architecture = GetParam();
  const BatchSummary summary = compile_batch(
      samples.size(), [&](std::size_t i) { return generate(samples[i].task, samples[i].schedule); },
      {.compile = {.compute_capability = architecture}},
      [&](const BatchItem& item) { expect_good(samples[item.index], item); });
  EXPECT_EQ(summary.compiled, samples.size());
  RecordProperty("summary", format_summary(summary));
  std::cout << format_summary(summary);
}

TEST_P(NvrtcSpace, CompilesEverywhereWithoutSpills) {
  if (IsSkipped()) return;
  if (!known()) GTEST_SKIP() << "this NVRTC knows no " << target();
  const std::vector<Sample> samples = samples_for(target(), static_cast<std::uint64_t>(GetParam()));
  std::set<std::string> seen;
  for (const Sample& sample : samples) seen.insert(sample.schedule.mapping());
  const Target here = load_target(target());
  for (const MappingInfo& mapping : mappings())
    EXPECT_EQ(seen.contains(std::string(mapping.name)), has_mapping(here, mapping)) << mapping.name;
  compile(samples);
}

TEST_P(NvrtcSpace, EveryOperatorCompilesWithoutSpills) {
  if (IsSkipped()) return;
  if (!known()) GTEST_SKIP() << "this NVRTC knows no " << target();
  compile(samples_of_the_others(target(), static_cast<std::size_t>(GetParam() / 5)));
}

INSTANTIATE_TEST_SUITE_P(Architectures, NvrtcSpace, ::testing::Values(75, 80, 90, 100),
                         [](const auto& architecture) { return "sm_" + std::to_string(architecture.param); });

struct PtxCase {
  const char *op, *dtype, *out, *shape, *axes, *schedule;
};

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
};

bool has(const std::string& text, const char* pattern) {
  return std::regex_search(text, std::regex(pattern));
}

TEST_F(NvrtcPtx, VectorsOfSixteenBytesAreOneLoad) {
  const std::pair<PtxCase, const char*> cases[] = {
      {{"sum", "f32", "", "523x10008", "1", "block=tree rx=64 vec=4 items=4"},
       R"(ld\.global\S*\.v4\.(f32|b32|u32))"},
      {{"sum", "f32", "", "10007x264", "0", "block=lane rx=8 px=32 vec=4 items=2"},
       R"(ld\.global\S*\.v4\.(f32|b32|u32))"},
      {{"max", "f64", "", "523x10008", "1", "block=tree rx=64 vec=2 items=4"},
       R"(ld\.global\S*\.(v4\.(f32|b32|u32)|v2\.(f64|b64|u64)))"},
      {{"sum", "f16", "", "523x10008", "1", "block=tree rx=64 vec=8 items=4"},
       R"(ld\.global\S*\.v4\.(f32|b32|u32))"},
      {{"sum", "bf16", "", "10007x264", "0", "block=lane rx=8 px=32 vec=8 items=2"},
       R"(ld\.global\S*\.v4\.(f32|b32|u32))"},
  };
  for (const auto& [c, pattern] : cases) {
    const std::string ptx = ptx_of(c);
    EXPECT_TRUE(has(ptx, pattern)) << c.dtype << " " << c.schedule;
    EXPECT_FALSE(has(ptx, R"(\.local)")) << c.dtype << " " << c.schedule;
  }
}

TEST_F(NvrtcPtx, AtomicsAreThoseOfTheType) {
  const std::pair<PtxCase, const char*> cases[] = {
      {{"sum", "f32", "", "523x10008", "1", "block=tree grid=atomic rx=64 vec=4 split=4"},
       R"((red|atom)\.\S*global\S*\.add\.f32)"},
      {{"sum", "f64", "", "523x10008", "1", "block=tree grid=atomic rx=64 vec=2 split=4"},
       R"((red|atom)\.\S*global\S*\.add\.f64)"},
      {{"sum", "i64", "", "523x10008", "1", "block=warp grid=atomic rx=64 vec=2 split=4"},
       R"((red|atom)\.\S*global\S*\.add\.[us]64)"},
      {{"max", "i32", "", "523x10008", "1", "block=none grid=atomic rx=64 vec=4 split=4"},
       R"((red|atom)\.\S*global\S*\.max\.s32)"},
      {{"min", "i64", "", "523x10008", "1", "block=lane grid=atomic rx=32 px=4 vec=2 split=4"},
       R"((red|atom)\.\S*global\S*\.min\.s64)"},
      {{"max", "f32", "", "523x10008", "1", "block=shuffle grid=atomic rx=64 vec=4 split=4"},
       R"((red|atom)\.\S*global\S*\.max\.s32)"},
      {{"prod", "f32", "", "523x10008", "1", "block=tree grid=atomic rx=64 vec=4 split=4"},
       R"(atom\.\S*global\S*\.cas\.b32)"},
  };
  for (const auto& [c, pattern] : cases) {
    const std::string ptx = ptx_of(c);
    EXPECT_TRUE(has(ptx, pattern)) << c.op << " " << c.dtype << " " << c.schedule;
    EXPECT_FALSE(has(ptx, R"(\.local)")) << c.op << " " << c.dtype << " " << c.schedule;
  }
}

TEST_F(NvrtcPtx, WarpsShuffle) {
  for (const char* dtype : {"f32", "f64", "i32", "i64", "bf16"}) {
    const std::string warp = ptx_of({"sum", dtype, "", "523x10008", "1", "block=warp rx=32 px=4 vec=2"});
    EXPECT_THAT(warp, HasSubstr("shfl.sync")) << dtype;
    EXPECT_THAT(warp, Not(HasSubstr("bar.sync"))) << dtype << ": a warp needs no barrier";
    EXPECT_THAT(warp, Not(HasSubstr(".shared"))) << dtype;
    EXPECT_THAT(warp, Not(HasSubstr(".local"))) << dtype;
    const std::string shuffle = ptx_of({"sum", dtype, "", "523x10008", "1", "block=shuffle rx=128 vec=2"});
    EXPECT_THAT(shuffle, HasSubstr("shfl.sync")) << dtype;
    EXPECT_THAT(shuffle, HasSubstr("bar.sync")) << dtype;
  }
}

TEST_F(NvrtcPtx, LastBlocksFenceAroundTheirTicket) {
  const std::string ptx =
      ptx_of({"sum", "f32", "", "523x10008", "1", "block=tree grid=last_block rx=64 vec=4 split=4"});
  EXPECT_TRUE(has(ptx, R"((membar\.gl|fence\.\S+\.gpu))"));
  EXPECT_TRUE(has(ptx, R"(atom\.\S*global\S*\.(inc|add)\.[us]32)"));
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
  EXPECT_FALSE(has(ptx, R"((red|atom)\.\S*global)"));
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
  EXPECT_FALSE(has(ptx, R"((red|atom)\.)"));
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
