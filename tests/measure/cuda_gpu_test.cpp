// Real faults on a real GPU. Without one only that the kernels compile is tested.
#include <chrono>

#include "codegen/codegen.h"
#include "codegen/nvrtc.h"
#include "tests/measure/device_fixture.h"

namespace redtune {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

/// Sums 1024 floats for each of 64 outputs. `body` replaces the store of the sum `a` to out[r].
Candidate cuda_rows(const std::string& salt, const std::string& body = "out[r] = a;",
                    const std::string& loop = "for (int i = 0; i < 1024; i++) a += x[r * 1024 + i];") {
  Candidate candidate;
  candidate.program.text = "// " + salt +
                           "\nextern \"C\" __global__ void rows(const float* x, float* out) {\n"
                           "  const int r = blockIdx.x * 32 + threadIdx.x;\n  float a = 0;\n  " +
                           loop + "\n  " + body + "\n}\n";
  candidate.program.buffers = {{"x", BufferKind::kInput, DType::kF32, kRows * kColumns},
                               {"out", BufferKind::kOutput, DType::kF32, kRows}};
  candidate.program.launches = {{"rows", {2, 1, 1}, {32, 1, 1}, 0, {0, 1}}};
  return candidate;
}

struct GpuCase {
  const char* name;
  Candidate candidate;
  OutcomeKind kind;
  const char* detail;
};

std::vector<GpuCase> gpu_cases() {
  Candidate dynamic =
      cuda_rows("dynamic", "s[threadIdx.x] = a; out[r] = s[threadIdx.x];",
                "extern __shared__ float s[]; for (int i = 0; i < 1024; i++) a += x[r * 1024 + i];");
  dynamic.program.launches[0].dynamic_shared_bytes = 60'000;
  Candidate two = cuda_rows("two");
  two.program.launches.push_back(two.program.launches[0]);
  return {
      {"good", cuda_rows("good"), OutcomeKind::kTimed, ""},
      {"two_kernels", two, OutcomeKind::kTimed, ""},
      {"dynamic_shared_memory", dynamic, OutcomeKind::kTimed, ""},
      {"skips_the_last", cuda_rows("skip", "if (r + 1 < 64) out[r] = a;"), OutcomeKind::kWrongResult,
       "out[63]"},
      {"does_nothing", cuda_rows("nothing", "if (a == 12345.5f) out[r] = a;"), OutcomeKind::kWrongResult,
       "out["},
      {"nan", cuda_rows("nan", "out[r] = a * __int_as_float(0x7fc00000);"), OutcomeKind::kWrongResult,
       "out["},
      {"one_too_far", cuda_rows("far", "out[r] = a; if (r == 63) out[64] = 1;"), OutcomeKind::kWrongResult,
       "wrote behind buffer 'out'"},
      {"writes_to_its_input", cuda_rows("input", "out[r] = a; ((float*)x)[r] = 7;"), OutcomeKind::kTimed, ""},
      {"null_write", cuda_rows("null", "*(volatile int*)(unsigned long long)(r / 64) = 1;"),
       OutcomeKind::kCrashed, "CUDA_ERROR_ILLEGAL_ADDRESS (700)"},
      {"endless",
       cuda_rows("endless", "out[r] = a;", "while (((volatile const float*)x)[r] != 12345.0f) a += 1;"),
       OutcomeKind::kTimedOut, "did not end within"},
      {"trap", cuda_rows("trap", "if (r == 3) __trap(); out[r] = a;"), OutcomeKind::kCrashed, "CUDA_ERROR_"},
      {"no_code", cuda_rows("error", "out[r] = not_a_name;"), OutcomeKind::kCompileFailed, "not_a_name"},
  };
}

TEST(CudaGpuKernels, Compile) {
  try {
    Nvrtc::instance();
  } catch (const NoDevice& error) {
    GTEST_SKIP() << error.what();
  }
  for (const GpuCase& row : gpu_cases()) {
    NvrtcOptions options;
    options.compute_capability = 90;
    const NvrtcResult result =
        Nvrtc::instance().compile(full_text(row.candidate.program, TargetKind::kCuda), options);
    EXPECT_EQ(result.ok, row.kind != OutcomeKind::kCompileFailed) << row.name << ": " << result.error;
  }
}

TEST(CudaGpu, EveryFaultEndsRightAndTheNextCandidateIsGood) {
  std::optional<DeviceInfo> gpu;
  for (const DeviceInfo& device : list_devices()) {
    if (device.id.starts_with("cuda:") && !gpu) gpu = device;
  }
  if (!gpu) GTEST_SKIP() << "no CUDA device";
  MeasureOptions options;
  options.deadline_floor_seconds = 2;
  const Task task =
      make_task(operator_from_short_form({"sum", "64x1024", "1", "f32", "", "", false}), gpu->target);
  const auto evaluator = make_device_evaluator(*gpu, task, options);
  const auto evaluate = [&](const Candidate& candidate, double* seconds) {
    Outcome outcome;
    Clock::time_point started;
    Evaluator::Callbacks callbacks;
    callbacks.starting = [&](std::size_t) { started = Clock::now(); };
    callbacks.done = [&](std::size_t, const Outcome& result) {
      *seconds = std::chrono::duration<double>(Clock::now() - started).count();
      outcome = result;
    };
    evaluator->evaluate({&candidate, 1}, callbacks);
    return outcome;
  };
  int salt = 0;
  for (const GpuCase& row : gpu_cases()) {
    double seconds = 0;
    const Outcome outcome = evaluate(row.candidate, &seconds);
    EXPECT_EQ(name(outcome.kind), name(row.kind)) << row.name << ": " << outcome.detail;
    EXPECT_THAT(outcome.detail, HasSubstr(row.detail)) << row.name;
    if (row.kind == OutcomeKind::kTimedOut) {
      EXPECT_LT(seconds, 2 * options.deadline_floor_seconds);
    }
    const Outcome next = evaluate(cuda_rows("after " + std::to_string(salt++)), &seconds);
    EXPECT_EQ(next.kind, OutcomeKind::kTimed) << "after " << row.name << ": " << next.detail;
    EXPECT_LT(next.median_seconds, 1e-3) << "after " << row.name;
  }
}

}  // namespace
}  // namespace redtune
