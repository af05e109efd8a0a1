#include "measure/fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace redtune {
namespace {

TEST(Fault, NamesKindAndCandidate) {
  const Fault fault = parse_fault("hang@3");
  EXPECT_TRUE(fault.hits(FaultKind::kHang, 3));
  EXPECT_FALSE(fault.hits(FaultKind::kHang, 4));
  EXPECT_FALSE(fault.hits(FaultKind::kCrash, 3));
}

TEST(Fault, WithoutANumberHitsEveryCandidate) {
  EXPECT_TRUE(parse_fault("nan").hits(FaultKind::kNan, 17));
  EXPECT_TRUE(parse_fault("nan@*").hits(FaultKind::kNan, 17));
}

TEST(Fault, EmptyTextIsNone) { EXPECT_FALSE(parse_fault("").hits(FaultKind::kHang, 1)); }

TEST(Fault, UnknownKindIsNamedWithTheNearest) {
  EXPECT_THAT(message_of([] { parse_fault("crush@1"); }), testing::HasSubstr("did you mean 'crash'?"));
  EXPECT_THAT(message_of([] { parse_fault("crash@x"); }), testing::HasSubstr("candidate's number"));
}

TEST(Fault, FalsifiesTimesOfItsCandidateOnly) {
  std::vector<LaunchTime> times{{10, 20}};
  falsify(parse_fault("zero_time@2"), 1, 0, times);
  EXPECT_EQ(times[0].end_nanoseconds, 20u);
  falsify(parse_fault("reversed_time@1"), 1, 0, times);
  EXPECT_EQ(times[0].start_nanoseconds, 20u);
  falsify(parse_fault("zero_time@1"), 1, 0, times);
  EXPECT_EQ(times[0].start_nanoseconds, 0u);
}

}  // namespace
}  // namespace redtune
