// isl's check of a fusion: right ones pass, and every way of breaking one is found.
#include "space/fusion_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "space/graph.h"

namespace redtune {
namespace {

using testing::HasSubstr;

Operator softmax() {
  return parse_operator(parse_json(R"x({"inputs": {"X": {"shape": [6, 8]}, "B": {"shape": [6]}},
    "compute": ["M[i] = max(j) X[i,j]", "E[i,j] = exp(X[i,j] - M[i])", "S[i] = sum(j) E[i,j]", "L[i] = log(S[i]) + M[i] + B[i]", "P[i,j] = E[i,j] / S[i]"],
    "outputs": ["P", "L"]})x", "op"), "op");
}

TEST(FusionCheck, PassesWhatIsRight) {
  const Operator op = softmax();
  const std::vector<FusedGroup> groups = fuse(*op.graph);
  EXPECT_EQ(groups.size(), 3u);
  EXPECT_EQ(check_fusion(*op.graph, groups), "");
}

TEST(FusionCheck, PassesAKernelPerStatement) {
  const Operator op = softmax();
  std::vector<FusedGroup> groups = fuse_nothing(*op.graph);
  ASSERT_EQ(groups.size(), 5u);
  EXPECT_EQ(check_fusion(*op.graph, groups), "");
  std::swap(groups[1], groups[2]);  // E is loaded by S
  EXPECT_THAT(check_fusion(*op.graph, groups), HasSubstr("reads E before it is computed"));
}

TEST(FusionCheck, FindsGroupsInTheWrongOrder) {
  const Operator op = softmax();
  std::vector<FusedGroup> groups = fuse(*op.graph);
  std::swap(groups[0], groups[1]);
  EXPECT_THAT(check_fusion(*op.graph, groups), HasSubstr("reads M before it is computed"));
}

TEST(FusionCheck, FindsAnOperandThatIsNotRead) {
  const Operator op = softmax();
  for (std::size_t g = 0; g < 3; ++g) {
    const std::vector<FusedGroup> right = fuse(*op.graph);
    for (std::size_t n = 0; n < right[g].nodes.size(); ++n) {
      if (right[g].nodes[n].kind != FusedNode::Kind::kLoad) continue;
      std::vector<FusedGroup> wrong = right;
      wrong[g].nodes[n].kind = FusedNode::Kind::kNumber;
      EXPECT_THAT(check_fusion(*op.graph, wrong), HasSubstr("without all that it depends on")) << g << " " << n;
    }
  }
}

TEST(FusionCheck, FindsAnOperandThatIsReadAtTheWrongPlace) {
  const Operator op = softmax();
  std::vector<FusedGroup> groups = fuse(*op.graph);
  for (FusedAccess& access : groups[0].accesses) {
    if (access.tensor == "X") std::swap(access.strides[0], access.strides[1]);
  }
  EXPECT_THAT(check_fusion(*op.graph, groups), HasSubstr("group 0 computes M without all"));
}

TEST(FusionCheck, FindsATailOfAReductionThatIsMissing) {
  const Operator op = softmax();
  std::vector<FusedGroup> groups = fuse(*op.graph);
  const auto home = std::find_if(groups.begin(), groups.end(), [](const FusedGroup& g) { return !g.reductions.empty() && g.reductions[0].statement == "S"; });
  ASSERT_NE(home, groups.end());
  home->reductions.clear();
  EXPECT_THAT(check_fusion(*op.graph, groups), HasSubstr("computes L without all"));
}

}  // namespace
}  // namespace redtune
