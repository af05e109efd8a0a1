#include "space/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/space/task_builder.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(Target, ShippedOnesLoadAndGoThroughJsonUnchanged) {
  EXPECT_THAT(known_targets(), IsSupersetOf({"cpu", "sm_100", "sm_75", "sm_80", "sm_90"}));
  for (const std::string& name : known_targets()) {
    const Target target = load_target(name);
    EXPECT_EQ(target.name, name);
    EXPECT_EQ(parse_target(to_json(target), "again"), target);
    EXPECT_LE(target.max_threads_per_block, target.max_threads_per_unit);
    EXPECT_EQ(target.aligned_vectors, target.kind == TargetKind::kCuda) << name;
    if (target.kind == TargetKind::kCuda) {
      EXPECT_EQ(name, "sm_" + std::to_string(target.compute_capability));
    }
  }
}

TEST(Target, MistakesNameFileFieldAndRemedy) {
  EXPECT_THAT(message_of([] { load_target("sm_09"); }), HasSubstr("did you mean 'sm_"));
  EXPECT_THAT(message_of([] { load_target("../targets/cpu"); }), HasSubstr("unknown target"));
  const auto with = [](const std::string& key, const Json& value) {
    Json json = to_json(load_target("cpu"));
    json[key] = value;
    return message_of([&] { parse_target(json, "t.json"); });
  };
  EXPECT_THAT(with("kind", "opencl"), HasSubstr("t.json: field 'kind' has an unknown kind 'opencl'"));
  EXPECT_THAT(with("warp", 12), HasSubstr("'warp' must be a power of two, is 12"));
  EXPECT_THAT(with("units", 0), HasSubstr("'units' must be 1 to"));
  EXPECT_THAT(with("shared_bytes_per_block_optin", 1), HasSubstr("shared_bytes_per_block_optin"));
  EXPECT_THAT(with("unit", 4), HasSubstr("did you mean 'units'"));
}

TEST(Task, KeysJoinOperatorAndTarget) {
  EXPECT_EQ(task_of("8x4", "1", "sm_90").key(), "sum(f32[8,4];axes=1)->f32 @ sm_90");
}

TEST(Task, CompulsoryBytesCountEveryElementOnce) {
  EXPECT_EQ(task_of("1000x10", "1", "cpu").compulsory_bytes(), 1000 * 10 * 4 + 1000 * 4);
  EXPECT_EQ(task_of("1000x10", "1", "cpu", "sum", "i8").compulsory_bytes(), 1000 * 10 + 1000 * 8);
  ShortForm form;
  form.shape = "1000x10";
  form.axes = "0";
  form.strides = "0,1";
  EXPECT_EQ(make_task(operator_from_short_form(form), load_target("cpu")).compulsory_bytes(),
            10 * 4 + 10 * 4);
}

TEST(Task, IndicesAre64BitsWhenAnOffsetNeedsThem) {
  EXPECT_FALSE(task_of("2147483648", "", "cpu", "sum", "i8").needs_64bit_index());
  EXPECT_TRUE(task_of("2147483649", "", "cpu", "sum", "i8").needs_64bit_index());
  ShortForm form;
  form.shape = "2x4";  // few elements, far apart
  form.axes = "1";
  form.dtype = "i8";
  form.strides = "3000000000,1";
  EXPECT_TRUE(make_task(operator_from_short_form(form), load_target("cpu")).needs_64bit_index());
  form.shape = "65536x65536";  // no storage to speak of, many outputs
  form.axes = "none";
  form.strides = "0,0";
  EXPECT_TRUE(make_task(operator_from_short_form(form), load_target("cpu")).needs_64bit_index());
}

}  // namespace
}  // namespace redtune
