// Predictions and measurements in one store: neither is taken for the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/config_store.h"
#include "support/files.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

#ifdef REDTUNE_HAVE_VALIJSON
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#endif

namespace redtune {
namespace {

using testing::HasSubstr;

class PredictedConfig : public testing::Test {
 protected:
  static Config predicted(const std::string& schedule = "block=warp rx=32 px=4 vec=4") {
    Config config;
    config.op = operator_from_short_form({"sum", "1024x1024", "1", "f32", "", "", false, {}});
    config.device = config.target = "sm_90";
    config.schedule = parse_schedule(schedule);
    config.default_schedule = parse_schedule("block=tree rx=256 vec=4");
    config.launches = {{"rt_main", {256, 1, 1}, {32, 4, 1}, 0, {0, 1}}};
    config.buffers = {{"x", BufferKind::kInput, DType::kF32, 1 << 20},
                      {"y", BufferKind::kOutput, DType::kF32, 1024}};
    config.program_hash = "0123456789abcdef";
    config.time = "2026-01-31T12:00:00Z";
    config.version = "0.1.0";
    config.predicted = Prediction{"analytic", 9000, 32, 3, 40};
    return config;
  }
  static Config measured(double seconds) {
    Config config = predicted("block=tree rx=64 vec=4");
    config.predicted.reset();
    config.seconds = seconds;
    config.low_seconds = seconds * 0.99;
    config.high_seconds = seconds * 1.01;
    config.log_hash = "fedcba9876543210";
    return config;
  }

  TemporaryDirectory directory_;
  ConfigStore store_{directory_.path()};
};

TEST_F(PredictedConfig, ComesBackMarkedAndWithoutATime) {
  store_.put(predicted());
  const auto found = store_.find(predicted().op, "sm_90");
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->predicted);
  EXPECT_EQ(found->predicted->registers, 40);
  EXPECT_EQ(found->predicted->dropped, 3u);
  EXPECT_EQ(found->seconds, 0);
  const Json json = to_json(*found);
  EXPECT_FALSE(json.contains("seconds"));
  EXPECT_FALSE(json.contains("log_hash"));
  EXPECT_EQ(json.dump(), to_json(predicted()).dump());
}

TEST_F(PredictedConfig, NeverReplacesAMeasurementAndGivesWayToOne) {
  store_.put(predicted());
  store_.put(measured(5));
  EXPECT_FALSE(store_.find(predicted().op, "sm_90")->predicted);
  store_.put(predicted());
  store_.put(predicted(), true);
  EXPECT_FALSE(store_.find(predicted().op, "sm_90")->predicted);
}

TEST_F(PredictedConfig, ANewerPredictionReplacesAnOlderOne) {
  store_.put(predicted());
  store_.put(predicted("block=warp rx=32 px=8 vec=4"));
  EXPECT_EQ(store_.find(predicted().op, "sm_90")->schedule.px, 8);
}

TEST_F(PredictedConfig, MayNotClaimATime) {
  const std::string path = store_.put(predicted());
  Json file = parse_json(read_file(path), path);
  file["entries"][0]["seconds"] = 1e-3;
  write_file_atomically(path, file.dump());
  EXPECT_THAT(message_of([&] { store_.list(); }), HasSubstr("seconds"));
}

#ifdef REDTUNE_HAVE_VALIJSON
TEST_F(PredictedConfig, TheSchemaTakesOneOfBoth) {
  using Adapter = valijson::adapters::NlohmannJsonAdapter;
  const auto schema_json =
      nlohmann::json::parse(read_file(std::string(REDTUNE_SOURCE_DIR) + "/configs/config.schema.json"));
  valijson::Schema schema;
  valijson::SchemaParser().populateSchema(Adapter(schema_json), schema);
  const auto valid = [&](const Json& entry) {
    const Json file{{"redtune_config", kConfigVersion}, {"entries", Json::array({entry})}};
    const auto json = nlohmann::json::parse(file.dump());
    return valijson::Validator().validate(schema, Adapter(json), nullptr);
  };
  EXPECT_TRUE(valid(to_json(predicted())));
  EXPECT_TRUE(valid(to_json(measured(1e-3))));
  Json both = to_json(measured(1e-3));
  both["predicted"] = to_json(predicted())["predicted"];
  EXPECT_FALSE(valid(both));
  Json neither = to_json(predicted());
  neither.erase("predicted");
  EXPECT_FALSE(valid(neither));
}
#endif

}  // namespace
}  // namespace redtune
