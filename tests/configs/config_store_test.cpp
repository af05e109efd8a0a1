#include "configs/config_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "configs/config_schema.h"
#include "support/files.h"
#include "tests/configs/config_fixture.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using testing::HasSubstr;

class ConfigStoreTest : public testing::Test {
 protected:
  static Operator op(const std::string& shape = "1024x1024", const std::string& name = "sum") {
    return operator_from_short_form({name, shape, "1", "f32", "", "", false});
  }

  static Config config(const Operator& op, double seconds) { return made_up_config(op, seconds); }

  std::string message_of_find() const {
    return message_of([&] { store_.find(op(), config(op(), 1).device); });
  }

  void spoil(const std::string& from, const std::string& to) const {
    std::string text = read_file(path_);
    const std::size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << from;
    std::ofstream(path_) << text.replace(place, from.size(), to);
  }

  TemporaryDirectory directory_;
  ConfigStore store_{directory_.path()};
  std::string path_ = store_.path_of(op(), "NVIDIA H200 (GPU-12ab)");
};

TEST_F(ConfigStoreTest, GivesBackWhatWasPut) {
  EXPECT_EQ(store_.put(config(op(), 1e-3)), path_);
  EXPECT_EQ(path_, directory_.file("nvidia-h200-gpu-12ab/sum.json"));
  const auto found = store_.find(op(), "NVIDIA H200 (GPU-12ab)");
  ASSERT_TRUE(found);
  EXPECT_EQ(to_json(*found).dump(), to_json(config(op(), 1e-3)).dump());
}

TEST_F(ConfigStoreTest, KeepsTheBetter) {
  store_.put(config(op(), 1e-3));
  Config slower = config(op(), 2e-3);
  slower.schedule.px = 8;
  store_.put(slower);
  EXPECT_EQ(store_.list().at(0).seconds, 1e-3);
  store_.put(config(op(), 0.5e-3));
  EXPECT_EQ(store_.list().at(0).seconds, 0.5e-3);
  store_.put(slower, true);
  EXPECT_EQ(store_.list().at(0).seconds, 2e-3);
}

TEST_F(ConfigStoreTest, ANewProgramOfTheSameScheduleReplacesTheOld) {
  store_.put(config(op(), 1e-3));
  Config changed = config(op(), 2e-3);
  changed.program_hash = "1111111111111111";
  store_.put(changed);
  EXPECT_EQ(store_.list().at(0).seconds, 2e-3);
}

TEST_F(ConfigStoreTest, KeepsOtherShapesOperatorsAndDevices) {
  store_.put(config(op(), 1e-3));
  store_.put(config(op("512x512"), 1e-3));
  store_.put(config(op("512x512", "max"), 1e-3));
  Config elsewhere = config(op(), 1e-3);
  elsewhere.device = "NVIDIA H200 (GPU 12ab)";  // another name, the same slug
  store_.put(elsewhere);
  EXPECT_EQ(store_.list().size(), 4u);
  EXPECT_EQ(store_.list("max").size(), 1u);
}

TEST_F(ConfigStoreTest, OneFileIsAStoreToReadFrom) {
  const std::string path = store_.put(config(op(), 1e-3));
  store_.put(config(op("1024x1024", "max"), 2e-3));
  const ConfigStore file(path);
  EXPECT_EQ(file.list().size(), 1u);
  EXPECT_TRUE(file.list("max").empty());
  EXPECT_TRUE(file.find(op(), "NVIDIA H200 (GPU-12ab)"));
  EXPECT_FALSE(file.find(op("1024x1024", "max"), "NVIDIA H200 (GPU-12ab)"));
}

TEST_F(ConfigStoreTest, CheckFindsWhatPutWouldFail) {
  const std::string device = "NVIDIA H200 (GPU-12ab)";
  store_.check(op(), device);
  const std::string path = store_.put(config(op(), 1e-3));
  EXPECT_THROW(ConfigStore(path).check(op(), device), UserError);  // a file is no directory
  std::ofstream(path) << "{}";
  EXPECT_THROW(store_.check(op(), device), UserError);
}

TEST_F(ConfigStoreTest, MissesWhatDiffersInAnyPartOfTheKey) {
  store_.put(config(op(), 1e-3));
  const std::string device = "NVIDIA H200 (GPU-12ab)";
  EXPECT_FALSE(store_.find(op("1024x1025"), device));
  EXPECT_FALSE(store_.find(op("1024x1024", "max"), device));
  EXPECT_FALSE(
      store_.find(operator_from_short_form({"sum", "1024x1024", "1", "f16", "", "", false}), device));
  EXPECT_FALSE(
      store_.find(operator_from_short_form({"sum", "1024x1024", "1", "f32", "", "1x1024", false}), device));
  EXPECT_FALSE(
      store_.find(operator_from_short_form({"sum", "1024x1024", "0", "f32", "", "", false}), device));
  Operator repeatable = op();
  repeatable.determinism = Determinism::kRunToRun;
  EXPECT_FALSE(store_.find(repeatable, device));
  EXPECT_FALSE(store_.find(op(), "NVIDIA A100"));
}

TEST_F(ConfigStoreTest, ForeignFileIsRefusedAndLeftAlone) {
  make_directories(std::filesystem::path(path_).parent_path().string());
  for (const char* text : {"{\"mine\": 1}\n", "not JSON\n", "", "[1]\n"}) {
    std::ofstream(path_) << text;
    EXPECT_THAT(message_of([&] { store_.put(config(op(), 1e-3)); }), HasSubstr(path_));
    EXPECT_EQ(read_file(path_), text);
  }
}

TEST_F(ConfigStoreTest, MalformedEntryIsNamedByItsPath) {
  store_.put(config(op(), 1e-3));
  spoil("\"seconds\": 0.001", "\"seconds\": -1");
  EXPECT_THAT(message_of_find(), HasSubstr("field 'entries[0].seconds' must be a positive number"));
}

TEST_F(ConfigStoreTest, LaunchOfAMissingBufferIsNamed) {
  store_.put(config(op(), 1e-3));
  std::string text = read_file(path_);
  Json json = parse_json(text, "test");
  json["entries"][0]["launches"][0]["arguments"] = {0, 7};
  std::ofstream(path_) << json.dump();
  EXPECT_THAT(message_of_find(), HasSubstr("field 'entries[0].launches[0].arguments' names buffer 7 of 2"));
}

TEST_F(ConfigStoreTest, UnknownFieldIsNamed) {
  store_.put(config(op(), 1e-3));
  spoil("\"driver\"", "\"drivr\"");
  EXPECT_THAT(message_of_find(), HasSubstr("entries[0].driver' is missing"));
}

TEST_F(ConfigStoreTest, NewerVersionIsRefusedByName) {
  store_.put(config(op(), 1e-3));
  spoil("\"redtune_config\": 3", "\"redtune_config\": 99");
  EXPECT_THAT(message_of_find(), HasSubstr("config version 99 is newer than version 3"));
}

TEST_F(ConfigStoreTest, LosesNothingWithManyWriters) {
  std::vector<pid_t> children;
  for (int p = 0; p < 8; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int i = 0; i < 5; ++i)
        store_.put(config(op(std::to_string(8 + p) + "x" + std::to_string(8 + i)), 1e-3));
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(store_.list().size(), 40u);
}

TEST_F(ConfigStoreTest, WritesTheSameBytesInAnyOrder) {
  store_.put(config(op("8x8"), 1e-3));
  store_.put(config(op("16x16"), 1e-3));
  const std::string first = read_file(path_);
  std::filesystem::remove(path_);
  store_.put(config(op("16x16"), 1e-3));
  store_.put(config(op("8x8"), 1e-3));
  EXPECT_EQ(read_file(path_), first);
}

TEST_F(ConfigStoreTest, ReadsVersion1) {
  store_.put(config(op(), 1e-3));
  spoil("\"redtune_config\": 3", "\"redtune_config\": 1");
  EXPECT_EQ(store_.list().size(), 1u);
  store_.put(config(op("8x8"), 1e-3));  // written anew as what this redtune writes
  EXPECT_THAT(read_file(path_), HasSubstr("\"redtune_config\": 3"));
  EXPECT_EQ(store_.list().size(), 2u);
}

TEST_F(ConfigStoreTest, KeepsKernelAndTransfers) {
  Config whole = config(op(), 1e-3);
  whole.kernel = KernelFile{KernelLanguage::kCuda, "kernels/0123456789abcdef.cu", "",
                            {{"sm_90", "cubin", "kernels/0123456789abcdef.sm_90.cubin", "fedcba9876543210"}}};
  whole.transfers = {{"sum(f32[8,8];axes=1)->f32", 2e-3, 1e-3}};
  store_.put(whole);
  EXPECT_EQ(to_json(store_.list().at(0)).dump(), to_json(whole).dump());
}

TEST_F(ConfigStoreTest, ATransferIsNotedInTheEntryThatItWasMeasuredFor) {
  const Config put = config(op(), 1e-3);
  store_.put(put);
  EXPECT_TRUE(store_.add_transfer(op(), put.device, put.schedule, {"b", 3e-3, 1e-3}));
  EXPECT_TRUE(store_.add_transfer(op(), put.device, put.schedule, {"a", 2e-3, 1e-3}));
  EXPECT_TRUE(store_.add_transfer(op(), put.device, put.schedule, {"b", 4e-3, 1e-3}));
  const std::vector<Transfer> kept = store_.list().at(0).transfers;
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].key, "a");
  EXPECT_EQ(kept[1].seconds, 4e-3);
  // Another schedule has won in the meantime.
  EXPECT_FALSE(store_.add_transfer(op(), put.device, put.default_schedule, {"c", 4e-3, 1e-3}));
  EXPECT_FALSE(store_.add_transfer(op("8x8"), put.device, put.schedule, {"c", 4e-3, 1e-3}));
}

TEST_F(ConfigStoreTest, FilesOutsideTheStoreAreRefused) {
  Config whole = config(op(), 1e-3);
  whole.kernel = KernelFile{KernelLanguage::kOpenCl, "kernels/0123456789abcdef.cl", "", {}};
  store_.put(whole);
  spoil("kernels/0123456789abcdef.cl", "kernels/../../passwd");
  EXPECT_THAT(message_of_find(), HasSubstr("entries[0].kernel.file' must be a file right below"));
}

bool fits_schema(const Json& json) { return schema_complaint(json).empty(); }

TEST_F(ConfigStoreTest, WritesWhatTheSchemaAllows) {
  if (!has_schema_check()) GTEST_SKIP() << "built without valijson";
  store_.put(config(op(), 1e-3));
  Config untimed_default = config(op("8x8"), 1e-3);
  untimed_default.default_seconds = 0;
  store_.put(untimed_default);
  EXPECT_EQ(schema_complaint(parse_json(read_file(path_), "test")), "");
}

TEST_F(ConfigStoreTest, SchemaKnowsEveryField) {
  if (!has_schema_check()) GTEST_SKIP() << "built without valijson";
  Config whole_config = config(op(), 1e-3);
  whole_config.kernel = KernelFile{KernelLanguage::kOpenCl, "kernels/0123456789abcdef.cl", "", {}};
  whole_config.transfers = {{"sum(f32[8,8];axes=1)->f32", 2e-3, 1e-3}};
  whole_config.range = ServedRange{"suite", {8, 8}, {1024, 1024}, {{op().key(), 1e-3, 1e-3}}, {op("8x8").key()}};
  store_.put(whole_config);
  const Json whole = parse_json(read_file(path_), "test");
  const std::vector<std::string> optional{"default_seconds", "kernel", "range", "transfers"};
  for (const auto& [key, value] : whole["entries"][0].items()) {
    Json less = whole;
    less["entries"][0].erase(key);
    EXPECT_EQ(fits_schema(less), std::count(optional.begin(), optional.end(), key) == 1) << key;
    Json more = whole;
    more["entries"][0][key + "_"] = value;
    EXPECT_FALSE(fits_schema(more)) << key;
  }
}

// What the strict parser lets pass is still held against what is published.
TEST_F(ConfigStoreTest, WhatDoesNotFitTheSchemaIsRefusedOnReading) {
  if (!has_schema_check()) GTEST_SKIP() << "built without valijson";
  store_.put(config(op(), 1e-3));
  spoil("0123456789abcdef", "0123");
  EXPECT_THAT(message_of_find(), HasSubstr("does not fit configs/config.schema.json"));
}

}  // namespace
}  // namespace redtune
