#include "space/canonical.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "space/axes.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

Canonical of(const std::string& shape, const std::string& axes, const std::string& strides = "") {
  ShortForm form;
  form.shape = shape;
  form.axes = axes;
  form.strides = strides;
  return coalesce(operator_from_short_form(form));
}

Group kept(std::int64_t extent, std::int64_t stride, std::int64_t output_stride) {
  return {Role::kParallel, extent, stride, output_stride};
}
Group reduced(std::int64_t extent, std::int64_t stride) { return {Role::kReduced, extent, stride, 0}; }

using Groups = std::vector<Group>;

TEST(Canonical, MergesNeighboursOfOneRole) {
  EXPECT_EQ(of("32x16x8", "").groups, Groups({reduced(4096, 1)}));
  EXPECT_EQ(of("32x16x8", "2").groups, Groups({kept(512, 8, 1), reduced(8, 1)}));
  EXPECT_EQ(of("256x56x56x256", "0,1,2").groups, Groups({reduced(802816, 256), kept(256, 1, 1)}));
  EXPECT_EQ(of("128x32x35x35", "0,2,3").groups,
            Groups({reduced(128, 39200), kept(32, 1225, 1), reduced(1225, 1)}));
  EXPECT_EQ(of("50000x40x64", "1").groups, Groups({kept(50000, 2560, 64), reduced(40, 64), kept(64, 1, 1)}));
  EXPECT_EQ(of("4x3x8x8", "1,3").groups,
            Groups({kept(4, 192, 8), reduced(3, 64), kept(8, 8, 1), reduced(8, 1)}));
}

TEST(Canonical, NamesTheForm) {
  EXPECT_EQ(of("32x16x8", "").text(), "R [4096]");
  EXPECT_EQ(of("768x21128", "1").text(), "PR 768,[21128]");
  EXPECT_EQ(of("64x16", "0").text(), "RP [64],16");
  EXPECT_EQ(of("4x3x8x8", "1,3").text(), "PRPR 4,[3],8,[8]");
}

TEST(Canonical, UnitAxesVanish) {
  EXPECT_EQ(of("1x1024x1x2048x1", "0,3").groups, Groups({kept(1024, 2048, 1), reduced(2048, 1)}));
  EXPECT_EQ(of("320x768x1x1", "1,2,3"), of("320x768", "1"));
  EXPECT_EQ(of("64x4x1", "0,1", "4,1,77"), of("64x4x1", "0,1"));
}

TEST(Canonical, WhatReducesNothingGetsAReducedGroupOfOne) {
  EXPECT_EQ(of("5x7", "none").groups, Groups({reduced(1, 0), kept(35, 1, 1)}));
  EXPECT_EQ(of("5x1", "1").groups, Groups({reduced(1, 0), kept(5, 1, 1)}));
  EXPECT_EQ(of("[]", "").groups, Groups({reduced(1, 0)}));
  EXPECT_EQ(of("1x1", "0").form(), "R");
}

TEST(Canonical, EmptyAxesStayEmpty) {
  EXPECT_EQ(of("3x0x5", "1").reduced_size(), 0);
  EXPECT_EQ(of("3x0x5", "1").parallel_size(), 15);
  EXPECT_EQ(of("0x7", "1").parallel_size(), 0);
  EXPECT_EQ(of("4x0x6", "0,1").reduced_size(), 0);
}

TEST(Canonical, StridesThatDoNotNestKeepAxesApart) {
  EXPECT_EQ(of("4x8", "", "10,1").groups, Groups({reduced(4, 10), reduced(8, 1)}));
  EXPECT_EQ(of("4x8", "", "10,1").form(), "R");
  EXPECT_EQ(of("4x8", "", "8,1").groups, Groups({reduced(32, 1)}));
  EXPECT_EQ(of("4x8x2", "2", "32,2,1").groups, Groups({kept(4, 32, 8), kept(8, 2, 1), reduced(2, 1)}));
}

TEST(Canonical, LoopsFollowMemoryAndOutputsStayInPlace) {
  // Columns of a transposed matrix lie in memory as rows do.
  EXPECT_EQ(of("64x16", "0", "1,64").groups, Groups({kept(16, 64, 1), reduced(64, 1)}));
  // Both kept axes, the second outermost in memory: the output is written across.
  EXPECT_EQ(of("4x5x6", "2", "1,4,20").groups, Groups({reduced(6, 20), kept(5, 4, 1), kept(4, 1, 5)}));
  // Reduced axes nest in memory order, whatever their order in the shape.
  EXPECT_EQ(of("4x5", "", "1,4").groups, Groups({reduced(20, 1)}));
}

TEST(Canonical, BroadcastAxesGoOutermost) {
  EXPECT_EQ(of("2x3x4", "1", "0,1,3").groups, Groups({kept(2, 0, 4), kept(4, 3, 1), reduced(3, 1)}));
  EXPECT_EQ(of("8x4", "1", "1,0").groups, Groups({reduced(4, 0), kept(8, 1, 1)}));
}

TEST(Canonical, WalksBackwardsToo) {
  Json json = parse_json(R"({"op": "sum", "shape": [2, 3], "strides": [-3, -1], "offset": 5})", "t");
  EXPECT_EQ(coalesce(parse_operator(json, "t")).groups, Groups({reduced(6, -1)}));
}

// ---- shapes of real networks
// -------------------------------------------------------------------------------------

TEST(Canonical, AgreesWithTheFormsRecordedForRealNetworks) {
  const std::string path = std::string(REDTUNE_SOURCE_DIR) + "/../shared/data/akg_reduce_shapes.csv";
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "the table of recorded shapes is not there: " << path;
  std::string line;
  std::getline(file, line);
  int rows = 0;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line, ',');
    ASSERT_GE(cells.size(), 9u) << line;
    std::string axes = cells[2];
    std::replace(axes.begin(), axes.end(), ' ', ',');
    const Canonical canonical = of(cells[1], axes);
    std::vector<std::string> sizes;
    for (const Group& group : canonical.groups) sizes.push_back(std::to_string(group.extent));
    EXPECT_EQ(canonical.form(), cells[5]) << line;
    EXPECT_EQ(join(sizes, "x"), cells[6]) << line;
    EXPECT_EQ(std::to_string(canonical.parallel_size()), cells[7]) << line;
    EXPECT_EQ(std::to_string(canonical.reduced_size()), cells[8]) << line;
    ++rows;
  }
  EXPECT_EQ(rows, 442);
}

}  // namespace
}  // namespace redtune
