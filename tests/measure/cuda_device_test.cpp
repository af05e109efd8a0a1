// The CUDA device file against a driver without a GPU: choosing, checking, timing, and what may go wrong.
#include "measure/cuda_library.h"

#include <fstream>

#include "codegen/nvrtc_library.h"
#include "measure/cupti_library.h"
#include "tests/measure/fake_cuda_fixture.h"
#include "tests/measure/fake_faults.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(FakeCuda, IsNeverPresentedAsAGpu) {
  const DeviceInfo found = device();
  EXPECT_EQ(found.name, "fake device of the tests, not a GPU (GPU-00010203-0405-0607-0809-0a0b0c0d0e0f)");
  EXPECT_EQ(found.driver, "CUDA 99.9");
  EXPECT_EQ(found.target.name, "sm_90");
  EXPECT_EQ(found.target.kind, TargetKind::kCuda);
  EXPECT_EQ(found.target.units, 4);
  EXPECT_EQ(found.target.last_level_cache_bytes, 1 << 20);
  EXPECT_DOUBLE_EQ(found.target.memory_bytes_per_second, 2 * 1e6 * 64);
  EXPECT_EQ(found.clock, "cupti");
  EXPECT_EQ(found.facts.at("nvrtc"), "99.9");
}

TEST_F(FakeCuda, IsChosenByIndexAndByUuid) {
  settings("devices=2");
  EXPECT_EQ(pick_device("cuda:1").id, "cuda:1");
  EXPECT_EQ(pick_device("GPU-10111213-1415-1617-1819-1a1b1c1d1e1f").id, "cuda:1");
  EXPECT_EQ(pick_device("best").id, "cuda:0");
}

// Case h7.
TEST_F(FakeCuda, AHiddenDeviceIsNotPresent) {
  environment_.set("CUDA_VISIBLE_DEVICES", "1");
  EXPECT_THAT(
      message_of([] { pick_device("cuda:1"); }),
      HasSubstr("'cuda:1' is not present: CUDA_VISIBLE_DEVICES='1' leaves, counted anew from 0: cuda:0"));
}

TEST_F(FakeCuda, WithoutAGpuTheNoteSaysSo) {
  settings("devices=0");
  environment_.set("CUDA_VISIBLE_DEVICES", "");
  std::vector<std::string> notes;
  list_devices(&notes);
  EXPECT_THAT(notes, testing::Contains(HasSubstr("shows no GPU; CUDA_VISIBLE_DEVICES is ''")));
}

TEST_F(FakeCuda, WithoutADriverTheNoteSaysSo) {
  environment_.set("REDTUNE_CUDA_DRIVER", "/nowhere/libcuda.so.1");
  std::vector<std::string> notes;
  list_devices(&notes);
  EXPECT_THAT(notes, testing::Contains(HasSubstr("/nowhere/libcuda.so.1 is not here")));
}

TEST_F(FakeCuda, WithoutNvrtcThereIsNoDevice) {
  environment_.set("REDTUNE_NVRTC", "/nowhere/libnvrtc.so");
  std::vector<std::string> notes;
  for (const DeviceInfo& found : list_devices(&notes)) EXPECT_THAT(found.id, Not(HasSubstr("cuda")));
  EXPECT_THAT(notes, testing::Contains(HasSubstr("NVRTC, the CUDA run-time compiler, was not found")));
}

TEST_F(FakeCuda, TimesAreThoseOfTheRecords) {
  const Candidate candidate = fake_kernel("a");
  const Outcome outcome = evaluate(*evaluator(), {candidate})[0];
  ASSERT_EQ(outcome.kind, OutcomeKind::kTimed) << outcome.detail;
  EXPECT_GT(outcome.compile_seconds, 0);
  EXPECT_GE(outcome.median_seconds, 20e-6);
  EXPECT_LE(outcome.median_seconds, 100e-6);
  EXPECT_DOUBLE_EQ(outcome.median_seconds, outcome.kernel_seconds);
}

TEST_F(FakeCuda, AScheduleOfTwoKernelsHasSumAndSpan) {
  Candidate candidate = fake_kernel("two");
  candidate.program.launches.push_back(candidate.program.launches[0]);
  const Outcome outcome = evaluate(*evaluator(), {candidate})[0];
  ASSERT_EQ(outcome.kind, OutcomeKind::kTimed) << outcome.detail;
  EXPECT_NEAR(outcome.median_seconds - outcome.kernel_seconds, 1e-6, 1e-9)
      << "the fake's gap between kernels";
}

// Cases e4, e10: refused at the start, so that the whole run has one clock.
TEST_F(FakeCuda, WithoutCuptiEventsAreTheClockAndTheNoteSaysWhy) {
  for (const auto& [refusal, why] : std::map<std::string, std::string>{
           {"taken=1", "holds CUPTI's only subscription"},
           {"forbidden=1",
            "ERR_NVGPUCTRPERM, this user may not profile; load the nvidia module with "
            "NVreg_RestrictProfilingToAdminUsers=0"},
           {"silent=1", "it records nothing"}}) {
    settings(refusal);
    std::vector<std::string> notes;
    list_devices(&notes);
    EXPECT_THAT(notes, testing::Contains(HasSubstr(why)));
    const DeviceInfo found = device();
    EXPECT_EQ(found.clock, "cuda_events");
    EXPECT_THAT(found.facts.at("clock_note").get<std::string>(), HasSubstr(why));
    const Outcome outcome = evaluate(*evaluator(found), {fake_kernel("a")})[0];
    EXPECT_EQ(outcome.kind, OutcomeKind::kTimed) << outcome.detail;
  }
}

// Case e5: a clock that goes away does not become another one.
TEST_F(FakeCuda, ALostClockEndsTheRunInsteadOfMixing) {
  const DeviceInfo found = device();
  const auto running = evaluator(found);
  EXPECT_EQ(evaluate(*running, {fake_kernel("a")})[0].kind, OutcomeKind::kTimed);
  settings("taken=1");
  const std::vector<Candidate> batch{fake_kernel("b", "null_write"), fake_kernel("c")};
  EXPECT_THAT(message_of<NoDevice>([&] { running->evaluate(batch, {}); }),
              HasSubstr("times of 'cuda:0' are those of CUPTI, and it refuses now"));
  EXPECT_THAT(message_of<NoDevice>([&] { evaluator(found); }), HasSubstr("it refuses now"));
}

TEST_F(FakeCuda, AProfilerThatRunsLaunchesOneByOneOpensTheGate) {
  settings("serial=1");
  options_.deadline_floor_seconds = 5;
  const auto outcomes = evaluate(*evaluator(), {fake_kernel("a"), fake_kernel("b")});
  for (const auto& [index, outcome] : outcomes)
    EXPECT_EQ(outcome.kind, OutcomeKind::kTimed) << outcome.detail;
}

// Case h6.
TEST_F(FakeCuda, ATaskThatDoesNotFitIsRefusedWithBothNumbers) {
  settings("memory=100000");
  EXPECT_THAT(message_of([&] { evaluator(); }),
              HasSubstr("needs a buffer of 262 kB, device 'cuda:0' allows 100 kB"));
}

TEST_F(FakeCuda, ImpossibleLaunchesAreRefusedWithNumbers) {
  Candidate wide = fake_kernel("a"), greedy = fake_kernel("b"), tall = fake_kernel("c"),
            dynamic = fake_kernel("d");
  wide.program.launches[0].block = {2048, 1, 1};
  greedy.program.launches[0].dynamic_shared_bytes = 300'000;
  tall.program.launches[0].grid = {1, 70'000, 1};
  dynamic.program.launches[0].dynamic_shared_bytes = 100'000;
  const auto outcomes = evaluate(*evaluator(), {wide, greedy, tall, dynamic});
  EXPECT_EQ(outcomes.at(0).kind, OutcomeKind::kRejected);
  EXPECT_THAT(outcomes.at(0).detail, HasSubstr("block of 2048 threads, device allows 1024"));
  EXPECT_EQ(outcomes.at(1).kind, OutcomeKind::kRejected);
  EXPECT_THAT(outcomes.at(1).detail, HasSubstr("300 kB of shared memory, device allows 232 kB"));
  EXPECT_EQ(outcomes.at(2).kind, OutcomeKind::kLaunchFailed);
  EXPECT_THAT(outcomes.at(2).detail, HasSubstr("grid of 70000 blocks in dimension 1, possible are 65535"));
  EXPECT_EQ(outcomes.at(3).kind, OutcomeKind::kTimed) << outcomes.at(3).detail;
}

TEST_F(FakeCuda, BlocksThatWaitForEachOtherMustAllBeResident) {
  Candidate some = fake_kernel("a"), many = fake_kernel("b");
  some.program.launches[0].cooperative = many.program.launches[0].cooperative = true;
  some.program.launches[0].grid = {32, 1, 1};
  many.program.launches[0].grid = {33, 1, 1};
  const auto outcomes = evaluate(*evaluator(), {some, many});
  ASSERT_EQ(outcomes.at(0).kind, OutcomeKind::kTimed) << outcomes.at(0).detail;
  EXPECT_GT(outcomes.at(0).median_seconds, 0) << "CUPTI tells of the launch";
  EXPECT_EQ(outcomes.at(1).kind, OutcomeKind::kLaunchFailed);
  EXPECT_THAT(outcomes.at(1).detail, HasSubstr("33 blocks wait for each other, and 32 can be resident at once"));
}

class FakeCudaFaults : public FakeCuda, public testing::WithParamInterface<FaultEnd> {};

TEST_P(FakeCudaFaults, OnlyItsCandidateSuffers) {
  const std::string fault(kFakeFaultNames[static_cast<std::size_t>(GetParam().fault)]);
  const auto outcomes = evaluate(*evaluator(), {fake_kernel("a"), fake_kernel("b", fault), fake_kernel("c")});
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes.at(0).kind, OutcomeKind::kTimed) << outcomes.at(0).detail;
  EXPECT_EQ(name(outcomes.at(1).kind), name(GetParam().kind)) << outcomes.at(1).detail;
  EXPECT_THAT(outcomes.at(1).detail, HasSubstr(GetParam().detail));
  EXPECT_TRUE(outcomes.at(1).seconds.empty());
  EXPECT_EQ(outcomes.at(2).kind, OutcomeKind::kTimed) << outcomes.at(2).detail;
}

INSTANTIATE_TEST_SUITE_P(All, FakeCudaFaults, testing::ValuesIn(kFaultEnds), [](const auto& row) {
  return std::string(kFakeFaultNames[static_cast<std::size_t>(row.param.fault)]);
});

// The compiler that people have, and a driver that cannot run what it makes.
TEST_F(FakeCuda, LoadsCubinsOfTheRealCompiler) {
  const std::string real = [] {
    for (const std::string& path : nvrtc_candidates("")) {
      if (std::ifstream(path).good()) return path;
    }
    return std::string();
  }();
  if (real.empty()) GTEST_SKIP() << "no NVRTC at a known place";
  environment_.set("REDTUNE_NVRTC", real);
  const auto outcomes = evaluate(*evaluator(), {fake_kernel("a"), fake_kernel("b", "none \n not C++;\n")});
  EXPECT_EQ(outcomes.at(0).kind, OutcomeKind::kTimed) << outcomes.at(0).detail;
  EXPECT_GT(outcomes.at(0).compile_seconds, 0.005);
  EXPECT_EQ(outcomes.at(1).kind, OutcomeKind::kCompileFailed);
  EXPECT_THAT(outcomes.at(1).detail, HasSubstr("error"));
}

TEST(CudaLibrary, AFileThatIsNoDriverIsNamed) {
  EXPECT_THAT(message_of<NoDevice>([] { open_cuda_library("libm.so.6"); }),
              HasSubstr("libm.so.6 lacks cuGetErrorName"));
}

TEST(CuptiLibrary, TheRealOneHasWhatIsNeeded) {
  try {
    EXPECT_GT(open_cupti(cupti_candidates("")).version, 0u);
  } catch (const NoDevice& error) {
    GTEST_SKIP() << error.what();
  }
}

TEST(CuptiLibrary, AMissingOneIsNamedWithTheRemedy) {
  EXPECT_THAT(message_of<NoDevice>([] { open_cupti(cupti_candidates("/nowhere/libcupti.so")); }),
              HasSubstr("tried /nowhere/libcupti.so. Install it (package cuda-cupti"));
}

}  // namespace
}  // namespace redtune
