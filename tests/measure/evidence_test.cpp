#include "measure/evidence.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

class EvidenceTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1), 0); }
  void TearDown() override { ::unsetenv("XDG_CACHE_HOME"); }

  std::ptrdiff_t runs() const {
    const std::filesystem::directory_iterator all(cache_.path() + "/redtune/evidence");
    return std::distance(begin(all), end(all));
  }

  TemporaryDirectory cache_;
};

TEST_F(EvidenceTest, OfLivingRunsStaysHoweverManyFollow) {
  Evidence old;
  ASSERT_NE(old.keep("first", "text"), "");
  for (int i = 0; i < 30; ++i) {
    Evidence later;
    later.keep("log", "text");
  }
  EXPECT_TRUE(std::filesystem::exists(old.path("first")));
  EXPECT_NE(old.keep("second", "text"), "");
}

TEST_F(EvidenceTest, OfEndedRunsIsKeptForTheNewest) {
  for (int i = 0; i < 30; ++i) {
    Evidence run;
    run.keep("log", "text");
  }
  EXPECT_EQ(runs(), 20);
}

}  // namespace
}  // namespace redtune
