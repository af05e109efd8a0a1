// Errors as values: nothing of the C API needs a device to say no.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <redtune/deploy.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "configs/config_store.h"
#include "deploy/binary_cache.h"
#include "deploy/include/redtune/deploy.h"
#include "support/files.h"
#include "tests/configs/config_fixture.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using testing::HasSubstr;

TEST(DeployApi, NullPointersAreNamed) {
  redtune_store* store = nullptr;
  EXPECT_EQ(redtune_store_open(nullptr, &store), REDTUNE_BAD_INPUT);
  EXPECT_THAT(redtune_error(), HasSubstr("'directory' is a null pointer"));
  EXPECT_EQ(redtune_store_open("x", nullptr), REDTUNE_BAD_INPUT);
  EXPECT_EQ(redtune_operator_parse("{}", nullptr), REDTUNE_BAD_INPUT);
  EXPECT_EQ(redtune_opencl_launch(nullptr, nullptr, nullptr, nullptr, 0, nullptr, nullptr),
            REDTUNE_BAD_INPUT);
  EXPECT_EQ(redtune_cuda_launch(nullptr, nullptr, 0, 0), REDTUNE_BAD_INPUT);
  EXPECT_EQ(redtune_find(nullptr, nullptr, nullptr, REDTUNE_EXACT, nullptr), REDTUNE_BAD_INPUT);
  EXPECT_EQ(redtune_host_run(nullptr, nullptr, nullptr, REDTUNE_EXACT, nullptr, 0, nullptr, 0, nullptr),
            REDTUNE_BAD_INPUT);
  redtune_store_close(nullptr);
  redtune_operator_free(nullptr);
  redtune_kernel_release(nullptr);
  redtune_host_close(nullptr);
  EXPECT_STREQ(redtune_operator_key(nullptr), "");
}

TEST(DeployApi, AMissingStoreAndABadOperatorSayWhatIsWrong) {
  redtune_store* store = nullptr;
  EXPECT_EQ(redtune_store_open("/nonexistent/store", &store), REDTUNE_BAD_INPUT);
  EXPECT_THAT(redtune_error(), HasSubstr("/nonexistent/store"));
  EXPECT_EQ(store, nullptr);
  redtune_operator* op = nullptr;
  EXPECT_EQ(redtune_operator_parse(R"({"op": "sun", "shape": [4]})", &op), REDTUNE_BAD_INPUT);
  EXPECT_THAT(redtune_error(), HasSubstr("did you mean 'sum'?"));
  EXPECT_EQ(redtune_operator_parse("{", &op), REDTUNE_BAD_INPUT);
  EXPECT_EQ(op, nullptr);
}

TEST(DeployApi, AnOperatorTellsItsSizes) {
  redtune_operator* op = nullptr;
  ASSERT_EQ(
      redtune_operator_parse(
          R"({"op": "argmax", "shape": [4, 6], "axes": [1], "dtype": "f16", "strides": [8, 1], "offset": 3})",
          &op),
      REDTUNE_OK);
  EXPECT_EQ(redtune_operator_input_bytes(op), 2u * (3 + 3 * 8 + 5 + 1));
  EXPECT_EQ(redtune_operator_output_bytes(op), 4u * 8);
  EXPECT_STREQ(redtune_operator_output_dtype(op), "i64");
  std::int64_t shape[2] = {-1, -1};
  EXPECT_EQ(redtune_operator_output_shape(op, shape, 2), 1u);
  EXPECT_EQ(shape[0], 4);
  EXPECT_EQ(shape[1], -1);
  redtune_operator_free(op);
}

TEST(DeployApi, AFileThatCannotBeReadIsLeftOutAndNamed) {
  TemporaryDirectory directory;
  make_directories(directory.file("dev"));
  std::ofstream(directory.file("dev/sum.json")) << "not JSON";
  redtune_store* store = nullptr;
  ASSERT_EQ(redtune_store_open(directory.path().c_str(), &store), REDTUNE_OK);
  EXPECT_EQ(redtune_store_size(store), 0u);
  EXPECT_THAT(redtune_store_problems(store), HasSubstr("sum.json"));
  redtune_operator* op = nullptr;
  ASSERT_EQ(redtune_operator_parse(R"({"op": "sum", "shape": [4]})", &op), REDTUNE_OK);
  redtune_answer answer{};
  EXPECT_EQ(redtune_find(store, op, "a device", REDTUNE_OTHER_DEVICE, &answer), REDTUNE_NOT_FOUND);
  EXPECT_EQ(redtune_find(store, op, "a device", static_cast<redtune_grade>(9), &answer), REDTUNE_BAD_INPUT);
  ASSERT_EQ(redtune_find(store, op, "a device", REDTUNE_DEFAULT, &answer), REDTUNE_OK);
  EXPECT_EQ(answer.grade, REDTUNE_DEFAULT);
  EXPECT_EQ(answer.has_kernel, 0);
  EXPECT_TRUE(std::isnan(answer.regret));
  redtune_operator_free(op);
  redtune_store_close(store);
}

TEST(DeployApi, AShapeInTheRangeOfAPortfolioIsAnsweredWithItsRegret) {
  TemporaryDirectory directory;
  Config config = made_up_config(row_sums_of("64x1024"), 1e-3);
  config.range = ServedRange{"rows",
                             {64, 1024},
                             {64, 4096},
                             {{config.op.key(), 1e-3, 1e-3}, {row_sums_of("64x4096").key(), 4.4e-3, 4e-3}},
                             {}};
  make_directories(directory.file("dev"));
  std::ofstream(directory.file("dev/sum.json"))
      << Json{{kConfigFormat, kConfigVersion}, {"entries", {to_json(config)}}}.dump();
  const auto store = deploy::Store::open(directory.path());
  ASSERT_TRUE(store) << store.error().message;
  const auto find = [&](const std::string& shape, redtune_grade lowest) {
    const auto op = deploy::Operator::parse(R"({"op": "sum", "axes": [1], "shape": )" + shape + "}");
    return store.value().find(op.value(), kBoard, lowest);
  };
  const auto inside = find("[64, 4000]", REDTUNE_IN_RANGE);
  ASSERT_TRUE(inside) << inside.error().message;
  EXPECT_EQ(inside.value().grade, REDTUNE_IN_RANGE);
  EXPECT_EQ(inside.value().has_kernel, 0);
  EXPECT_NEAR(inside.value().regret, 0.1, 1e-9);
  EXPECT_NEAR(inside.value().worst_regret, 0.1, 1e-9);
  EXPECT_STREQ(inside.value().schedule, config.schedule.text().c_str());
  EXPECT_THAT(inside.value().note, HasSubstr("portfolio rows"));
  EXPECT_EQ(find("[64, 4000]", REDTUNE_EXACT).error().status, REDTUNE_NOT_FOUND);
  EXPECT_EQ(find("[64, 4097]", REDTUNE_OTHER_DEVICE).error().status, REDTUNE_NOT_FOUND);
  EXPECT_TRUE(std::isnan(find("[64, 1024]", REDTUNE_EXACT).value().worst_regret));
}

TEST(BinaryCache, GivesBackWhatWasStoredAndNothingElse) {
  TemporaryDirectory directory;
  const deploy::BinaryCache cache(directory.file("new/cache").c_str());
  EXPECT_FALSE(cache.find("key"));
  const std::string bytes("a\0b\nc", 5);
  EXPECT_TRUE(cache.store("key\nof two lines", bytes));
  EXPECT_EQ(cache.find("key\nof two lines"), bytes);
  EXPECT_FALSE(cache.find("key\nof two line"));
  EXPECT_FALSE(deploy::BinaryCache("").store("key", bytes));
}

TEST(BinaryCache, ADamagedFileIsNoHit) {
  TemporaryDirectory directory;
  const deploy::BinaryCache cache(directory.path().c_str());
  cache.store("key", "some bytes");
  std::string path;
  for (const auto& file : std::filesystem::directory_iterator(directory.path())) path = file.path().string();
  const std::string good = read_file(path);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    std::ofstream(path, std::ios::binary) << bad;
    EXPECT_FALSE(cache.find("key")) << i;
    std::ofstream(path, std::ios::binary) << good.substr(0, i);
    EXPECT_FALSE(cache.find("key")) << i;
  }
  std::ofstream(path, std::ios::binary) << good;
  EXPECT_EQ(cache.find("key"), "some bytes");
}

}  // namespace
}  // namespace redtune
