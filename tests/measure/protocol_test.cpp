#include "measure/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/message_of.h"

namespace redtune {
namespace {

JsonObject object(const Json& json) { return JsonObject(json, "test"); }

TEST(Protocol, DevicesComeBackAsTheyWere) {
  DeviceInfo device{"cpu", "cpu: Some \"Model\"", "driver 1", {}, "a clock", {{"uuid", "GPU-1"}}};
  device.target.units = 7;
  device.target.last_level_cache_bytes = std::int64_t{1} << 40;
  const Json json = to_json(device);
  const DeviceInfo back = parse_device_info(object(json));
  EXPECT_EQ(back.id, device.id);
  EXPECT_EQ(back.name, device.name);
  EXPECT_EQ(back.driver, device.driver);
  EXPECT_EQ(back.target, device.target);
  EXPECT_EQ(back.clock, device.clock);
  EXPECT_EQ(back.facts, device.facts);
}

TEST(Protocol, LayoutsAndRulesComeBackAsTheyWere) {
  const ArenaLayout layout{1000, 1152, 99};
  const Json layout_json = to_json(layout);
  EXPECT_EQ(parse_arena_layout(object(layout_json)), layout);
  const SamplingRules rules{1, 2, 0.25, 3.5, 1e-9, 7};
  const Json rules_json = to_json(rules);
  const SamplingRules back = parse_sampling_rules(object(rules_json));
  EXPECT_EQ(back.min_samples, 1);
  EXPECT_EQ(back.max_samples, 2);
  EXPECT_EQ(back.target_spread, 0.25);
  EXPECT_EQ(back.max_seconds, 3.5);
  EXPECT_EQ(back.best_seconds, 1e-9);
  EXPECT_EQ(back.least_seconds, 7);
}

TEST(Protocol, ComplaintsNameTheField) {
  const Json json = {{"path", "x"}};
  EXPECT_THAT(message_of([&] { parse_memory_address(object(json)); }),
              testing::HasSubstr("'bytes' is missing"));
}

}  // namespace
}  // namespace redtune
