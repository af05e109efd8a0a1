#include "space/schedule.h"

#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace redtune {
namespace {

Schedule filled() {
  Schedule s;
  s.block = BlockCombine::kTree;
  s.grid = GridCombine::kSecondKernel;
  s.rx = 256;
  s.vec = 4;
  s.acc = 2;
  s.items = 4;
  s.split = 8;
  s.walk = Walk::kStrided;
  return s;
}

TEST(Schedule, PrintsEveryFieldInAFixedOrder) {
  EXPECT_EQ(
      filled().text(),
      "block=tree grid=second_kernel rx=256 px=1 vec=4 acc=2 items=4 rows=1 serial=1 split=8 walk=strided");
}

TEST(Schedule, PrintsPrefetchOnlyWhenItIsOn) {
  Schedule s;
  EXPECT_EQ(s.text().find("prefetch"), std::string::npos);
  s.prefetch = 4096;
  EXPECT_TRUE(s.text().ends_with(" walk=chunked prefetch=4096"));
  EXPECT_EQ(parse_schedule(s.text()), s);
}

TEST(Schedule, PrintsCopiesOnlyWhenThereAreSome) {
  Schedule s = filled();
  EXPECT_EQ(s.text().find("copies"), std::string::npos);
  s.grid = GridCombine::kPrivateAtomic;
  s.copies = 8;
  EXPECT_TRUE(s.text().ends_with(" walk=strided copies=8"));
  EXPECT_EQ(parse_schedule(s.text()), s);
}

TEST(Schedule, ReadsBackWhatItPrints) {
  EXPECT_EQ(parse_schedule(filled().text()), filled());
  EXPECT_EQ(parse_schedule(Schedule{}.text()), Schedule{});
}

TEST(Schedule, ReadsFieldsInAnyOrderAndFillsInMissingOnes) {
  Schedule expected;
  expected.grid = GridCombine::kAtomic;
  expected.rx = 32;
  EXPECT_EQ(parse_schedule(" rx=32,\tgrid=atomic "), expected);
  EXPECT_EQ(parse_schedule(""), Schedule{});
}

TEST(Schedule, NamesTheFieldThatItCannotRead) {
  const auto complaint = [](const char* text) { return message_of([&] { parse_schedule(text); }); };
  EXPECT_TRUE(
      complaint("block=tre").starts_with("schedule: unknown value of block 'tre'; did you mean 'tree'"));
  EXPECT_TRUE(complaint("split_=4").starts_with("schedule: unknown field 'split_'; did you mean 'split'"));
  EXPECT_EQ(complaint("rx=0"), "schedule: field 'rx' must be an integer from 1 to 2147483647, is '0'");
  EXPECT_EQ(complaint("rx=4x"), "schedule: field 'rx' must be an integer from 1 to 2147483647, is '4x'");
  EXPECT_EQ(complaint("rx=99999999999"),
            "schedule: field 'rx' must be an integer from 1 to 2147483647, is '99999999999'");
  EXPECT_EQ(complaint("prefetch=-1"),
            "schedule: field 'prefetch' must be an integer from 0 to 2147483647, is '-1'");
  EXPECT_EQ(complaint("rx=4 rx=8"), "schedule: field 'rx' stands twice");
  EXPECT_EQ(complaint("tree"), "schedule: 'tree' is not of the form field=value (as rx=64)");
}

TEST(Schedule, JoinsTheNamesOfItsCombines) {
  EXPECT_EQ(Schedule{}.mapping(), "none");
  EXPECT_EQ(filled().mapping(), "tree+second_kernel");
  EXPECT_EQ(parse_schedule("grid=atomic").mapping(), "none+atomic");
  EXPECT_EQ(parse_schedule("block=lane").mapping(), "lane");
}

TEST(Schedule, ClassFollowsWhereTheAtomicsAre) {
  const auto class_of = [](const char* text) { return name(parse_schedule(text).mapping_class()); };
  EXPECT_EQ(class_of("block=shuffle"), "tree");
  EXPECT_EQ(class_of("block=tree grid=second_kernel"), "tree");
  EXPECT_EQ(class_of("block=tree grid=last_block"), "tree");
  EXPECT_EQ(class_of("block=none grid=atomic"), "atomic");
  EXPECT_EQ(class_of("block=warp grid=atomic"), "atomic");
  EXPECT_EQ(class_of("block=lane grid=atomic"), "hybrid");
  EXPECT_EQ(class_of("block=tree grid=atomic"), "hybrid");
  EXPECT_EQ(class_of("block=shuffle grid=atomic"), "hybrid");
  EXPECT_EQ(class_of("block=shared_atomic"), "atomic");
  EXPECT_EQ(class_of("block=shared_atomic grid=atomic"), "hybrid");
  EXPECT_EQ(class_of("block=tree grid=private_atomic"), "hybrid");
  EXPECT_EQ(class_of("block=redux grid=last_block"), "tree");
  EXPECT_EQ(class_of("block=tree grid=cluster"), "tree");
}

}  // namespace
}  // namespace redtune
