// What Oclgrind says, cut into reports.
#include "measure/watch_log.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

constexpr const char* kInvalid =
    "Invalid read of size 4 at global memory address 0x1000000000040\n"
    "\tKernel: rt_main_3\n"
    "\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n"
    "  v = RT_LOAD(f32, f32, 1, x + 16)\n";
constexpr const char* kTicketRace =
    "Write-read data race at global memory address 0x2000000000000\n"
    "\tKernel: rt_main_1\n"
    "  combine RT_PEEK(f32, part + i)\n";

TEST(WatchLog, OneReportPerMessage) {
  const std::vector<std::string> reports = oclgrind_reports(std::string("\n") + kInvalid + "\n" + kInvalid);
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_NE(reports[0].find("rt_main_3"), std::string::npos);
}

TEST(WatchLog, OrderOfTicketsIsExcusedOtherRacesAreNot) {
  EXPECT_TRUE(oclgrind_reports(kTicketRace).empty());
  // Partial results of several members are read by routines of their own.
  EXPECT_TRUE(oclgrind_reports("Write-read data race at 0x1\n\trt_peek_argmax_f32(part + i)\n").empty());
  EXPECT_EQ(oclgrind_reports("Write-write data race at local memory address 0x1\n\tKernel: rt_main\n").size(),
            1u);
  // Not a race: a bad access to the partials counts.
  EXPECT_EQ(oclgrind_reports("Invalid read of size 4\n\tRT_PEEK(f32, part + i)\n").size(), 1u);
}

TEST(WatchLog, HalvesOfAVectorAreExcusedInSecondKernelsOnly) {
  const std::string depends = "Controlflow depends on uninitialized value\n\tKernel: ";
  EXPECT_TRUE(oclgrind_reports(depends + "rt_final_2\n  RT_STORE1(f32, f32, y, RT_FOLD(sum, f32, 16, a0_0));\n").empty());
  EXPECT_EQ(oclgrind_reports(depends + "rt_main_2\n  RT_STORE1(f32, f32, y, RT_FOLD(sum, f32, 16, a0_0));\n").size(), 1u);
  EXPECT_EQ(oclgrind_reports(depends + "rt_final\n  if (rt_last[0]) {\n").size(), 1u);
}

TEST(WatchLog, KnowsTheKernel) {
  EXPECT_EQ(kernel_of(kInvalid), "rt_main_3");
  EXPECT_EQ(kernel_of("Oclgrind says nothing\n"), "");
}

TEST(WatchLog, CountsAreNoReport) {
  EXPECT_TRUE(oclgrind_reports("\nOclgrind: 1000 errors generated - suppressing further errors\n").empty());
}

TEST(WatchLog, FollowsAFileThatGrows) {
  const TemporaryDirectory directory;
  WatchLog log(directory.file("log"));
  EXPECT_TRUE(log.take().empty());
  std::ofstream(log.path(), std::ios::app) << kInvalid;
  EXPECT_EQ(log.take().size(), 1u);
  EXPECT_TRUE(log.take().empty());
  std::ofstream(log.path(), std::ios::app) << kInvalid << kInvalid;
  EXPECT_EQ(log.take().size(), 2u);
  std::ofstream(log.path()) << kInvalid;
  EXPECT_EQ(log.take().size(), 1u) << "a log that begins anew";
}

}  // namespace
}  // namespace redtune
