#include <cstring>

#include "measure/reference.h"
#include "tests/measure/device_fixture.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::HasSubstr;

class DeviceEvaluatorTest : public DeviceTest {};

TEST_F(DeviceEvaluatorTest, TimesAGoodProgram) {
  const auto e = evaluator();
  const Outcome outcome = evaluate(*e, {row_sums("a")})[0];
  ASSERT_EQ(outcome.kind, OutcomeKind::kTimed) << outcome.detail;
  EXPECT_GE(outcome.seconds.size(), 5u);
  EXPECT_GT(outcome.low_seconds, 0);
  EXPECT_LE(outcome.low_seconds, outcome.median_seconds);
  EXPECT_GE(outcome.high_seconds, outcome.median_seconds);
  EXPECT_GT(outcome.kernel_seconds, 0);
  EXPECT_LE(outcome.kernel_seconds, outcome.median_seconds * 1.01);
  EXPECT_GT(outcome.compile_seconds, 0);
  EXPECT_LE(outcome.max_error, 1);
  EXPECT_GT(e->split().compiling, 0);
  EXPECT_GT(e->split().measuring, 0);
}

TEST_F(DeviceEvaluatorTest, SeveralLaunchesAreOneRepetition) {
  Candidate candidate = row_sums("two", "partial[r] = a;");
  Program& program = candidate.program;
  program.text.replace(program.text.find("__global float* out"), 19,
                       "__global float* partial, __global float* out");
  program.text +=
      "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
      "void second(__global const float* partial, __global float* out) {\n"
      "  out[get_global_id(0)] = partial[get_global_id(0)];\n}\n";
  program.buffers.push_back({"partials", BufferKind::kScratch, DType::kF32, kRows});
  program.launches[0].arguments = {0, 2, 1};
  program.launches.push_back({"second", {1, 1, 1}, {64, 1, 1}, 0, {2, 1}});
  const Outcome outcome = evaluate(*evaluator(), {candidate})[0];
  ASSERT_EQ(outcome.kind, OutcomeKind::kTimed) << outcome.detail;
  EXPECT_LT(outcome.kernel_seconds, outcome.median_seconds);
}

TEST_F(DeviceEvaluatorTest, CompilerErrorsShowTheFatalLine) {
  const Outcome outcome = evaluate(*evaluator(), {row_sums("a", "out[r] = not_a_name;")})[0];
  EXPECT_EQ(outcome.kind, OutcomeKind::kCompileFailed);
  EXPECT_THAT(outcome.detail, HasSubstr("not_a_name"));
  EXPECT_THAT(outcome.detail, HasSubstr("whole log: "));
}

TEST_F(DeviceEvaluatorTest, WrongResultsAreNeverTimed) {
  const Outcome outcome = evaluate(*evaluator(), {row_sums("a", "out[r] = a * 1.01f + 1;")})[0];
  EXPECT_EQ(outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_TRUE(outcome.seconds.empty());
  EXPECT_THAT(outcome.detail, HasSubstr("out["));
}

// Case c2: the candidate behind a good one must not profit from what that one left in the output.
TEST_F(DeviceEvaluatorTest, WhatIsNotWrittenIsWrong) {
  const auto outcomes =
      evaluate(*evaluator(),
               {row_sums("good"), row_sums("bad", "if (r + 1 < 64) out[r] = a;"), row_sums("nothing", "")});
  EXPECT_EQ(outcomes.at(0).kind, OutcomeKind::kTimed) << outcomes.at(0).detail;
  EXPECT_EQ(outcomes.at(1).kind, OutcomeKind::kWrongResult);
  EXPECT_EQ(outcomes.at(2).kind, OutcomeKind::kWrongResult);
}

// Case c12.
TEST_F(DeviceEvaluatorTest, WritingBehindTheOutputIsWrong) {
  const Outcome outcome = evaluate(*evaluator(), {row_sums("a", "out[r] = a; if (r == 63) out[64] = 1;")})[0];
  EXPECT_EQ(outcome.kind, OutcomeKind::kWrongResult);
  EXPECT_THAT(outcome.detail, HasSubstr("wrote behind buffer 'out': guard byte"));
}

TEST_F(DeviceEvaluatorTest, WritingToTheInputHurtsOnlyItself) {
  const auto outcomes =
      evaluate(*evaluator(), {row_sums("a", "out[r] = a; ((__global float*)x)[r] = 7;"), row_sums("good")});
  EXPECT_EQ(outcomes.at(0).kind, OutcomeKind::kCrashed);
  EXPECT_EQ(outcomes.at(1).kind, OutcomeKind::kTimed) << outcomes.at(1).detail;
}

TEST_F(DeviceEvaluatorTest, ImpossibleLaunchesAreRejectedWithNumbers) {
  Candidate wide = row_sums("a");
  wide.program.launches[0].block = {1 << 20, 1, 1};
  Candidate greedy = row_sums("b");
  greedy.program.launches[0].shared_bytes = std::int64_t{1} << 40;
  Candidate huge = row_sums("c");
  huge.program.buffers.push_back({"partials", BufferKind::kScratch, DType::kF64, std::int64_t{1} << 40});
  const auto outcomes = evaluate(*evaluator(), {wide, greedy, huge});
  for (const auto& [index, outcome] : outcomes) EXPECT_EQ(outcome.kind, OutcomeKind::kRejected) << index;
  EXPECT_THAT(outcomes.at(0).detail, HasSubstr("1048576 threads, device allows"));
  EXPECT_THAT(outcomes.at(1).detail, HasSubstr("shared memory, device allows"));
  EXPECT_THAT(outcomes.at(2).detail, HasSubstr("'partials'"));
}

TEST_F(DeviceEvaluatorTest, RacingDropsTheSlow) {
  const auto e = evaluator();
  const Candidate fast = row_sums("fast");
  e->set_best(evaluate(*e, {fast})[0].median_seconds);
  const std::string loop =
      "for (int k = 0; k < 201; k++) for (int i = 0; i < 1024; i++) a += x[r * 1024 + (i ^ k)] * (k % 2 ? -1 "
      ": 1);";
  const Outcome slow = evaluate(*e, {row_sums("slow", "out[r] = a;", loop)})[0];
  ASSERT_EQ(slow.kind, OutcomeKind::kTimed) << slow.detail;
  EXPECT_EQ(slow.seconds.size(), 1u);
}

TEST_F(DeviceEvaluatorTest, StartingComesBeforeEachFirstLaunch) {
  const auto e = evaluator();
  std::vector<std::string> calls;
  Evaluator::Callbacks callbacks;
  callbacks.starting = [&](std::size_t i) { calls.push_back("starting " + std::to_string(i)); };
  callbacks.done = [&](std::size_t i, const Outcome&) { calls.push_back("done " + std::to_string(i)); };
  const std::vector<Candidate> batch{row_sums("a"), row_sums("b", "out[r] = nonsense;"), row_sums("c")};
  e->evaluate(batch, callbacks);
  EXPECT_THAT(calls, testing::UnorderedElementsAre("starting 0", "done 0", "done 1", "starting 2", "done 2"));
  const auto at = [&](const char* call) { return std::find(calls.begin(), calls.end(), call); };
  EXPECT_LT(at("starting 0"), at("done 0"));
  EXPECT_LT(at("starting 2"), at("done 2"));
}

TEST_F(DeviceEvaluatorTest, StopEndsAfterTheRunningTrial) {
  const auto e = evaluator();
  int done = 0;
  Evaluator::Callbacks callbacks;
  callbacks.done = [&](std::size_t, const Outcome& outcome) { done += outcome.timed(); };
  callbacks.stop = [&] { return done > 0; };
  const std::vector<Candidate> batch{row_sums("a"), row_sums("b"), row_sums("c")};
  e->evaluate(batch, callbacks);
  EXPECT_EQ(done, 1);
  callbacks.stop = [] { return true; };
  e->evaluate(batch, callbacks);
  EXPECT_EQ(done, 1);
  EXPECT_EQ(evaluate(*e, batch).size(), 3u);
}

TEST_F(DeviceEvaluatorTest, CompiledProgramsAreNotCompiledAgain) {
  const auto e = evaluator();
  EXPECT_GT(evaluate(*e, {row_sums("a")})[0].compile_seconds, 0);
  EXPECT_EQ(evaluate(*e, {row_sums("a")})[0].compile_seconds, 0);
}

TEST_F(DeviceEvaluatorTest, TooLargeATaskSaysNeededAndAllowed) {
  task_ = make_task(operator_from_short_form({"sum", "1048576x1048576", "1", "f32", "", "", false}),
                    device_.target);
  EXPECT_THAT(message_of([&] { evaluator(); }), HasSubstr("needs a buffer of 4.40 TB, device 'cpu' allows"));
}

TEST_F(DeviceEvaluatorTest, RunOnceWantsTheWholeInput) {
  EXPECT_THAT(message_of([&] {
                run_once(
                    device_, task_, row_sums("a"), [] { return std::vector<unsigned char>(16); }, options_);
              }),
              HasSubstr("input has 16 bytes"));
}

TEST_F(DeviceEvaluatorTest, RunOnceAsksForNoInputThatNothingHolds) {
  task_ = make_task(operator_from_short_form({"sum", "1048576x1048576", "1", "f32", "", "", false}),
                    device_.target);
  const auto never = []() -> std::vector<unsigned char> { throw InternalError("asked for the input"); };
  EXPECT_THAT(message_of([&] { run_once(device_, task_, row_sums("a"), never, options_); }),
              HasSubstr("needs a buffer of 4.40 TB"));
}

TEST_F(DeviceEvaluatorTest, RunOnceGivesTheOutput) {
  std::vector<float> input(kRows * kColumns, 0.5f);
  std::vector<unsigned char> bytes(input.size() * sizeof(float));
  std::memcpy(bytes.data(), input.data(), bytes.size());
  const RunResult result = run_once(
      device_, task_, row_sums("a"), [&] { return bytes; }, options_);
  ASSERT_EQ(result.outcome.kind, OutcomeKind::kTimed) << result.outcome.detail;
  ASSERT_EQ(result.output.size(), kRows * sizeof(float));
  float first = 0;
  std::memcpy(&first, result.output.data(), sizeof first);
  EXPECT_EQ(first, 512.0f);
}

}  // namespace
}  // namespace redtune
