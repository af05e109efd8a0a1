#include "configs/config_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "configs/config_scan.h"
#include "space/canonical.h"
#include "space/operator_key.h"
#include "support/error.h"
#include "support/files.h"
#include "tests/configs/config_fixture.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using testing::HasSubstr;

class ConfigIndexTest : public testing::Test {
 protected:
  void put(const Config& config) { ConfigStore(directory_.path()).put(config, true); }
  Answer find(const Operator& op, const LookupOptions& options = {},
              const std::string& device = kBoard) const {
    return ConfigIndex::load(directory_.path()).find(op, device, options);
  }
  TemporaryDirectory directory_;
};

TEST_F(ConfigIndexTest, ExactBeforeEverythingElse) {
  put(made_up_config(row_sums_of("1024x1024"), 1e-3));
  put(made_up_config(row_sums_of("1024x1025"), 1e-3));
  const Answer answer = find(row_sums_of("1024x1024"));
  EXPECT_EQ(answer.grade, Grade::kExact);
  EXPECT_TRUE(answer.same_function);
  EXPECT_EQ(answer.regret, 0.0);
  EXPECT_EQ(answer.note, "");
  EXPECT_EQ(answer.config->op.key(), "sum(f32[1024,1024];axes=1)->f32");
}

TEST_F(ConfigIndexTest, TheSameFunctionByOtherAxesIsExact) {
  put(made_up_config(row_sums_of("64x1024"), 1e-3));
  const Answer answer = find(row_sums_of("8x8x1024", "sum", "2"));
  EXPECT_EQ(answer.grade, Grade::kExact);
  EXPECT_TRUE(answer.same_function);
  // A storage that is walked in another way is another function.
  const Operator strided = operator_from_short_form({"sum", "64x1024", "1", "f32", "", "1025x1", false});
  EXPECT_FALSE(find(strided).same_function);
}

TEST_F(ConfigIndexTest, AnotherBoardOfTheModelIsExactAndAnotherModelIsNot) {
  put(made_up_config(row_sums_of("64x1024"), 1e-3));
  EXPECT_EQ(find(row_sums_of("64x1024"), {}, "NVIDIA H200 (GPU-99ff)").grade, Grade::kExact);
  const Answer elsewhere = find(row_sums_of("64x1024"), {}, "NVIDIA A100 (GPU-99ff)");
  EXPECT_EQ(elsewhere.grade, Grade::kOtherDevice);
  EXPECT_TRUE(elsewhere.same_function);
  EXPECT_FALSE(elsewhere.regret);
  EXPECT_THAT(elsewhere.note, HasSubstr("on NVIDIA H200"));
  // The very board wins over its twin, however fast that was.
  put(made_up_config(row_sums_of("64x1024"), 1e-9, "NVIDIA H200 (GPU-77)"));
  EXPECT_EQ(find(row_sums_of("64x1024")).config->device, kBoard);
}

TEST_F(ConfigIndexTest, NearestIsNearestInEachSizeAndNotInTheProduct) {
  // Equal products: what a product rule takes for the same.
  put(made_up_config(row_sums_of("1x1048576"), 1e-3));
  put(made_up_config(row_sums_of("2048x2048"), 1e-3));
  const Answer answer = find(row_sums_of("1024x1024"));
  EXPECT_EQ(answer.grade, Grade::kNearest);
  EXPECT_FALSE(answer.same_function);
  EXPECT_EQ(answer.config->op.key(), "sum(f32[2048,2048];axes=1)->f32");
  EXPECT_DOUBLE_EQ(answer.distance, std::sqrt(2.0));
  EXPECT_FALSE(answer.regret);
  EXPECT_THAT(answer.note, HasSubstr("2048"));
}

TEST_F(ConfigIndexTest, NearestAgreesWithAWalkOverAll) {
  std::vector<Operator> stored;
  std::vector<Config> configs;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t h = hash64(std::to_string(i));
    stored.push_back(
        row_sums_of(std::to_string(2 + (h & 0xffff)) + "x" + std::to_string(2 + (h >> 16 & 0xffff))));
    configs.push_back(made_up_config(stored.back(), 1e-3));
  }
  ConfigStore(directory_.path()).put_all(configs);
  const ConfigIndex index = ConfigIndex::load(directory_.path());
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t h = hash64("q" + std::to_string(i));
    const std::int64_t rows = 2 + static_cast<std::int64_t>(h & 0xffff),
                       columns = 2 + static_cast<std::int64_t>(h >> 16 & 0xffff);
    double best = 1e300;
    for (const Operator& op : stored) {
      const double dr = std::log2(static_cast<double>(op.input().shape[0]) / static_cast<double>(rows));
      const double dc = std::log2(static_cast<double>(op.input().shape[1]) / static_cast<double>(columns));
      best = std::min(best, std::sqrt(dr * dr + dc * dc));
    }
    const Answer answer =
        index.find(row_sums_of(std::to_string(rows) + "x" + std::to_string(columns)), kBoard);
    EXPECT_NEAR(answer.distance, best, 1e-9);
  }
}

TEST_F(ConfigIndexTest, ANearMissOfAnyOtherPartOfTheKeyIsNoAnswer) {
  put(made_up_config(row_sums_of("64x1024"), 1e-3));
  for (const Operator& op : {row_sums_of("64x1024", "max"), row_sums_of("64x1024", "sum", "0"),
                             operator_from_short_form({"sum", "64x1024", "1", "f16", "", "", false}),
                             operator_from_short_form({"sum", "64x1024", "1", "f32", "f64", "", false}),
                             operator_from_short_form({"sum", "64x1024", "1", "f32", "", "0x1", false})}) {
    EXPECT_EQ(find(op).grade, Grade::kDefault) << op.key();
    EXPECT_EQ(find(op).config, nullptr);
  }
}

TEST_F(ConfigIndexTest, DeterminismIsNeverLost) {
  Operator free = row_sums_of("64x1024"), bound = free;
  bound.determinism = Determinism::kRunToRun;
  Config loose = made_up_config(free, 1e-3);
  loose.determinism = Determinism::kNotGuaranteed;
  put(loose);
  EXPECT_EQ(find(bound).grade, Grade::kDefault);
  // One that happens to be repeatable serves, and says that it was not searched for.
  put(made_up_config(free, 2e-3));
  const Answer answer = find(bound);
  EXPECT_EQ(answer.grade, Grade::kNearest);
  EXPECT_TRUE(answer.same_function);
  EXPECT_EQ(answer.distance, 0);
  EXPECT_EQ(answer.config->determinism, Determinism::kRunToRun);
  put(made_up_config(bound, 3e-3));
  EXPECT_EQ(find(bound).grade, Grade::kExact);
}

TEST_F(ConfigIndexTest, WhatTheDeviceRefusesIsPassedOver) {
  Config large = made_up_config(row_sums_of("64x1024"), 1e-3);
  large.launches[0].block = {1024, 1, 1};
  put(large);
  put(made_up_config(row_sums_of("64x4096"), 1e-3));
  LookupOptions options;
  options.refuse = [](const Config& c) { return c.launches[0].block[0] > 256 ? "too large" : ""; };
  const Answer answer = find(row_sums_of("64x1024"), options);
  EXPECT_EQ(answer.grade, Grade::kNearest);
  EXPECT_EQ(answer.config->op.key(), "sum(f32[64,4096];axes=1)->f32");
}

TEST_F(ConfigIndexTest, GradesBelowTheLowestAreNotTaken) {
  put(made_up_config(row_sums_of("64x1024"), 1e-3));
  LookupOptions options;
  options.lowest = Grade::kExact;
  EXPECT_EQ(find(row_sums_of("64x1025"), options).config, nullptr);
  options.lowest = Grade::kNearest;
  EXPECT_NE(find(row_sums_of("64x1025"), options).config, nullptr);
  options.same_function = true;
  EXPECT_EQ(find(row_sums_of("64x1025"), options).config, nullptr);
}

TEST_F(ConfigIndexTest, RegretIsWhatWasMeasured) {
  Config near = made_up_config(row_sums_of("64x1024"), 1e-3);
  near.transfers = {{"a", 1.1e-3, 1e-3}, {"b", 1.5e-3, 1e-3}, {"c", 1.2e-3, 1e-3}};
  put(near);
  const Answer answer = find(row_sums_of("64x2048"));
  ASSERT_TRUE(answer.regret);
  EXPECT_NEAR(*answer.regret, 0.2, 1e-9);
  EXPECT_EQ(answer.regret_samples, 3u);
  // Of the default: what it lost where the best is known.
  LookupOptions strict;
  strict.lowest = Grade::kExact;
  const Answer fallback = find(row_sums_of("64x2048"), strict);
  EXPECT_EQ(fallback.grade, Grade::kDefault);
  EXPECT_NEAR(fallback.regret.value(), 0.5, 1e-9);
}

TEST_F(ConfigIndexTest, DamagedFilesAreNamedAndTheOthersServe) {
  put(made_up_config(row_sums_of("64x1024"), 1e-3));
  put(made_up_config(row_sums_of("64x1024", "max"), 1e-3));
  const std::string path = ConfigStore(directory_.path()).path_of(row_sums_of("64x1024", "max"), kBoard);
  const std::string text = read_file(path);
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, text.size() / 2, text.size() - 3}) {
    std::ofstream(path) << text.substr(0, size);
    const ConfigIndex index = ConfigIndex::load(directory_.path());
    ASSERT_EQ(index.problems().size(), 1u) << size;
    EXPECT_THAT(index.problems()[0], HasSubstr("max.json"));
    EXPECT_EQ(index.size(), 1u);
  }
  EXPECT_THAT(message_of([] { ConfigIndex::load("/nonexistent"); }), HasSubstr("/nonexistent"));
}

TEST(ConfigScan, FindsEntriesWhateverTheirLayout) {
  const Json entry = to_json(made_up_config(row_sums_of("64x1024"), 1e-3));
  Json odd = entry;
  odd["device"] = "a \"quoted\" \\ device {[,";
  const Json file = {{"redtune_config", 2}, {"entries", {entry, odd}}};
  for (const std::string& text : {file.dump(), file.dump(4), readable_json(file)}) {
    const ScannedFile scanned = scan_config_file(text, "test");
    ASSERT_EQ(scanned.entries.size(), 2u);
    EXPECT_EQ(scanned.entries[0].key, entry["key"].get<std::string>());
    EXPECT_EQ(scanned.entries[0].determinism, "run_to_run");
    EXPECT_EQ(scanned.entries[1].device, odd["device"].get<std::string>());
    EXPECT_EQ(parse_json(scanned.entries[1].text, "test"), odd);
  }
  EXPECT_EQ(scan_config_file(R"({"entries": [], "redtune_config": 1})", "test").entries.size(), 0u);
}

TEST(ConfigScan, RefusesEverythingElse) {
  for (const char* text :
       {"", "{", "[]", "{}", "x", R"({"redtune_config": 2})", R"({"entries": []})",
        R"({"redtune_config": 2, "entries": [1]})", R"({"redtune_config": 2, "entries": [{]})",
        R"({"redtune_config": 2, "entries": []} more)", R"({"mine": 1, "entries": []})",
        R"({"redtune_config": 2, "entries": [{"a": "b]})"}) {
    EXPECT_THAT(message_of([&] { scan_config_file(text, "f.json"); }), HasSubstr("f.json")) << text;
  }
  EXPECT_THAT(message_of([] { scan_config_file(R"({"redtune_config": 9, "entries": []})", "f.json"); }),
              HasSubstr("newer than version"));
}

TEST(OperatorKey, ReadsWhatItPrints) {
  for (const char* text :
       {R"({"op": "sum", "shape": [1024, 768], "axes": [1]})", R"({"op": "max", "shape": [], "axes": []})",
        R"({"op": "var", "shape": [5, 6, 7], "axes": [0, 2], "dtype": "f16", "ddof": 1})",
        R"({"op": "argmin", "shape": [5, 6], "axes": [1], "dtype": "i8", "out": "i32"})",
        R"({"op": "sum", "shape": [5, 6], "axes": [0], "strides": [-6, 1], "offset": 24})",
        R"({"op": "sum", "shape": [5, 6], "axes": [], "accumulator": "f64", "determinism": "run_to_run"})",
        R"({"op": "any", "shape": [0, 6], "axes": [1], "dtype": "bool", "keepdims": true})"}) {
    const Operator op = parse_operator(parse_json(text, "test"), "test");
    const std::optional<Operator> again = parse_operator_key(op.key());
    ASSERT_TRUE(again) << op.key();
    EXPECT_EQ(again->key(), op.key());
    EXPECT_EQ(again->input(), op.input());
    EXPECT_EQ(again->reduction(), op.reduction());
    EXPECT_EQ(coalesce(*again), coalesce(op));
  }
}

TEST(OperatorKey, RefusesEveryCutOrChangedKey) {
  const std::string key =
      "var(f16[5,6];axes=0;strides=7,1;offset=3;accumulator=f64;ddof=1;determinism=run_to_run)->f32";
  ASSERT_TRUE(parse_operator_key(key));
  for (std::size_t size = 0; size < key.size(); ++size)
    EXPECT_FALSE(parse_operator_key(key.substr(0, size))) << size;
  EXPECT_FALSE(parse_operator_key(key + " "));
  EXPECT_FALSE(parse_operator_key("sum(f32[4];axes=1)->f32"));
  EXPECT_FALSE(parse_operator_key("sum(f32[4];axes=0;strides=1,2)->f32"));
}

}  // namespace
}  // namespace redtune
