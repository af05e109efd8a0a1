#include "codegen/nvrtc_batch.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/codegen/nvrtc_fixture.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using NvrtcBatch = NvrtcFixture;

/// Every third program has the same mistake, in another line; every fifth does not exist.
std::optional<Program> some_program(std::size_t index) {
  if (index % 5 == 4) return std::nullopt;
  Program program;
  program.text = std::string(index, '\n') + "RT_KERNEL(k, 32, 1)(RT_GLOBAL rt_f32* y) { y[RT_TX] = " +
                 (index % 3 == 2 ? "inf" : std::to_string(index)) + "; }\n";
  return program;
}

TEST_F(NvrtcBatch, CallsBackOnceForEachProgram) {
  std::multiset<std::size_t> seen;
  const BatchSummary summary =
      compile_batch(20, &some_program, {.compile = options(), .threads = 3}, [&](const BatchItem& item) {
        seen.insert(item.index);
        EXPECT_EQ(item.result->ok, item.index % 3 != 2) << item.result->log;
        EXPECT_EQ(item.program->text, some_program(item.index)->text);
      });
  EXPECT_EQ(seen.size(), 16u);
  EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 16u);
  EXPECT_EQ(summary.skipped, 4u);
  EXPECT_EQ(summary.failed, 5u);
  EXPECT_EQ(summary.compiled, 11u);
  EXPECT_EQ(summary.registers.size(), 11u);
  EXPECT_EQ(summary.seconds.size(), 16u);
  EXPECT_EQ(summary.threads, 3);
  ASSERT_EQ(summary.failures.size(), 1u) << "one mistake in different lines is one kind";
  EXPECT_EQ(summary.failures.begin()->second, 5u);
  EXPECT_THAT(format_summary(summary),
              AllOf(HasSubstr("programs per second"), HasSubstr("not generated"),
                    HasSubstr("failed: 5 x error: identifier \"inf\" is undefined")));
}

TEST_F(NvrtcBatch, TakesFromTheCache) {
  const TemporaryDirectory directory;
  KernelCache cache(directory.path());
  const BatchOptions with_cache{.compile = options(), .threads = 2, .cache = &cache};
  EXPECT_EQ(compile_batch(4, &some_program, with_cache, {}).from_cache, 0u);
  const BatchSummary again = compile_batch(4, &some_program, with_cache, {});
  EXPECT_EQ(again.from_cache, 3u);
  EXPECT_EQ(again.compiled, 3u);
  EXPECT_EQ(again.seconds.size(), 1u) << "the failure is compiled again";
}

TEST_F(NvrtcBatch, StopsWhenAsked) {
  std::atomic<int> asked{0};
  const BatchSummary summary = compile_batch(
      100, &some_program, {.compile = options(), .threads = 1, .stop = [&] { return ++asked > 2; }}, {});
  EXPECT_EQ(summary.finished(), 2u);
}

TEST_F(NvrtcBatch, ThrowsWhatTheGeneratorThrows) {
  const ProgramGenerator bad = [](std::size_t index) -> std::optional<Program> {
    if (index == 3) throw UserError("no such schedule");
    return some_program(index);
  };
  EXPECT_EQ(message_of([&] { compile_batch(50, bad, {.compile = options(), .threads = 2}, {}); }),
            "no such schedule");
}

TEST_F(NvrtcBatch, RefusesAnUnknownArchitectureBeforeItStarts) {
  bool generated = false;
  const ProgramGenerator never = [&](std::size_t) -> std::optional<Program> {
    generated = true;
    return std::nullopt;
  };
  EXPECT_THAT(message_of([&] {
                compile_batch(5, never, {.compile = {.compute_capability = 990}, .threads = 1}, {});
              }),
              HasSubstr("sm_990"));
  EXPECT_FALSE(generated);
}

TEST_F(NvrtcBatch, NothingToDo) {
  const BatchSummary summary = compile_batch(0, &some_program, {.compile = options(), .threads = 0}, {});
  EXPECT_EQ(summary.finished(), 0u);
  EXPECT_THAT(format_summary(summary), HasSubstr("programs"));
}

}  // namespace
}  // namespace redtune
