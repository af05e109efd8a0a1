#include "support/text.h"

#include <gtest/gtest.h>

#include "support/error.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

TEST(FormatSeconds, PicksTheUnitAfterRounding) {
  EXPECT_EQ(format_seconds(812e-9), "812 ns");
  EXPECT_EQ(format_seconds(14.3e-6), "14.3 us");
  EXPECT_EQ(format_seconds(2.31e-3), "2.31 ms");
  EXPECT_EQ(format_seconds(1.2), "1.20 s");
  EXPECT_EQ(format_seconds(0), "0 ns");
  EXPECT_EQ(format_seconds(999.7e-9), "1.00 us");
  EXPECT_EQ(format_seconds(999.7e-6), "1.00 ms");
  EXPECT_EQ(format_seconds(99.96e-6), "100 us");
  EXPECT_EQ(format_seconds(9.996e-6), "10.0 us");
  EXPECT_EQ(format_seconds(5400), "5400 s");
}

TEST(FormatBytes, InPowersOfTen) {
  EXPECT_EQ(format_bytes(65e6), "65.0 MB");
  EXPECT_EQ(format_bytes(std::int64_t{512}), "512 B");
  EXPECT_EQ(format_bytes(999.6), "1.00 kB");
  EXPECT_EQ(format_bytes(1.5e12), "1.50 TB");
}

TEST(FormatCount, GroupsByThree) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(18432), "18,432");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
  EXPECT_EQ(format_count(INT64_MIN), "-9,223,372,036,854,775,808");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a,,b,", ','), (std::vector<std::string>{"a", "", "b", ""}));
  EXPECT_EQ(split("", ','), (std::vector<std::string>{""}));
  EXPECT_EQ(join(split("1x2x3", 'x'), ", "), "1, 2, 3");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Trim, TakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(ParseCount, ReadsEveryForm) {
  EXPECT_EQ(parse_count("64", "--n"), 64);
  EXPECT_EQ(parse_count("2^24", "--n"), 1 << 24);
  EXPECT_EQ(parse_count("2^0", "--n"), 1);
  EXPECT_EQ(parse_count("16Mi", "--n"), 16 << 20);
  EXPECT_EQ(parse_count("4k", "--n"), 4000);
  EXPECT_EQ(parse_count("4K", "--n"), 4000);
  EXPECT_EQ(parse_count("3Gi", "--n"), 3ll << 30);
  EXPECT_EQ(parse_count("1^9000000000000000000", "--n"), 1);
}

TEST(ParseCount, RefusesTheRestAndNamesTheOption) {
  for (std::string_view text :
       {"", "0", "-3", "+3", "1.5", "x", "4kk", "4i", "2^", "2^-1", "2^3k", " 4", "4 ", "4X"}) {
    EXPECT_NE(message_of([&] { parse_count(text, "--n"); }), "no error") << text;
  }
  EXPECT_EQ(message_of([] { parse_count("ten", "--n"); }),
            "--n: 'ten' is not a positive count (as 64, 4k, 16Mi, 2^24)");
  EXPECT_EQ(message_of([] { parse_count("2^63", "--n"); }), "--n: '2^63' does not fit 64 bits");
  EXPECT_EQ(message_of([] { parse_count("9223372036854775807k", "--n"); }),
            "--n: '9223372036854775807k' does not fit 64 bits");
}

TEST(ParseDuration, ReadsEveryUnit) {
  EXPECT_DOUBLE_EQ(parse_duration("90", "--time"), 90);
  EXPECT_DOUBLE_EQ(parse_duration("90s", "--time"), 90);
  EXPECT_DOUBLE_EQ(parse_duration("15m", "--time"), 900);
  EXPECT_DOUBLE_EQ(parse_duration("1.5h", "--time"), 5400);
  EXPECT_DOUBLE_EQ(parse_duration("250ms", "--time"), 0.25);
  EXPECT_DOUBLE_EQ(parse_duration("0", "--time"), 0);
}

TEST(ParseDuration, RefusesTheRest) {
  for (std::string_view text : {"", "s", "-1s", "1d", "inf", "nan", "1 s", "1e400", "90sec"}) {
    EXPECT_NE(message_of([&] { parse_duration(text, "--time"); }), "no error") << text;
  }
}

TEST(TextTable, PadsColumnsAndAlignsNumbersRight) {
  TextTable table;
  table.row({"name", "time", "mapping"});
  table.row({"sum", "14.3 us", "tree"});
  table.row({"batch", "2 us", "-", "+9"});
  EXPECT_EQ(table.str(),
            "name   time     mapping\n"
            "sum    14.3 us  tree\n"
            "batch     2 us  -        +9\n");
  EXPECT_EQ(TextTable().str(), "");
}

TEST(TextTable, CountsLettersNotBytes) {
  TextTable table;
  table.row({"\xc3\xa9", "x"});
  table.row({"ab", "y"});
  EXPECT_EQ(table.str(), "\xc3\xa9   x\nab  y\n");
}

}  // namespace
}  // namespace redtune
