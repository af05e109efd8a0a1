// How each fault of the fake CUDA device has to end.
#pragma once

#include <array>

#include "logs/outcome.h"
#include "tests/fake_cuda/fake_plan.h"

namespace redtune {

struct FaultEnd {
  FakeFault fault;
  OutcomeKind kind;
  const char* detail;
};

inline constexpr std::array kFaultEnds{
    FaultEnd{FakeFault::kEarlyReturn, OutcomeKind::kWrongResult, "out["},
    FaultEnd{FakeFault::kSkipLast, OutcomeKind::kWrongResult, "out[63]"},
    FaultEnd{FakeFault::kOutOfBounds, OutcomeKind::kWrongResult, "wrote behind buffer"},
    FaultEnd{FakeFault::kEndless, OutcomeKind::kTimedOut, "the first launch did not end within"},
    FaultEnd{FakeFault::kEndlessLater, OutcomeKind::kTimedOut, "no answer within"},
    FaultEnd{FakeFault::kNullWrite, OutcomeKind::kCrashed, "run: CUDA_ERROR_ILLEGAL_ADDRESS (700)"},
    FaultEnd{FakeFault::kNan, OutcomeKind::kWrongResult, "out["},
    FaultEnd{FakeFault::kOutOfMemory, OutcomeKind::kLaunchFailed, "free are "},
    FaultEnd{FakeFault::kOutOfResources, OutcomeKind::kLaunchFailed,
             "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"},
    FaultEnd{FakeFault::kSmallBlock, OutcomeKind::kLaunchFailed, "with its 255 registers possible are 1"},
    FaultEnd{FakeFault::kBadImage, OutcomeKind::kLaunchFailed, "NVRTC 99.9 compiled for sm_90 (driver: CUDA 99.9)"},
    FaultEnd{FakeFault::kDroppedRecord, OutcomeKind::kUnmeasured, "three tries: 0 times for "},
    FaultEnd{FakeFault::kZeroRecord, OutcomeKind::kUnmeasured, "three tries: zero times"},
    FaultEnd{FakeFault::kReversedRecord, OutcomeKind::kUnmeasured, "three tries: end before start"},
    FaultEnd{FakeFault::kCompileError, OutcomeKind::kCompileFailed, "does not like this kernel"},
    FaultEnd{FakeFault::kCompileCrash, OutcomeKind::kCompileFailed, "signal 6 (Aborted)"},
    FaultEnd{FakeFault::kDriverCrash, OutcomeKind::kCrashed, "signal 11 (Segmentation fault)"},
};

static_assert(kFaultEnds.size() + 1 == kFakeFaultNames.size(), "every fault has an end");

}  // namespace redtune
