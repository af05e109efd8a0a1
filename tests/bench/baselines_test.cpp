#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/baselines/host_baseline.h"
#include "support/text.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::HasSubstr;

constexpr int kThreads = 2;

struct Form {
  const char* shape;
  const char* axes;
};
// R, PR, RP, RPR, PRP; odd sizes, blocks that do not divide.
constexpr Form kForms[] = {
    {"1537", "0"}, {"37x601", "1"}, {"601x37", "0"}, {"5x7x130", "0,2"}, {"5x65x9", "1"}};

Task task_of(const std::string& op, const Form& form, const std::string& dtype, const std::string& out = "") {
  ShortForm words;
  words.op = op;
  words.shape = form.shape;
  words.axes = form.axes;
  words.dtype = dtype;
  words.out = out;
  return make_task(operator_from_short_form(words), load_target("cpu"));
}

// The constructor compares with the reference and throws where they differ.
std::string complaint(const std::string& baseline, const Task& task) {
  return message_of([&] { HostContestant(find_host_baseline(baseline), task, 3, false, kThreads); });
}

TEST(OpenMpBaseline, IsRightForEveryOperatorTypeAndForm) {
  for (const char* op : {"sum", "prod", "max", "min", "any", "all", "mean"}) {
    for (const DTypeInfo& dtype : kDTypes) {
      if (dtype.id == DType::kBF16 && std::string(op) != "any" && std::string(op) != "all") continue;
      for (const Form& form : kForms) {
        const Task task = task_of(op, form, std::string(dtype.name));
        EXPECT_EQ(complaint("openmp", task), "no error") << task.op.key();
      }
    }
  }
}

TEST(OpenMpBaseline, StoresInOtherTypes) {
  for (const char* dtype : {"f16", "bf16", "f32"}) {
    EXPECT_EQ(complaint("openmp", task_of("max", kForms[1], dtype, "f32")), "no error") << dtype;
    EXPECT_EQ(complaint("openmp", task_of("sum", kForms[2], dtype, "f32")), "no error") << dtype;
  }
  EXPECT_EQ(complaint("openmp", task_of("all", kForms[3], "bool", "i32")), "no error");
  EXPECT_EQ(complaint("openmp", task_of("sum", kForms[4], "i32", "i32")), "no error");
}

TEST(OpenMpBaseline, SaysWhatItDoesNotHave) {
  EXPECT_THAT(complaint("openmp", task_of("argmax", kForms[0], "f32")), HasSubstr("no loop for argmax"));
  EXPECT_THAT(complaint("openmp", task_of("sum", {"3x4x5x6", "0,2"}, "f32")),
              HasSubstr("no loop for the form"));
  EXPECT_THAT(complaint("openmpi", task_of("sum", kForms[0], "f32")), HasSubstr("did you mean 'openmp'"));
}

TEST(OpenMpBaseline, TakesTimes) {
  HostContestant contestant(find_host_baseline("openmp"), task_of("sum", kForms[1], "f32"), 1, true,
                            kThreads);
  for (int i = 0; i < 3; ++i) EXPECT_GT(contestant.sample(), 0);
}

TEST(OneDnnBaseline, IsRightOrSaysWhy) {
  if (host_baselines().size() < 2) GTEST_SKIP() << "built without oneDNN (package libdnnl-dev)";
  for (const char* op : {"sum", "max", "min", "mean"}) {
    for (const Form& form : kForms) {
      const Task task = task_of(op, form, "f32");
      EXPECT_EQ(complaint("onednn", task), "no error") << task.op.key();
    }
  }
  EXPECT_THAT(complaint("onednn", task_of("sum", kForms[0], "f64")), HasSubstr("no f64"));
  EXPECT_THAT(complaint("onednn", task_of("l2norm", kForms[0], "f32")), HasSubstr("no reduction l2norm"));
  HostContestant contestant(find_host_baseline("onednn"), task_of("sum", kForms[0], "f32"), 1, true,
                            kThreads);
  EXPECT_NE(contestant.baseline().implementation(), "");
}

}  // namespace
}  // namespace redtune
