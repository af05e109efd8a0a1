// Text that uses every macro of the CUDA prelude, for every element type and lane count, must compile for
// every architecture that matters.
#include <gmock/gmock.h>

#include "codegen/codegen.h"
#include "codegen/program.h"
#include "space/dtype.h"
#include "tests/codegen/nvrtc_fixture.h"

namespace redtune {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

constexpr const char* kBody = R"(
RT_KERNEL(k_@IN_@ACC_@N, 32, 2)(RT_GLOBAL const rt_@IN* RT_RESTRICT x, RT_GLOBAL rt_@IN* RT_RESTRICT y,
                                RT_GLOBAL rt_acc_@ACC* cell, RT_GLOBAL rt_u32* ticket) {
  RT_SHARED(RT_VEC(@ACC, @N), wide, 64);
  RT_SHARED(rt_acc_@ACC, narrow, 64);
  RT_SHFL_SCRATCH(@ACC, scratch, 64);
  const rt_acc_@ACC id = RT_CONST(@ACC, 0x80ull);
  const rt_index tid = RT_TY * RT_WARP + RT_TX;
  RT_VEC(@ACC, @N) v = RT_SPLAT(@ACC, @N, id);
  RT_PREFETCH(x + 4096);
)";
constexpr const char* kPerOperator = R"(
  { const RT_VEC(@ACC, @N) u = RT_LOAD(@IN, @ACC, @N, x + (@N * tid)); v = RT_COMBINE(@OP, @ACC, @N, v, u); }
  v = RT_COMBINE(@OP, @ACC, @N, v, RT_LOAD_UNALIGNED(@IN, @ACC, @N, x + tid));
  v = RT_KEEP_FROM(@ACC, @N, v, RT_BLOCK, id);
  wide[tid] = v;
  RT_BARRIER();
  { const RT_VEC(@ACC, @N) other = wide[63 - tid]; v = RT_COMBINE(@OP, @ACC, @N, v, other); }
  {
    rt_acc_@ACC s = RT_FOLD(@OP, @ACC, @N, v);
    s = RT_COMBINE(@OP, @ACC, 1, s, RT_SHFL_DOWN(@ACC, s, 16, 32, 64, scratch, tid));
    narrow[tid] = s;
    RT_BARRIER();
    RT_ATOMIC(@OP, @ACC, cell, narrow[0]);
    RT_ATOMIC_SHARED(@OP, @ACC, narrow + 1, s);
    RT_SET_LANE(@ACC, @N, v, 0, s);
    RT_STORE1(@ACC, @IN, y + 1000, RT_LANE(@ACC, @N, v, 0));
  }
)";
constexpr const char* kEnd = R"(
  RT_STORE(@ACC, @IN, @N, y + (@N * tid), v);
  RT_FENCE();
  RT_SET_LANE(@REG, 1, *cell, 0, RT_PEEK(@PART, (RT_GLOBAL const rt_@PART*)ticket));
  if (RT_TICKET(ticket) == 7u) { *cell = RT_PEEK(@REG, cell); *ticket = RT_MIN(3u, RT_MAX(1u, 2u)); }
}
)";

/// Names of the registers: what the accumulator words compute in.
std::string register_word(DType acc) {
  switch (acc) {
    case DType::kBool:
    case DType::kI8:
    case DType::kU8:
      return "i32";
    case DType::kF16:
    case DType::kBF16:
      return "f32";
    default:
      return std::string(name(acc));
  }
}

std::string kernel(DType in, DType acc, int lanes) {
  std::string text = kBody;
  for (const char* op : {"sum", "prod", "max", "min"}) text += replaced(kPerOperator, "@OP", op);
  text += kEnd;
  text = replaced(text, "@IN", std::string(name(in)));
  text = replaced(text, "@ACC", std::string(name(acc)));
  text = replaced(text, "@REG", register_word(acc));
  // Partials are stored in the accumulator's word, which for 16-bit floats is f32.
  text = replaced(text, "@PART", acc == DType::kF16 || acc == DType::kBF16 ? "f32" : std::string(name(acc)));
  return replaced(text, "@N", std::to_string(lanes));
}

class CudaPrelude : public NvrtcFixture, public ::testing::WithParamInterface<int> {};

TEST_P(CudaPrelude, EveryMacroCompilesForEveryType) {
  const int architecture = GetParam();
  if (nvrtc_->newest_usable(architecture) != architecture)
    GTEST_SKIP() << "sm_" << architecture << " is not supported";
  Program program;
  program.text = "#define rt_index rt_i64\n";
  for (const DTypeInfo& type : kDTypes) {
    // Each lane count with one of the two accumulators: all pairs would double the time and meet no other
    // code.
    for (int lanes : {1, 4, 16}) program.text += kernel(type.id, type.accumulator, lanes);
    for (int lanes : {2, 8}) program.text += kernel(type.id, type.id, lanes);
  }
  // Unoptimised assembly: what is checked is the text, and there are many kernels.
  NvrtcOptions options{.compute_capability = architecture};
  options.extra = {"--ptxas-options=-O0"};
  const NvrtcResult result = nvrtc_->compile(full_text(program, TargetKind::kCuda), options);
  ASSERT_TRUE(result.ok) << result.error;
  EXPECT_EQ(result.log.find("warning"), std::string::npos) << result.log;
  EXPECT_EQ(result.kernels.size(), 5 * kDTypes.size());
}

INSTANTIATE_TEST_SUITE_P(Architectures, CudaPrelude, ::testing::Values(75, 80, 90, 100));

using CudaPreludeText = NvrtcFixture;

/// PTX of one kernel that copies `lanes` elements.
TEST_F(CudaPreludeText, WideAccessesAreSingleInstructions) {
  for (const DTypeInfo& type : kDTypes) {
    const int lanes = 16 / type.bytes;
    const std::string word(type.name), n = std::to_string(lanes);
    Program program;
    program.text = "RT_KERNEL(k, 32, 1)(RT_GLOBAL const rt_" + word + "* RT_RESTRICT x, RT_GLOBAL rt_" +
                   word + "* y) { RT_STORE(" + word + ", " + word + ", " + n + ", y + " + n +
                   " * RT_TX, RT_LOAD(" + word + ", " + word + ", " + n + ", x + " + n + " * RT_TX)); }";
    NvrtcOptions ptx = options();
    ptx.ptx = true;
    const NvrtcResult result = nvrtc_->compile(full_text(program, TargetKind::kCuda), ptx);
    ASSERT_TRUE(result.ok) << result.error;
    const std::string text(result.image.begin(), result.image.end());
    const auto count = [&](const std::string& what) {
      std::size_t times = 0;
      for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
      return times;
    };
    EXPECT_EQ(count("ld.global"), 1u) << word << "\n" << text;
    EXPECT_EQ(count("st.global"), 1u) << word << "\n" << text;
  }
}

}  // namespace
}  // namespace redtune
