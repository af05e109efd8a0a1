#include "configs/store_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "support/error.h"
#include "support/files.h"
#include "tests/configs/config_fixture.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreToolsTest : public testing::Test {
 protected:
  TemporaryDirectory directory_;
  std::string left_ = directory_.file("left"), right_ = directory_.file("right");

  static void put(const std::string& store, const Config& config) { ConfigStore(store).put(config, true); }
  static std::string kernel_of(const std::string& store) {
    return store + "/" + ConfigStore(store).list().at(0).kernel->file;
  }
};

TEST_F(StoreToolsTest, MergeKeepsTheBetterAndLosesNothing) {
  put(left_, config_with_text(left_, row_sums_of("8x8"), 1e-3, "left rt_main"));
  put(left_, config_with_text(left_, row_sums_of("16x16"), 1e-3, "left rt_main"));
  put(left_, made_up_config(row_sums_of("8x8"), 1e-3, "only left"));
  put(right_, config_with_text(right_, row_sums_of("8x8"), 2e-3, "right rt_main"));
  put(right_, config_with_text(right_, row_sums_of("16x16"), 0.5e-3, "right rt_main"));
  put(right_, config_with_text(right_, row_sums_of("8x8", "max"), 1e-3, "right rt_main"));
  // Other schedules: that of the worse time is no newer program of the same.
  for (Config& config : ConfigStore(right_).list()) {
    config.schedule.px = 8;
    put(right_, config);
  }
  const MergeReport report = merge_store(right_, left_);
  EXPECT_EQ(report.added, 1u);
  EXPECT_EQ(report.replaced, 1u);
  EXPECT_EQ(report.kept, 1u);
  const ConfigStore store(left_);
  EXPECT_EQ(store.list().size(), 4u);
  EXPECT_EQ(store.find(row_sums_of("8x8"), kBoard)->seconds, 1e-3);
  EXPECT_EQ(store.find(row_sums_of("16x16"), kBoard)->seconds, 0.5e-3);
  EXPECT_EQ(read_kernel_text(left_, *store.find(row_sums_of("16x16"), kBoard)->kernel), "right rt_main");
  EXPECT_EQ(merge_store(right_, left_).kept, 3u);
}

TEST_F(StoreToolsTest, MergeOfAnOlderProgramDoesNotReplaceANewer) {
  Config fresh = config_with_text(left_, row_sums_of("8x8"), 2e-3, "new rt_main");
  fresh.time = "2026-02-01T00:00:00Z";
  put(left_, fresh);
  put(right_, config_with_text(right_, row_sums_of("8x8"), 3e-3, "old rt_main"));
  EXPECT_EQ(merge_store(right_, left_).kept, 1u);
  EXPECT_EQ(merge_store(left_, right_).replaced, 1u);
}

TEST_F(StoreToolsTest, MergeOfADamagedKernelIsRefused) {
  put(right_, config_with_text(right_, row_sums_of("8x8"), 1e-3));
  std::ofstream(kernel_of(right_), std::ios::app) << "x";
  EXPECT_THAT(message_of([&] { merge_store(right_, left_); }), HasSubstr("is damaged"));
  EXPECT_THAT(message_of([&] { merge_store("/nonexistent", left_); }), HasSubstr("/nonexistent"));
}

TEST_F(StoreToolsTest, CheckFindsEveryFault) {
  put(left_, config_with_text(left_, row_sums_of("8x8"), 1e-3));
  EXPECT_THAT(check_store(left_), IsEmpty());
  const std::string path = ConfigStore(left_).path_of(row_sums_of("8x8"), kBoard);
  const auto problem = [&] {
    const std::vector<std::string> problems = check_store(left_);
    return problems.size() == 1 ? problems[0] : std::to_string(problems.size()) + " problems";
  };
  const std::string kernel = kernel_of(left_), text = read_file(kernel);
  std::ofstream(kernel) << text + " ";
  EXPECT_THAT(problem(), HasSubstr("is damaged"));
  fs::remove(kernel);
  EXPECT_THAT(problem(), HasSubstr("cannot read"));
  std::ofstream(kernel) << text;
  // An entry in a file where nobody looks for it.
  fs::rename(path, fs::path(path).parent_path() / "max.json");
  EXPECT_THAT(problem(), HasSubstr("belongs into"));
  fs::rename(fs::path(path).parent_path() / "max.json", path);
  put(left_, made_up_config(row_sums_of("16x16"), 1e-3));
  EXPECT_THAT(problem(), HasSubstr("has no kernel text"));
  std::ofstream(path) << "{}";
  EXPECT_THAT(problem(), HasSubstr("is not a redtune config file"));
}

TEST_F(StoreToolsTest, PruneRemovesWhatNobodyNames) {
  put(left_, config_with_text(left_, row_sums_of("8x8"), 1e-3, "used rt_main"));
  const KernelFile stray = write_kernel_text(left_, "stray", KernelLanguage::kOpenCl, "");
  const std::string torn =
      fs::path(ConfigStore(left_).files().at(0)).parent_path().string() + "/sum.json.tmp.1.2";
  std::ofstream(torn) << "half";
  EXPECT_THAT(prune_store(left_, 3600, false).removed, IsEmpty())
      << "young files may belong to a writer at work";
  EXPECT_EQ(prune_store(left_, 0, true).removed.size(), 2u);
  EXPECT_TRUE(fs::exists(torn));
  EXPECT_EQ(prune_store(left_, 0, false).bytes, 9u);
  EXPECT_FALSE(fs::exists(torn));
  EXPECT_FALSE(fs::exists(left_ + "/" + stray.file));
  EXPECT_THAT(check_store(left_), IsEmpty());
  EXPECT_THAT(prune_store(left_, 0, false).removed, IsEmpty());
}

TEST_F(StoreToolsTest, CheckNamesAScheduleThatNoSpaceHas) {
  Config config = config_with_text(left_, row_sums_of("8x8"), 1e-3, "used rt_main");
  config.schedule.rx = 3;
  put(left_, config);
  EXPECT_THAT(check_store(left_), ElementsAre(HasSubstr("is in no space; tune again")));
}

TEST_F(StoreToolsTest, PruneLeavesStoresBelowAlone) {
  put(left_, config_with_text(left_, row_sums_of("8x8"), 1e-3, "used rt_main"));
  const std::string below = left_ + "/predicted";
  put(below, config_with_text(below, row_sums_of("16x16"), 1e-3, "below rt_main"));
  EXPECT_THAT(prune_store(left_, 0, false).removed, IsEmpty());
  EXPECT_THAT(check_store(below), IsEmpty());
}

TEST_F(StoreToolsTest, DifferencesAreALineEach) {
  put(left_, made_up_config(row_sums_of("8x8"), 1e-3));
  put(left_, made_up_config(row_sums_of("16x16"), 1e-3));
  put(left_, made_up_config(row_sums_of("4x4"), 1e-3));
  put(right_, made_up_config(row_sums_of("8x8"), 1e-3));
  Config faster = made_up_config(row_sums_of("16x16"), 0.5e-3);
  faster.schedule.px = 8;
  put(right_, faster);
  put(right_, made_up_config(row_sums_of("32x32"), 1e-3));
  const std::string text = diff_text(diff_stores(left_, right_));
  EXPECT_THAT(text, HasSubstr("- sum(f32[4,4];axes=1)->f32  1.00 ms"));
  EXPECT_THAT(text, HasSubstr("+ sum(f32[32,32];axes=1)->f32"));
  EXPECT_THAT(text, HasSubstr("1.00 ms -> 500 us (2.00x as fast)"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_EQ(diff_text(diff_stores(left_, left_)), "");
}

}  // namespace
}  // namespace redtune
