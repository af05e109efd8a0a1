// Every fault of measure/fault.h ends as the right outcome, and the run goes on.
#include "measure/fault.h"
#include "tests/measure/device_fixture.h"

namespace redtune {
namespace {

using testing::HasSubstr;

struct FaultCase {
  const char* fault;
  OutcomeKind kind;
  const char* detail;
};

void PrintTo(const FaultCase& row, std::ostream* out) { *out << row.fault; }

class WorkerFaults : public DeviceTest, public testing::WithParamInterface<FaultCase> {};

TEST_P(WorkerFaults, OnlyItsCandidateSuffers) {
  options_.worker_fault = std::string(GetParam().fault) + "@2";
  options_.compile_deadline_seconds = GetParam().detail == std::string("compiling took longer") ? 3 : 30;
  const auto outcomes = evaluate(*evaluator(), {row_sums("a"), row_sums("b"), row_sums("c")});
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_EQ(outcomes.at(0).kind, OutcomeKind::kTimed) << outcomes.at(0).detail;
  EXPECT_EQ(name(outcomes.at(1).kind), name(GetParam().kind)) << outcomes.at(1).detail;
  EXPECT_THAT(outcomes.at(1).detail, HasSubstr(GetParam().detail));
  EXPECT_EQ(outcomes.at(2).kind, OutcomeKind::kTimed) << outcomes.at(2).detail;
}

INSTANTIATE_TEST_SUITE_P(
    All, WorkerFaults,
    testing::Values(FaultCase{"compile_hang", OutcomeKind::kTimedOut, "compiling took longer"},
                    FaultCase{"compile_crash", OutcomeKind::kCompileFailed, "signal 6 (Aborted)"},
                    FaultCase{"hang", OutcomeKind::kTimedOut, "the first launch did not end within 1.00 s"},
                    FaultCase{"timing_hang", OutcomeKind::kTimedOut, "no answer within"},
                    FaultCase{"crash", OutcomeKind::kCrashed, "signal 11 (Segmentation fault)"},
                    FaultCase{"early_return", OutcomeKind::kWrongResult, "out["},
                    FaultCase{"skip_last", OutcomeKind::kWrongResult, "out[63]"},
                    FaultCase{"nan", OutcomeKind::kWrongResult, "out["},
                    FaultCase{"out_of_bounds", OutcomeKind::kWrongResult,
                              "wrote behind buffer 'out': guard byte 0"},
                    FaultCase{"zero_time", OutcomeKind::kUnmeasured, "three tries: zero times"},
                    FaultCase{"reversed_time", OutcomeKind::kUnmeasured, "three tries: end before start"},
                    FaultCase{"zero_time_once", OutcomeKind::kTimed, ""}),
    [](const auto& row) { return std::string(row.param.fault); });

}  // namespace
}  // namespace redtune
