// Cases of shapes, layouts and indexing.
#include "space/operator.h"
#include "tests/device/cases.h"
#include "tests/support/message_of.h"

#include <gmock/gmock.h>

namespace redtune::cases {
namespace {

const std::vector<Row>& shape_rows() {
  static const std::vector<Row> table = {
    {"short axis with a transposed layout",
     R"({"op":"sum","shape":[2,3,4],"strides":[0,1,3],"axes":[1],"data":[0,1,2,3,4,5,6,7,8,9,10,11]})",
     nullptr,
     {3, 12, 21, 30, 3, 12, 21, 30}},
    {"broadcast axis",
     R"({"op":"sum","shape":[2,3],"strides":[0,1],"axes":[0],"data":[1,2,3]})",
     nullptr,
     {2, 4, 6}},
    {"rows off the vector boundary, f16",
     R"({"op":"sum","shape":[7,33],"axes":[1],"dtype":"f16"})",
     ones,
     {33}},
    {"rows off the vector boundary, bf16",
     R"({"op":"sum","shape":[7,33],"axes":[1],"dtype":"bf16"})",
     ones,
     {33}},
    {"rows off the vector boundary, i8",
     R"({"op":"sum","shape":[7,33],"axes":[1],"dtype":"i8"})",
     ones,
     {33}},
    {"storage off the vector boundary, f16",
     R"({"op":"sum","shape":[7,33],"offset":1,"axes":[1],"dtype":"f16"})",
     ones,
     {33}},
    {"storage off the vector boundary, i8",
     R"({"op":"sum","shape":[7,33],"offset":1,"axes":[1],"dtype":"i8"})",
     ones,
     {33}},
    {"length 1", R"({"op":"sum","shape":[1],"dtype":"i32"})", ones, {1}},
    {"length 31", R"({"op":"sum","shape":[31],"dtype":"i32"})", ones, {31}},
    {"length 33", R"({"op":"sum","shape":[33],"dtype":"i32"})", ones, {33}},
    {"length 49", R"({"op":"sum","shape":[49],"dtype":"i32"})", ones, {49}},
    {"length 1023", R"({"op":"sum","shape":[1023],"dtype":"i32"})", ones, {1023}},
    {"length 1025", R"({"op":"sum","shape":[1025],"dtype":"i32"})", ones, {1025}},
    {"length 4097", R"({"op":"sum","shape":[4097],"dtype":"i32"})", ones, {4097}},
    {"length 8193", R"({"op":"sum","shape":[8193],"dtype":"i32"})", ones, {8193}},
    {"extents that no tile divides", R"({"op":"sum","shape":[17,19,23],"dtype":"i32"})", ones, {7429}},
    {"every batch is reduced",
     R"({"op":"sum","shape":[2,3,2],"axes":[2],"data":[1,2,3,4,5,6,7,8,9,10,11,12]})",
     nullptr,
     {3, 7, 11, 15, 19, 23}},
    {"more than 32 batches", R"({"op":"sum","shape":[33,8,8,100],"axes":[3]})", ones, {100}},
    {"leading unit axis", R"({"op":"sum","shape":[1,12,9,9],"axes":[-1]})", ones, {9}},
    {"reduced axis of length 1",
     R"({"op":"sum","shape":[5,1],"axes":[1],"data":[1,2,3,4,5]})",
     nullptr,
     {1, 2, 3, 4, 5}},
    {"argmax over an axis of length 1", R"({"op":"argmax","shape":[64,1],"axes":[1]})", ones, {0}},
    {"argmax of one row", R"({"op":"argmax","shape":[1,3],"axes":[0],"data":[1,2,3]})", nullptr, {0}},
    {"rank 0, sum", R"({"op":"sum","shape":[],"data":[3.5]})", nullptr, {3.5}},
    {"rank 0, max", R"({"op":"max","shape":[],"axes":[-1],"data":[3.5]})", nullptr, {3.5}},
    {"rank 0, argmax", R"({"op":"argmax","shape":[],"data":[3.5]})", nullptr, {0}},
    {"rank 0, variance", R"({"op":"var","shape":[],"data":[3.5]})", nullptr, {0}},
    {"flat index over three axes",
     R"({"op":"argmax","shape":[3,3,2],"data":[0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0]})",
     nullptr,
     {10}},
    {"kept unit axes", R"({"op":"sum","shape":[64,64],"keepdims":true})", ones, {4096}},
    {"mean of nothing", R"({"op":"mean","shape":[0]})", ones, {kNan}},
    {"variance of nothing", R"({"op":"var","shape":[0]})", ones, {kNan}},
    {"storage off the vector boundary, bf16",
     R"({"op":"sum","shape":[7,33],"offset":1,"axes":[1],"dtype":"bf16"})",
     ones,
     {33}},
    {"four axes, the first reduced",
     R"({"op":"sum","shape":[4,8,16,32],"axes":[0],"dtype":"i64"})",
     index,
     {},
     [](std::int64_t i) { return 24576.0 + 4.0 * static_cast<double>(i); }},
    {"argmax over a long axis of length 1", R"({"op":"argmax","shape":[32768,1],"axes":[1]})", ones, {0}},
    {"argmax over the first axis",
     R"({"op":"argmax","shape":[64,1025],"axes":[0]})",
     [](std::int64_t i) { return i / 1025 == 32 ? 1.0 : 0.0; },
     {32}},
    {"rank 0, axes 0", R"({"op":"sum","shape":[],"axes":[0],"data":[3.5]})", nullptr, {3.5}},
    {"rank 0, no axis", R"({"op":"max","shape":[],"axes":[],"data":[3.5]})", nullptr, {3.5}},
    {"all axes by negative numbers", R"({"op":"sum","shape":[2,3],"axes":[0,-1],"data":[1,2,3,4,5,6]})", nullptr, {21}},
    {"kept unit axes, their shape", R"({"op":"sum","shape":[64,64],"axes":[0,1],"keepdims":true})", ones, {4096}, nullptr, {1, 1}},
    {"kept unit axes of argmax", R"({"op":"argmax","shape":[64,64],"axes":[0,1],"keepdims":true})", ones, {0}, nullptr, {1, 1}},
    {"kept unit axis between others",
     R"({"op":"sum","shape":[3,64,5],"axes":[1],"keepdims":true})", ones, {64}, nullptr, {3, 1, 5}},
    {"large: f32 sum past 2^24", R"({"op":"sum","shape":[33554432]})", ones, {33554432}},
    {"large: f32 sum past 2^24 by column",
     R"({"op":"sum","shape":[33554432,3],"axes":[0]})",
     ones,
     {33554432}},
    {"large: cube over its middle axis", R"({"op":"sum","shape":[256,256,256],"axes":[1]})", ones, {256}},
    {"large: offsets past 2^31",
     R"({"op":"sum","shape":[2,4],"strides":[3000000000,1],"axes":[1],"dtype":"i8"})",
     [](std::int64_t i) { return i < 4 ? 1.0 : 2.0; },
     {4, 8}},
    {"large: 2^31 elements", R"({"op":"sum","shape":[2147483648],"dtype":"i8"})", ones, {2147483648.0}},
    {"large: 3.2e9 elements",
     R"({"op":"sum","shape":[40000,400,200],"axes":[2],"dtype":"i8"})",
     ones,
     {200}},
    {"large: 16 GiB by column",
     R"({"op":"sum","shape":[1,32,4096,131072],"axes":[1],"dtype":"i8"})",
     ones,
     {32}},
    {"large: 2^32 elements", R"({"op":"sum","shape":[4294967296],"dtype":"i8"})", ones, {4294967296.0}},
    {"large: maximum in the last of 2^32",
     R"({"op":"max","shape":[4294967296],"dtype":"i8"})",
     [](std::int64_t i) { return i == 4294967295 ? 7.0 : 0.0; },
     {7}},
    {"large: argmax of 2 GiB",
     R"({"op":"argmax","shape":[64,8388609],"axes":[0]})",
     [](std::int64_t i) { return i / 8388609 == 32 ? 1.0 : 0.0; },
     {32}},
  };
  return table;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Cases, testing::ValuesIn(groups_of(shape_rows())), test_name);

std::string refusal_of(const char* json) {
  return message_of([&] { parse_operator(parse_json(json, "case"), "case"); });
}

TEST(CasesOfAxes, RefusedOnesAreNamedWithTheRank) {
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(refusal_of(R"({"op":"sum","shape":[2,3],"axes":[1,1]})"), HasSubstr("1"));
  EXPECT_THAT(refusal_of(R"({"op":"sum","shape":[2,3],"axes":[1,-1]})"), HasSubstr("-1"));
  EXPECT_THAT(refusal_of(R"({"op":"sum","shape":[2,3],"axes":[2]})"), AllOf(HasSubstr("axis 2"), HasSubstr("rank 2")));
  EXPECT_THAT(refusal_of(R"({"op":"sum","shape":[2,3],"axes":[-3]})"), AllOf(HasSubstr("axis -3"), HasSubstr("rank 2")));
  EXPECT_THAT(refusal_of(R"({"op":"sum","shape":[],"axes":[1]})"), HasSubstr("axis 1"));
  EXPECT_THAT(refusal_of(R"({"op":"sum","shape":[],"axes":[-2]})"), HasSubstr("axis -2"));
}

TEST(CasesOfAxes, NegativeOnesAreThoseFromTheEnd) {
  const auto key = [](const char* json) { return parse_operator(parse_json(json, "case"), "case").key(); };
  EXPECT_EQ(key(R"({"op":"sum","shape":[2,3],"axes":[-1]})"), key(R"({"op":"sum","shape":[2,3],"axes":[1]})"));
  EXPECT_EQ(key(R"({"op":"sum","shape":[2,3],"axes":[0,-1]})"), key(R"({"op":"sum","shape":[2,3]})"));
}

}  // namespace
}  // namespace redtune::cases
