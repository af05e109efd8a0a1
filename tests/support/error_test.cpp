#include "support/error.h"

#include <gtest/gtest.h>

namespace redtune {
namespace {

TEST(NearestWord, ForgivesSlipsSwapsAndCase) {
  const std::vector<std::string> known{"sum", "prod", "max", "logsumexp"};
  EXPECT_EQ(nearest_word("smu", known), "sum");
  EXPECT_EQ(nearest_word("SUM", known), "sum");
  EXPECT_EQ(nearest_word("prd", known), "prod");
  EXPECT_EQ(nearest_word("logsumexpp", known), "logsumexp");
}

TEST(NearestWord, IsEmptyWhenMoreThanHalfDiffers) {
  EXPECT_EQ(nearest_word("average", {"sum", "prod"}), "");
  EXPECT_EQ(nearest_word("x", {"y"}), "");
  EXPECT_EQ(nearest_word("", {"sum"}), "");
}

TEST(UnknownWord, NamesKindWordNearestAndAllKnown) {
  EXPECT_EQ(unknown_word_message("operator", "summ", {"sum", "max"}),
            "unknown operator 'summ'; did you mean 'sum'? known: sum, max");
  EXPECT_EQ(unknown_word_message("operator", "zzzz", {"sum", "max"}), "unknown operator 'zzzz'; known: sum, max");
}

TEST(Check, PassesWhenTrueAndNamesThePlaceWhenNot) {
  EXPECT_NO_THROW(RT_CHECK(1 + 1 == 2, "sums"));
  try {
    RT_CHECK(false, "two bands");
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("tests/support/error_test.cpp:"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("two bands"), std::string::npos);
  }
}

TEST(Errors, ALostDeviceIsAMissingDevice) { EXPECT_THROW(throw DeviceLost("gone"), NoDevice); }

}  // namespace
}  // namespace redtune
