#include "support/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/error.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

std::string complaint(std::string_view text) {
  return message_of([&] { parse_json(text, "a.json"); });
}

TEST(ParseJson, GivesTheSameValueAsTheLibrary) {
  const std::string text = R"({"b": [1, -2, 3.5e3, true, null, "x\u00e9", {}], "a": {"c": {"d": [[], [0]]}}, "z": -0.0})";
  const Json value = parse_json(text, "a.json");
  EXPECT_EQ(value, Json::parse(text));
  EXPECT_EQ(value.begin().key(), "b") << "members keep the order of the file";
  EXPECT_EQ(parse_json("3", "x"), 3);
}

TEST(ParseJson, KeepsIntegersExactTo64Bits) {
  const Json value = parse_json("[9223372036854775807, -9223372036854775808, 18446744073709551615]", "a.json");
  EXPECT_EQ(value[0].get<std::int64_t>(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(value[1].get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(value[2].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseJson, NamesOriginLineAndColumnOfASyntaxError) {
  EXPECT_TRUE(complaint("{\n  \"a\": 1,,\n}").starts_with("a.json: line 2, column 10: syntax error"))
      << complaint("{\n  \"a\": 1,,\n}");
  EXPECT_TRUE(complaint("").starts_with("a.json: line 1, column 1: ")) << complaint("");
  EXPECT_TRUE(complaint("{} x").starts_with("a.json: line 1, column 4: ")) << complaint("{} x");
  EXPECT_TRUE(complaint("[1e999]").find("number overflow") != std::string::npos) << complaint("[1e999]");
  EXPECT_NE(complaint("[\"\xff\"]"), "no error");
}

TEST(ParseJson, RefusesWhatIsNotJson) {
  for (std::string_view text : {"// c\n1", "[1,]", "{'a': 1}", "[01]", "{\"a\": 1", "nul", "[.5]", "[+1]"}) {
    EXPECT_TRUE(complaint(text).starts_with("a.json: line 1, column ")) << text << " gave " << complaint(text);
  }
}

TEST(ParseJson, TellsHowToWriteNonFiniteNumbers) {
  for (std::string_view text : {"[NaN]", "[Infinity]", "[-Infinity]", "{\"a\": nan}", "[inf]", "[-inf]"}) {
    EXPECT_NE(complaint(text).find(R"(write non-finite numbers as "nan", "inf", "-inf")"), std::string::npos)
        << text << " gave " << complaint(text);
  }
}

TEST(ParseJson, RefusesADuplicateKeyAtAnyDepthAndNamesIt) {
  EXPECT_EQ(complaint("{\"a\": 1, \"a\": 2}"), "a.json: line 1, column 12: duplicate key \"a\"");
  EXPECT_EQ(complaint("{\"x\": [{\"k\": {}},\n{\"k\": 1, \"l\": {\"k\": 1}, \"k\": 0}]}"),
            "a.json: line 2, column 27: duplicate key \"k\"");
  EXPECT_EQ(complaint("[{\"k\": 1}, {\"k\": 1}]"), "no error");
  EXPECT_NE(complaint("{\"\": 1, \"\": 2}"), "no error");
}

TEST(ParseJson, RefusesEndlessNesting) {
  EXPECT_NE(complaint(std::string(100000, '[')).find("nested deeper than"), std::string::npos);
}

TEST(JsonObject, GetsMembersOfEachKind) {
  const Json value = parse_json(R"({"s": "x", "i": -7, "n": 2, "f": 1.5, "b": true, "l": [1, 2], "o": {"k": 3}})", "a");
  JsonObject object(value, "a.json");
  EXPECT_EQ(object.get_string("s"), "x");
  EXPECT_EQ(object.get_int("i"), -7);
  EXPECT_EQ(object.get_number("n"), 2.0);
  EXPECT_EQ(object.get_number("f"), 1.5);
  EXPECT_TRUE(object.get_bool("b", false));
  EXPECT_EQ(object.get_ints("l"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(object.get_object("o").get_int("k"), 3);
  EXPECT_NO_THROW(object.finish());
}

TEST(JsonObject, FallsBackOnlyWhenTheMemberIsMissing) {
  const Json value = parse_json(R"({"n": "three"})", "a");
  JsonObject object(value, "a.json");
  EXPECT_EQ(object.get_int("m", 5), 5);
  EXPECT_EQ(object.get_string("t", "u"), "u");
  EXPECT_EQ(object.get_number("d", 0.5), 0.5);
  EXPECT_FALSE(object.has("q"));
  EXPECT_EQ(message_of([&] { object.get_int("n", 5); }),
            "a.json: field 'n' must be an integer, is \"three\"");
}

TEST(JsonObject, NamesTheWholePathOfAWrongMember) {
  const Json value = parse_json(R"({"a": {"b": [1, "x"], "c": 2.5, "big": 18446744073709551615}})", "t");
  JsonObject object = JsonObject(value, "t.json").get_object("a");
  EXPECT_EQ(message_of([&] { object.get_ints("b"); }), "t.json: field 'a.b[1]' must be an integer, is \"x\"");
  EXPECT_EQ(message_of([&] { object.get_int("c"); }), "t.json: field 'a.c' must be an integer, is 2.5");
  EXPECT_NE(message_of([&] { object.get_int("big"); }), "no error");
  EXPECT_EQ(message_of([&] { object.get_string("d"); }), "t.json: field 'a.d' is missing");
  EXPECT_EQ(message_of([&] { object.get_object("c"); }), "t.json: field 'a.c' must be an object, is 2.5");
  EXPECT_EQ(message_of([&] { JsonObject(value["a"]["b"], "t.json"); }), "t.json: must be an object, is [1,\"x\"]");
  EXPECT_EQ(message_of([&] { object.fail("c", "is odd"); }), "t.json: field 'a.c' is odd");
}

TEST(JsonObject, RefusesMembersThatNobodyAskedFor) {
  const Json value = parse_json(R"({"shape": [1], "dtpye": "f32"})", "t");
  JsonObject object(value, "t.json");
  object.get_ints("shape");
  object.get_string("dtype", "f32");
  EXPECT_EQ(message_of([&] { object.finish(); }),
            "t.json: unknown field 'dtpye'; did you mean 'dtype'? known: dtype, shape");
}

TEST(JsonNumber, RoundTripsEveryDouble) {
  for (double value : {0.0, -0.0, 1.5, 5e-324, 1.7976931348623157e308, HUGE_VAL, -HUGE_VAL}) {
    const Json text = parse_json(json_number(value).dump(), "t");
    ASSERT_TRUE(number_of_json(text).has_value());
    EXPECT_EQ(*number_of_json(text), value);
  }
  EXPECT_TRUE(std::isnan(number_of_json(json_number(std::nan(""))).value()));
  EXPECT_FALSE(number_of_json("Infinity").has_value());
}

}  // namespace
}  // namespace redtune
