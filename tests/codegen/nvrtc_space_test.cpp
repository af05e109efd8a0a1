// What the generator makes of schedules from all over the spaces, through the compiler: everything compiles,
// nothing spills, and the assembler counts the shared bytes that the launch claims.
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/nvrtc_batch.h"
#include "space/mappings.h"
#include "space/search_space.h"
#include "support/rng.h"
#include "tests/codegen/nvrtc_fixture.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

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
        sampler.draw(task_of(form.shape, form.axes, target, op, dtype, half && sampler.coin() ? "f32" : ""),
                     samples);
      }
    }
  }
  return samples;
}

/// Of every other operator one schedule in every second form, the element types in turns; `turn` says what
/// comes first.
std::vector<Sample> samples_of_the_others(const std::string& target, std::size_t turn) {
  constexpr const char* kTypes[] = {"f32", "i8",   "f16", "f64", "bf16", "i32",
                                    "u8",  "bool", "i64", "f32", "f64"};
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

/// Spills that are let be, by part of Sample::text(): no more bytes of stores, loads and stack than these.
struct KnownSpill {
  const char* sample;
  std::int64_t most_spilled, most_stack;
};
constexpr KnownSpill kKnownSpills[] = {
    // 1024 threads leave 64 registers to each; 64 values of 64 bits are under way.
    {"min(i64[37,131,1032];axes=0,2)->i64 @ sm_75 block=lane grid=last_block rx=32 px=32 vec=2 acc=4 items=8 "
     "rows=2",
     80, 32},
};

KnownSpill let_be(const std::string& text) {
  for (const KnownSpill& known : kKnownSpills) {
    if (text.find(known.sample) != std::string::npos) return known;
  }
  return {"", 0, 0};
}

void expect_good(const Sample& sample, const BatchItem& item) {
  ASSERT_TRUE(item.result->ok) << sample.text() << "\n" << item.result->log;
  for (const KernelLaunch& launch : item.program->launches) {
    const KernelResources* kernel = item.result->find(launch.entry);
    ASSERT_NE(kernel, nullptr) << sample.text() << ": no " << launch.entry;
    EXPECT_EQ(kernel->shared_bytes, launch.shared_bytes) << sample.text() << ": " << launch.entry;
    const KnownSpill known = let_be(sample.text());
    EXPECT_LE(kernel->spill_store_bytes + kernel->spill_load_bytes, known.most_spilled)
        << sample.text() << ": " << launch.entry << " takes " << kernel->registers << " registers";
    EXPECT_LE(kernel->stack_bytes, known.most_stack) << sample.text() << ": " << launch.entry;
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
  for (const MappingInfo& mapping : mappings()) {
    // Blocks that must all be resident are few on a small device: no sample may have room for them.
    if (mapping.grid == GridCombine::kGridSync) {
      EXPECT_LE(seen.contains(std::string(mapping.name)), has_mapping(here, mapping)) << mapping.name;
    } else {
      EXPECT_EQ(seen.contains(std::string(mapping.name)), has_mapping(here, mapping)) << mapping.name;
    }
  }
  compile(samples);
}

TEST_P(NvrtcSpace, EveryOperatorCompilesWithoutSpills) {
  if (IsSkipped()) return;
  if (!known()) GTEST_SKIP() << "this NVRTC knows no " << target();
  compile(samples_of_the_others(target(), static_cast<std::size_t>(GetParam() / 5)));
}

INSTANTIATE_TEST_SUITE_P(Architectures, NvrtcSpace, ::testing::Values(75, 80, 90, 100),
                         [](const auto& architecture) { return "sm_" + std::to_string(architecture.param); });

}  // namespace
}  // namespace redtune
