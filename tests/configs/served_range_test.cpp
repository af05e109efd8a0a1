// Schedules of portfolios in the store, and lookup inside and outside of their range.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "configs/config_index.h"
#include "configs/config_schema.h"
#include "configs/operator_kind.h"
#include "configs/store_tools.h"
#include "support/files.h"
#include "tests/configs/config_fixture.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string row_key(const std::string& rows, const std::string& columns) {
  return "sum(f32[" + rows + "," + columns + "];axes=1)->f32";
}

// Two schedules for row sums of 64x1024 to 4096x4096: one for few rows, one for many.
Config few_rows() {
  Config config = made_up_config(row_sums_of("64x1024"), 1e-5);
  config.range = ServedRange{"rows",
                             {64, 1024},
                             {4096, 4096},
                             {{row_key("64", "1024"), 1e-5, 1e-5}, {row_key("128", "4096"), 1.2e-5, 1e-5}},
                             {}};
  return config;
}
Config many_rows() {
  Config config = made_up_config(row_sums_of("4096x4096"), 1e-3);
  config.schedule = parse_schedule("block=warp rx=32 px=8 vec=4");
  config.range =
      ServedRange{"rows", {64, 1024}, {4096, 4096}, {{row_key("4096", "4096"), 1.05e-3, 1e-3}}, {}};
  return config;
}

class ServedRangeTest : public testing::Test {
 protected:
  void put(const Config& config) { ConfigStore(directory_.path()).put(config, true); }
  void put_both() { ConfigStore(directory_.path()).put_portfolio({few_rows(), many_rows()}); }
  Answer find(const Operator& op, const LookupOptions& options = {},
              const std::string& device = kBoard) const {
    return ConfigIndex::load(directory_.path()).find(op, device, options);
  }
  TemporaryDirectory directory_;
};

TEST_F(ServedRangeTest, TheNearestMeasuredShapeDecidesInside) {
  put_both();
  const Answer near_few = find(row_sums_of("256x4096"));
  EXPECT_EQ(near_few.grade, Grade::kInRange);
  EXPECT_EQ(near_few.config->schedule, few_rows().schedule);
  EXPECT_FALSE(near_few.same_function);
  EXPECT_DOUBLE_EQ(near_few.distance, 1);
  EXPECT_NEAR(near_few.regret.value(), 0.2, 1e-9);
  EXPECT_EQ(near_few.regret_samples, 1u);
  EXPECT_NEAR(near_few.worst_regret.value(), 0.2, 1e-9);
  EXPECT_THAT(near_few.note, HasSubstr("portfolio rows for 64..4096 x 1024..4096"));
  const Answer near_many = find(row_sums_of("2048x4096"));
  EXPECT_EQ(near_many.config->schedule, many_rows().schedule);
  EXPECT_NEAR(near_many.regret.value(), 0.05, 1e-9);
  EXPECT_NEAR(near_many.worst_regret.value(), 0.05, 1e-9);
  // The ends belong to the range; a shape that was measured but is nobody's home is served as it was
  // measured.
  EXPECT_EQ(find(row_sums_of("64x4096")).grade, Grade::kInRange);
  const Answer measured = find(row_sums_of("128x4096"));
  EXPECT_EQ(measured.grade, Grade::kInRange);
  EXPECT_EQ(measured.distance, 0);
  EXPECT_NEAR(measured.regret.value(), 0.2, 1e-9);
  // Another naming of the same axes.
  EXPECT_EQ(find(row_sums_of("16x16x4096", "sum", "2")).grade, Grade::kInRange);
}

TEST_F(ServedRangeTest, NothingOutsideIsServed) {
  put_both();
  for (const char* shape : {"63x1024", "64x1023", "4097x4096", "4096x4097", "1x1048576"}) {
    const Answer answer = find(row_sums_of(shape));
    EXPECT_EQ(answer.grade, Grade::kDefault) << shape;
    EXPECT_EQ(answer.config, nullptr) << shape;
    EXPECT_FALSE(answer.worst_regret) << shape;
  }
  // The best of another task stands beside it and is found as ever.
  put(made_up_config(row_sums_of("32x1024"), 1e-3));
  EXPECT_EQ(find(row_sums_of("63x1024")).grade, Grade::kNearest);
  EXPECT_EQ(find(row_sums_of("64x2048")).grade, Grade::kInRange);
}

TEST_F(ServedRangeTest, ANearMissOfAnythingButTheSizesIsNeverServed) {
  put_both();
  Operator bound = row_sums_of("128x2048");
  bound.determinism = Determinism::kRunToRun;
  for (const Operator& op :
       {row_sums_of("128x2048", "max"), row_sums_of("128x2048", "sum", "0"),
        row_sums_of("128x2048", "sum", "0,1"), row_sums_of("128x8x256", "sum", "1"),
        operator_from_short_form({"sum", "128x2048", "1", "f16", "", "", false}),
        operator_from_short_form({"sum", "128x2048", "1", "f32", "f64", "", false}),
        operator_from_short_form({"sum", "128x2048", "1", "f32", "", "2049x1", false}),
        operator_from_short_form({"sum", "128x2048", "1", "f32", "", "0x1", false}), bound}) {
    EXPECT_NE(find(op).grade, Grade::kInRange) << op.key();
    EXPECT_EQ(find(op).config, nullptr) << op.key();
  }
  EXPECT_EQ(find(row_sums_of("128x2048"), {}, "NVIDIA A100").config, nullptr);
  EXPECT_EQ(find(row_sums_of("128x2048"), {}, "NVIDIA H200 (GPU-99)").grade, Grade::kInRange);
}

TEST_F(ServedRangeTest, DeterminismThatWasAskedForIsThatOfThePortfolio) {
  Config bound = few_rows();
  bound.op.determinism = Determinism::kRunToRun;
  for (Transfer& served : bound.range->shapes)
    served.key.insert(served.key.find(')'), ";determinism=run_to_run");
  ConfigStore(directory_.path()).put_portfolio({bound});
  Operator asked = row_sums_of("128x2048");
  EXPECT_EQ(find(asked).config, nullptr);
  asked.determinism = Determinism::kRunToRun;
  EXPECT_EQ(find(asked).grade, Grade::kInRange);
}

TEST_F(ServedRangeTest, WhatLiesNearestToAnUncoveredShapeIsNotServed) {
  Config few = few_rows();
  few.range->uncovered = {row_key("1024", "1024")};
  ConfigStore(directory_.path()).put_portfolio({few});
  EXPECT_EQ(find(row_sums_of("1024x1024")).grade, Grade::kDefault);
  EXPECT_EQ(find(row_sums_of("900x1100")).grade, Grade::kDefault);
  EXPECT_EQ(find(row_sums_of("80x1100")).grade, Grade::kInRange);
}

TEST_F(ServedRangeTest, WhatIsIllegalThereMakesRoomForTheNextNearest) {
  put_both();
  LookupOptions options;
  options.refuse = [](const Config& config) { return config.schedule == few_rows().schedule ? "no" : ""; };
  const Answer answer = find(row_sums_of("256x4096"), options);
  EXPECT_EQ(answer.grade, Grade::kInRange);
  EXPECT_EQ(answer.config->schedule, many_rows().schedule);
  EXPECT_DOUBLE_EQ(answer.distance, 4);
  options.refuse = [](const Config&) { return "no"; };
  EXPECT_EQ(find(row_sums_of("256x4096"), options).config, nullptr);
}

TEST_F(ServedRangeTest, OnlyWhoTakesTheGradeGetsIt) {
  put_both();
  LookupOptions options;
  options.lowest = Grade::kExact;
  EXPECT_EQ(find(row_sums_of("256x4096"), options).config, nullptr);
  options.lowest = Grade::kInRange;
  EXPECT_NE(find(row_sums_of("256x4096"), options).config, nullptr);
  options.same_function = true;  // a deployed program, which cannot generate a kernel
  EXPECT_EQ(find(row_sums_of("256x4096"), options).config, nullptr);
}

TEST_F(ServedRangeTest, AtItsOwnShapeItIsExactWithItsRegret) {
  put_both();
  const Answer alone = find(row_sums_of("4096x4096"));
  EXPECT_EQ(alone.grade, Grade::kExact);
  EXPECT_NEAR(alone.regret.value(), 0.05, 1e-9);
  put(made_up_config(row_sums_of("4096x4096"), 0.9e-3));
  EXPECT_EQ(find(row_sums_of("4096x4096")).regret, 0.0);
}

TEST_F(ServedRangeTest, StandsBesideTheBestOfItsShape) {
  const ConfigStore store(directory_.path());
  put(made_up_config(row_sums_of("64x1024"), 2e-5));  // slower, but the best that a search found
  put_both();
  EXPECT_EQ(store.list().size(), 3u);
  EXPECT_FALSE(store.find(row_sums_of("64x1024"), kBoard)->range);
  EXPECT_FALSE(store.find(row_sums_of("4096x4096"), kBoard));
  put(made_up_config(row_sums_of("64x1024"), 1.5e-5));
  EXPECT_EQ(store.list().size(), 3u);
  // What comes back is what was put, through the schema too.
  bool found = false;
  for (const Config& config : store.list()) {
    if (!config.range || config.op.key() != few_rows().op.key()) continue;
    found = true;
    EXPECT_EQ(to_json(config).dump(), to_json(few_rows()).dump());
  }
  EXPECT_TRUE(found);
}

TEST_F(ServedRangeTest, APortfolioReplacesThatOfItsNameAndNoOther) {
  ConfigStore store(directory_.path());
  put_both();
  Config other = few_rows();
  other.op = row_sums_of("100x2000");
  other.range->portfolio = "another";
  other.range->shapes = {{row_key("100", "2000"), 1e-5, 1e-5}};
  store.put_portfolio({other});
  EXPECT_EQ(store.list().size(), 3u);
  store.put_portfolio({many_rows()});
  const std::vector<Config> left = store.list();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left[0].range->portfolio, "another");
  EXPECT_EQ(left[1].schedule, many_rows().schedule);
}

TEST_F(ServedRangeTest, MergingKeepsBothKindsOfEntries) {
  put_both();
  put(made_up_config(row_sums_of("64x1024"), 1e-5));
  TemporaryDirectory into;
  EXPECT_EQ(merge_store(directory_.path(), into.path()).added, 3u);
  EXPECT_EQ(merge_store(directory_.path(), into.path()).kept, 3u);
  EXPECT_TRUE(diff_stores(directory_.path(), into.path()).empty());
}

TEST_F(ServedRangeTest, BadRangesAreNamed) {
  put_both();
  const std::string path = ConfigStore(directory_.path()).path_of(row_sums_of("64x1024"), kBoard);
  const Json good = read_json_file(path);
  const auto message = [&](auto&& change) {
    Json bad = good;
    change(bad["entries"][0]["range"]);
    std::ofstream(path) << bad.dump();
    return message_of([&] { read_config_file(path); });
  };
  EXPECT_THAT(message([](Json& r) { r["low"] = {64}; }),
              HasSubstr("entries[0].range.low' must have an extent for each of the 2"));
  EXPECT_THAT(message([](Json& r) { r["low"] = {5000, 1}; }), HasSubstr("must not be above 'high'"));
  EXPECT_THAT(message([](Json& r) { r["shapes"] = Json::array(); }), HasSubstr("range.shapes'"));
  EXPECT_THAT(message([](Json& r) { r["shapes"][0]["seconds"] = 0; }),
              HasSubstr("range.shapes[0].seconds' must be a positive"));
  EXPECT_THAT(message([](Json& r) { r["shpes"] = 1; }), HasSubstr("did you mean"));
  // A lookup passes over what cannot be read; asked for by its key it is named.
  const ConfigIndex index = ConfigIndex::load(directory_.path());
  EXPECT_EQ(index.find(row_sums_of("2048x4096"), kBoard).config->schedule, few_rows().schedule);
  EXPECT_THAT(message_of([&] { index.find(row_sums_of("4096x4096"), kBoard); }), HasSubstr("range"));
  if (!has_schema_check()) return;
  Json bad = good;
  bad["entries"][0]["range"]["shapes"] = Json::array();
  EXPECT_NE(schema_complaint(bad), "");
  EXPECT_EQ(schema_complaint(good), "");
}

TEST(OperatorKinds, DifferInWhatSizesDoNotTell) {
  const auto kind = [](const Operator& op) { return range_kind(op, coalesce(op)); };
  EXPECT_EQ(kind(row_sums_of("64x1024")), kind(row_sums_of("8x9x77", "sum", "2")));
  EXPECT_NE(kind(row_sums_of("64x1024")), kind(row_sums_of("64x1024", "sum", "0")));
  EXPECT_EQ(kind(operator_from_short_form({"sum", "64x64", "1", "f32", "", "65x1", false})), "");
  EXPECT_THAT(extents_of(coalesce(row_sums_of("8x9x77", "sum", "2"))), ElementsAre(72, 77));
}

}  // namespace
}  // namespace redtune
