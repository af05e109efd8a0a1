// Workers that hang, die or are killed; and that none is left behind.
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/measure/device_fixture.h"
#include "tests/support/worker_list.h"

namespace redtune {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class WorkerLoss : public DeviceTest {};

TEST_F(WorkerLoss, NoneIsLeftBehind) {
  {
    const auto e = evaluator();
    evaluate(*e, {row_sums("a"), row_sums("b")});
    EXPECT_GE(workers().size(), 2u);
  }
  EXPECT_TRUE(workers().empty());
}

TEST_F(WorkerLoss, AnEndlessKernelIsGoneWithinTwiceItsLimit) {
  const auto e = evaluator();
  evaluate(*e, {row_sums("a")});
  const std::string endless = "while (((volatile __global const float*)x)[r] != 12345.0f) a += 1;";
  const Candidate endless_candidate = row_sums("e", "out[r] = a;", endless);
  Clock::time_point started;
  double took = 0;
  Outcome outcome;
  Evaluator::Callbacks callbacks;
  callbacks.starting = [&](std::size_t) { started = Clock::now(); };
  callbacks.done = [&](std::size_t, const Outcome& result) {
    took = seconds_since(started);
    outcome = result;
  };
  e->evaluate({&endless_candidate, 1}, callbacks);
  EXPECT_EQ(outcome.kind, OutcomeKind::kTimedOut) << outcome.detail;
  EXPECT_LT(took, 2 * options_.deadline_floor_seconds);
  EXPECT_EQ(evaluate(*e, {row_sums("b")})[0].kind, OutcomeKind::kTimed);
}

// Case f1.
TEST_F(WorkerLoss, ANullPointerCostsOneCandidate) {
  const auto outcomes =
      evaluate(*evaluator(), {row_sums("a"), row_sums("b", "*(__global volatile int*)(ulong)(r / 64) = 1;"),
                              row_sums("c"), row_sums("d")});
  EXPECT_EQ(outcomes.at(1).kind, OutcomeKind::kCrashed) << outcomes.at(1).detail;
  EXPECT_THAT(outcomes.at(1).detail, HasSubstr("the worker ended by"));
  for (std::size_t i : {0, 2, 3})
    EXPECT_EQ(outcomes.at(i).kind, OutcomeKind::kTimed) << outcomes.at(i).detail;
}

TEST_F(WorkerLoss, KilledFromOutsideItStartsAgain) {
  const auto e = evaluator();
  evaluate(*e, {row_sums("a")});
  const std::string slow =
      "for (int k = 0; k < 20000; k++) for (int i = 0; i < 1024; i++) a += x[r * 1024 + (i ^ k)];";
  std::thread killer;
  Outcome outcome;
  Evaluator::Callbacks callbacks;
  callbacks.starting = [&](std::size_t) {
    killer = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      for (pid_t pid : workers()) ::kill(pid, SIGKILL);
    });
  };
  callbacks.done = [&](std::size_t, const Outcome& result) { outcome = result; };
  const Candidate candidate = row_sums("k", "out[r] = a;", slow);
  e->evaluate({&candidate, 1}, callbacks);
  ASSERT_TRUE(killer.joinable());
  killer.join();
  EXPECT_EQ(outcome.kind, OutcomeKind::kCrashed) << outcome.detail;
  EXPECT_THAT(outcome.detail, HasSubstr("signal 9 (Killed)"));
  EXPECT_EQ(evaluate(*e, {row_sums("b")})[0].kind, OutcomeKind::kTimed);
}

TEST_F(WorkerLoss, IdleWorkersKilledFromOutsideCostAtMostOneCandidateEach) {
  const auto e = evaluator();
  evaluate(*e, {row_sums("a"), row_sums("b")});
  for (pid_t pid : workers()) ::kill(pid, SIGKILL);
  evaluate(*e, {row_sums("c"), row_sums("d")});
  EXPECT_EQ(evaluate(*e, {row_sums("e")})[0].kind, OutcomeKind::kTimed);
}

}  // namespace
}  // namespace redtune
