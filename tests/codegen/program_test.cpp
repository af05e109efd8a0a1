#include "codegen/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::HasSubstr;

Program program() {
  Program program;
  program.text = "kernel \"text\"\n\twith \\ everything\n";
  program.buffers = {{"x", BufferKind::kInput, DType::kBF16, std::int64_t{1} << 40},
                     {"out", BufferKind::kOutput, DType::kF32, 0},
                     {"partials", BufferKind::kScratch, DType::kF64, 7},
                     {"tickets", BufferKind::kCounter, DType::kI32, 1}};
  program.launches = {{"first", {std::int64_t{1} << 31, 2, 3}, {32, 4, 1}, 1024, {0, 2, 3}},
                      {"second", {1, 1, 1}, {64, 1, 1}, 0, {2, 1}, 65536}};
  return program;
}

std::string complaint(const Json& json) {
  return message_of([&] { parse_program(json, "here"); });
}

TEST(Program, JsonRoundTrip) {
  EXPECT_EQ(parse_program(to_json(program()), "here"), program());
  EXPECT_EQ(parse_program(to_json(Program()), "here"), Program());
}

TEST(Program, ComplaintsNameOriginAndField) {
  Json json = to_json(program());
  json["buffers"][1]["kind"] = "outpt";
  EXPECT_THAT(complaint(json), HasSubstr("did you mean 'output'?"));
  json = to_json(program());
  json["launches"][0]["grid"] = {1, 0, 1};
  EXPECT_THAT(complaint(json), HasSubstr("here: field 'launches[0].grid' has a size out of range: 0"));
  json = to_json(program());
  json["launches"][1]["arguments"] = {4};
  EXPECT_THAT(complaint(json), HasSubstr("field 'launches[1].arguments' names buffer 4 of 4"));
  json = to_json(program());
  json["buffers"][0]["elements"] = -1;
  EXPECT_THAT(complaint(json), HasSubstr("field 'buffers[0].elements' must be at least 0"));
  json = to_json(program());
  json["launches"][1]["dynamic_shared_bytes"] = 0;
  EXPECT_THAT(complaint(json), HasSubstr("field 'launches[1].dynamic_shared_bytes' must be at least 1"));
  json = to_json(program());
  json["launches"][0]["blocks"] = 1;
  EXPECT_THAT(complaint(json), HasSubstr("blocks"));
}

}  // namespace
}  // namespace redtune
