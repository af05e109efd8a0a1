#include "measure/build_log.h"

#include <gtest/gtest.h>

namespace redtune {
namespace {

TEST(BuildLog, EmptyLogHasNoLine) {
  EXPECT_EQ(fatal_line(""), "");
  EXPECT_EQ(fatal_line("\n \n"), "");
}

TEST(BuildLog, FindsTheErrorBehindTheWarnings) {
  std::string log;
  for (int i = 0; i < 200; ++i) log += "warning: unused variable 'a" + std::to_string(i) + "'\n";
  log += "error: use of undeclared identifier 'INFINITY'\nnote: here\n";
  EXPECT_EQ(fatal_line(log), "error: use of undeclared identifier 'INFINITY'");
}

TEST(BuildLog, WithoutAnErrorTheFirstLineSpeaks) {
  EXPECT_EQ(fatal_line("\n  the backend gave up \nmore\n"), "the backend gave up");
}

TEST(BuildLog, CutsDirectoriesOfTemporaryFiles) {
  EXPECT_EQ(fatal_line("error: /home/someone/.cache/x/tempfile_1.cl:12:3: expected ';'\n"),
            "error: tempfile_1.cl:12:3: expected ';'");
}

}  // namespace
}  // namespace redtune
