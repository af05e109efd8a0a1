#include "codegen/nvrtc.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "codegen/nvrtc_library.h"
#include "support/subprocess.h"
#include "support/text.h"
#include "tests/codegen/nvrtc_fixture.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTwoKernels = R"(
extern "C" __global__ void plain(float* x) { x[threadIdx.x] = 1; }
extern "C" __global__ void shared(float* x) {
  __shared__ float s[100];
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = s[99 - threadIdx.x];
}
extern "C" __global__ void local(float* x, int n) {
  float s[100];
  for (int i = 0; i < n; ++i) s[i * 7 % 100] = x[i];
  x[threadIdx.x] = s[99 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(1024, 2) spilling(const double* x, double* y) {
  double a[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) a[i] = x[i * threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) y[i * threadIdx.x] = a[63 - i] * a[i];
}
)";

std::string no_device_message(const std::vector<std::string>& candidates) {
  try {
    open_nvrtc(candidates);
  } catch (const NoDevice& error) {
    return error.what();
  }
  return "no error";
}

using NvrtcTest = NvrtcFixture;

TEST_F(NvrtcTest, CompilesToACubinWithItsNumbers) {
  const NvrtcResult result = nvrtc_->compile(kTwoKernels, options());
  ASSERT_TRUE(result.ok) << result.log;
  ASSERT_GE(result.image.size(), 4u);
  EXPECT_EQ(std::string(result.image.begin(), result.image.begin() + 4),
            "\x7f"
            "ELF");
  EXPECT_EQ(result.kernels.size(), 4u);
  ASSERT_NE(result.find("shared"), nullptr);
  EXPECT_EQ(result.find("shared")->shared_bytes, 400);
  EXPECT_EQ(result.find("local")->stack_bytes, 400);
  EXPECT_GT(result.find("plain")->registers, 0);
  EXPECT_GT(result.find("spilling")->spill_store_bytes, 0);
  EXPECT_GT(result.find("spilling")->spill_load_bytes, 0);
  EXPECT_GT(result.seconds, 0);
  EXPECT_EQ(result.find("absent"), nullptr);
}

// The bounds ask for two blocks of 1024 threads, unless the second try asks for one.
TEST_F(NvrtcTest, CompilesAgainWithRoomForRegistersWhatSpills) {
  std::string text = kTwoKernels;
  const std::string bounds = "__launch_bounds__(1024, 2)";
  text.replace(text.find(bounds), bounds.size(), "__launch_bounds__(256, RT_RESIDENT)");
  const NvrtcResult result = nvrtc_->compile("#ifndef RT_RESIDENT\n#define RT_RESIDENT 8\n#endif\n" + text, options());
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_EQ(result.find("spilling")->spill_store_bytes, 0);
  EXPECT_GT(result.find("spilling")->registers, 32);
}

TEST_F(NvrtcTest, ReadsTheSameNumbersFromTheBinary) {
  for (int architecture : {75, 80, 90, 100, 120}) {
    if (nvrtc_->newest_usable(architecture) != architecture) continue;
    const NvrtcResult result = nvrtc_->compile(kTwoKernels, {.compute_capability = architecture});
    ASSERT_TRUE(result.ok) << result.log;
    const std::vector<KernelResources> of_binary = resources_of_cubin(result.image);
    EXPECT_EQ(of_binary.size(), result.kernels.size());
    for (KernelResources kernel : of_binary) {
      const KernelResources* of_log = result.find(kernel.entry);
      ASSERT_NE(of_log, nullptr) << kernel.entry;
      kernel.spill_store_bytes = of_log->spill_store_bytes;
      kernel.spill_load_bytes = of_log->spill_load_bytes;
      EXPECT_EQ(kernel, *of_log) << kernel.entry << " on sm_" << architecture;
    }
  }
}

TEST_F(NvrtcTest, AgreesWithCuobjdump) {
  const char* tool = std::getenv("REDTUNE_CUOBJDUMP");
  std::string path = tool != nullptr ? tool : "";
  if (path.empty())
    path = std::filesystem::path(nvrtc_->path()).parent_path().parent_path() / "bin/cuobjdump";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no cuobjdump (REDTUNE_CUOBJDUMP names one)";
  const NvrtcResult result = nvrtc_->compile(kTwoKernels, options());
  const TemporaryDirectory directory;
  std::ofstream(directory.file("a.cubin"), std::ios::binary)
      .write(result.image.data(), static_cast<std::streamsize>(result.image.size()));
  const CapturedRun run = run_captured({.command = {path, "--dump-resource-usage", directory.file("a.cubin")},
                                        .extra_environment = {},
                                        .stderr_path = ""},
                                       30);
  for (const KernelResources& kernel : result.kernels) {
    const std::size_t at = run.output.find("Function " + kernel.entry + ":");
    ASSERT_NE(at, std::string::npos) << run.output;
    const std::string line = run.output.substr(at, run.output.find("\n Function", at + 1) - at);
    EXPECT_THAT(line, HasSubstr("REG:" + std::to_string(kernel.registers) + " "));
    EXPECT_THAT(line, HasSubstr("STACK:" + std::to_string(kernel.stack_bytes) + " "));
  }
}

TEST_F(NvrtcTest, ShowsTheFatalLineFirstAndKeepsTheLog) {
  std::string text;
  for (int i = 0; i < 30; ++i)
    text += "static __device__ int unused" + std::to_string(i) + "() { return 1; int never; }\n";
  const NvrtcResult result = nvrtc_->compile(text + "extern \"C\" __global__ void k() { inf; }\n", options());
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.error,
              AllOf(HasSubstr("error: identifier \"inf\" is undefined"), HasSubstr("kernel.cu(31)")));
  EXPECT_GT(result.log.size(), result.error.size());
  EXPECT_THAT(result.log, HasSubstr("warning"));
  EXPECT_THAT(result.image, IsEmpty());
}

TEST_F(NvrtcTest, ReportsWhatTheAssemblerRefuses) {
  const NvrtcResult result = nvrtc_->compile(
      "extern \"C\" __global__ void k(float* x) { __shared__ float s[100000]; s[threadIdx.x] = *x; "
      "__syncthreads();"
      " *x = s[1]; }",
      options());
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.error, HasSubstr("too much shared data"));
}

TEST_F(NvrtcTest, GivesPtxOnRequest) {
  NvrtcOptions ptx = options();
  ptx.ptx = true;
  const NvrtcResult result = nvrtc_->compile(kTwoKernels, ptx);
  ASSERT_TRUE(result.ok) << result.log;
  const std::string text(result.image.begin(), result.image.end());
  EXPECT_THAT(text, AllOf(HasSubstr(".target sm_"), HasSubstr(".entry shared(")));
  EXPECT_EQ(text.find('\0'), std::string::npos);
}

TEST_F(NvrtcTest, NamesTheArchitecturesItKnows) {
  ASSERT_THAT(nvrtc_->supported_architectures(), ::testing::Contains(80));
  const auto message = [&](int a) {
    return message_of([&] { nvrtc_->compile(kTwoKernels, {.compute_capability = a}); });
  };
  EXPECT_THAT(message(990),
              AllOf(HasSubstr("sm_990, which is newer"), HasSubstr("PTX for compute_"), HasSubstr("sm_80")));
  EXPECT_THAT(message(20), HasSubstr("sm_20, which is older"));
  EXPECT_THAT(message(81),
              AllOf(HasSubstr("does not know the architecture sm_81. It knows"), Not(HasSubstr("newer"))));
  EXPECT_EQ(nvrtc_->newest_usable(990), nvrtc_->supported_architectures().back());
  EXPECT_EQ(nvrtc_->newest_usable(81), 80);
  EXPECT_EQ(nvrtc_->newest_usable(10), 0);
}

TEST_F(NvrtcTest, AnUnknownOptionIsAResult) {
  NvrtcOptions wrong = options();
  wrong.extra = {"--no-such-option"};
  const NvrtcResult result = nvrtc_->compile(kTwoKernels, wrong);
  EXPECT_FALSE(result.ok);
  EXPECT_THAT(result.error, HasSubstr("--no-such-option"));
}

TEST_F(NvrtcTest, StopsAtTheDeadline) {
  std::string text;
  for (int i = 0; i < 400; ++i) {
    text += "extern \"C\" __global__ void k" + std::to_string(i) +
            "(float* x) { for (int i = 0; i < 64; ++i) x[i] += x[i * 7]; }\n";
  }
  NvrtcOptions limited = options();
  limited.deadline_seconds = 1e-3;
  const NvrtcResult result = nvrtc_->compile(text, limited);
  if (result.ok) GTEST_SKIP() << "NVRTC " << nvrtc_->version() << " cannot be stopped";
  EXPECT_TRUE(result.timed_out);
  EXPECT_THAT(result.error, HasSubstr("(limit 1.00 ms)"));
}

TEST_F(NvrtcTest, NamesTheMissingBuiltins) {
  const TemporaryDirectory directory;
  std::filesystem::path real;
  for (const std::string& candidate : nvrtc_candidates("")) {
    if (candidate.front() == '/' && std::filesystem::exists(candidate))
      real = std::filesystem::canonical(candidate);
    if (!real.empty()) break;
  }
  if (real.empty()) GTEST_SKIP() << "NVRTC lies in no known directory";
  std::filesystem::copy_file(real, directory.file("libnvrtc.so.1"));
  Nvrtc lonely(open_nvrtc({directory.file("libnvrtc.so.1")}));
  std::string message;
  try {
    const NvrtcResult result = lonely.compile(kTwoKernels, options());
    if (result.ok) GTEST_SKIP() << "the builtins are on the loader's path";
    message = result.error;
  } catch (const NoDevice& error) {
    message = error.what();
  }
  EXPECT_THAT(message, AllOf(HasSubstr("libnvrtc-builtins.so." + lonely.version()),
                             HasSubstr(directory.path()), HasSubstr("LD_LIBRARY_PATH")));
}

TEST(NvrtcLibraryTest, SaysWhereItSearchedAndTheRemedy) {
  const std::string message = no_device_message({"/nowhere/libnvrtc.so.13", "libnvrtc-absent.so"});
  EXPECT_THAT(message, AllOf(HasSubstr("/nowhere/libnvrtc.so.13, libnvrtc-absent.so"),
                             HasSubstr("REDTUNE_NVRTC"), HasSubstr("No such file")));
  EXPECT_THAT(no_device_message({"libc.so.6"}), HasSubstr("lacks a needed function"));
}

TEST(NvrtcLibraryTest, AnOverrideIsTheOnlyCandidate) {
  EXPECT_THAT(nvrtc_candidates("/a/libnvrtc.so"), ::testing::ElementsAre("/a/libnvrtc.so"));
  EXPECT_EQ(nvrtc_candidates("").front(), "libnvrtc.so.13");
}

TEST(CubinInfoTest, EmptyAndForeignInputGivesNothing) {
  EXPECT_THAT(resources_of_log(""), IsEmpty());
  EXPECT_THAT(resources_of_log("warning: Used 3 registers\n\n"), IsEmpty());
  EXPECT_THAT(resources_of_log("ptxas info    : Compiling entry function 'k' for 'sm_90'\n"), IsEmpty());
  EXPECT_THAT(resources_of_cubin({}), IsEmpty());
  EXPECT_THAT(resources_of_cubin(std::string(200, 'x')), IsEmpty());
}

TEST_F(NvrtcTest, ATruncatedBinaryIsNotReadPastItsEnd) {
  const NvrtcResult result = nvrtc_->compile(kTwoKernels, options());
  for (std::size_t size = 0; size < result.image.size(); size += 61) {
    const std::vector<char> part(result.image.begin(),
                                 result.image.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_LE(resources_of_cubin(part).size(), 4u);
  }
}

TEST(CubinInfoTest, ReadsTheAssemblersLines) {
  const std::vector<KernelResources> kernels = resources_of_log(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90'\n"
      "ptxas info    : Function properties for a\n"
      "ptxas         .     96 bytes stack frame, 88 bytes spill stores, 172 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 96 bytes cumulative stack size, 1024 bytes smem\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90'\n"
      "ptxas info    : Used 8 registers, 380 bytes cmem[0]");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0], (KernelResources{"a", 32, 1024, 96, 88, 172}));
  EXPECT_EQ(kernels[1], (KernelResources{"b", 8, 0, 0, 0, 0}));
}

TEST(FatalLine, PrefersErrorsToWarnings) {
  EXPECT_EQ(fatal_line("a.cu(1): warning #1: x\n\n  a.cu(2): error: y\na.cu(3): error: z"),
            "a.cu(2): error: y");
  EXPECT_EQ(fatal_line("ptxas info : Used 3 registers\nptxas error   : x\n"), "ptxas error   : x");
  EXPECT_EQ(fatal_line("kernel.cu(1): warning: about error codes\nptxas fatal : y"), "ptxas fatal : y");
  EXPECT_EQ(fatal_line("\n note\n"), "note");
  EXPECT_EQ(fatal_line(""), "");
}

}  // namespace
}  // namespace redtune
