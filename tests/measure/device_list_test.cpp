#include <cstdlib>

#include "tests/measure/device_fixture.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::HasSubstr;

class DeviceListTest : public DeviceTest {
 protected:
  void TearDown() override {
    if (before_) {
      ::setenv("REDTUNE_WORKER", before_->c_str(), 1);
    } else {
      ::unsetenv("REDTUNE_WORKER");
    }
  }

  std::optional<std::string> before_ = [] {
    const char* const path = std::getenv("REDTUNE_WORKER");
    return path == nullptr ? std::nullopt : std::optional<std::string>(path);
  }();
};

TEST_F(DeviceListTest, DescribesTheCpu) {
  EXPECT_THAT(device_.name, testing::StartsWith("cpu: "));
  EXPECT_FALSE(device_.driver.empty());
  const Target target = find()->target;
  EXPECT_EQ(target.name, "cpu");
  EXPECT_EQ(target.kind, TargetKind::kOpenClCpu);
  EXPECT_GE(target.units, 1);
  EXPECT_EQ(target.warp, 8);
  EXPECT_EQ(target.max_threads_per_block, 64);
  EXPECT_THAT(target.vector_bytes, testing::AnyOf(32, 64));
  EXPECT_GT(target.last_level_cache_bytes, 1 << 16);
}

TEST_F(DeviceListTest, PicksById) {
  EXPECT_EQ(pick_device("cpu").id, "cpu");
  EXPECT_EQ(pick_device("").id, pick_device("best").id);
  EXPECT_THAT(message_of([] { pick_device("cpuu"); }), HasSubstr("did you mean 'cpu'?"));
}

TEST_F(DeviceListTest, ABrokenWorkerIsANoteAndNoDevice) {
  ::setenv("REDTUNE_WORKER", "/bin/false", 1);
  std::vector<std::string> notes;
  EXPECT_TRUE(list_devices(&notes).empty());
  ASSERT_FALSE(notes.empty());
  EXPECT_THAT(notes.back(), HasSubstr("opencl: listing devices ended by exit code 1"));
  EXPECT_THROW(pick_device("best"), NoDevice);
}

TEST_F(DeviceListTest, AMissingWorkerIsANoteAndNoDevice) {
  ::setenv("REDTUNE_WORKER", "/nowhere/redtune-worker", 1);
  std::vector<std::string> notes;
  EXPECT_TRUE(list_devices(&notes).empty());
  EXPECT_THAT(notes.back(), HasSubstr("cannot start /nowhere/redtune-worker"));
  EXPECT_THROW(evaluator(), NoDevice);
}

TEST_F(DeviceListTest, AWorkerThatDiesAtStartSaysWhy) {
  options_.worker_fault = "start";
  try {
    evaluator();
    FAIL() << "started";
  } catch (const NoDevice& error) {
    EXPECT_THAT(error.what(), HasSubstr("exit code 4"));
    EXPECT_THAT(error.what(), HasSubstr("worker fault: start"));
  }
}

}  // namespace
}  // namespace redtune
