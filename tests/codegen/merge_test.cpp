// Several programs as one text.
#include <gtest/gtest.h>

#include <set>

#include "codegen/program.h"

namespace redtune {
namespace {

Program program(const std::string& body) {
  Program p;
  p.text = "#define rt_index rt_i32\nRT_KERNEL(rt_main, 1, 1)(x, y) { " + body + " }\n";
  p.buffers = {{"x", BufferKind::kInput, DType::kF32, 8}, {"y", BufferKind::kOutput, DType::kF32, 2}};
  p.launches = {{"rt_main", {2, 1, 1}, {4, 1, 1}, 0, {0, 1}}};
  return p;
}

TEST(Merge, SharesInputsAndKeepsTheRestApart) {
  const Program parts[] = {program("a"), program("b"), program("c")};
  const Program merged = merge(parts);
  ASSERT_EQ(merged.buffers.size(), 4u);
  EXPECT_EQ(merged.buffers[0], parts[0].buffers[0]);
  ASSERT_EQ(merged.launches.size(), 3u);
  std::set<int> outputs;
  std::set<std::string> entries;
  for (const KernelLaunch& launch : merged.launches) {
    EXPECT_EQ(launch.arguments[0], 0);
    outputs.insert(launch.arguments[1]);
    entries.insert(launch.entry);
    EXPECT_EQ(launch.grid, parts[0].launches[0].grid);
  }
  EXPECT_EQ(outputs, (std::set<int>{1, 2, 3}));
  EXPECT_EQ(entries, (std::set<std::string>{"rt_main_0", "rt_main_1", "rt_main_2"}));
}

TEST(Merge, DifferentInputsStayDifferent) {
  Program other = program("b");
  other.buffers[0].elements = 9;
  const Program parts[] = {program("a"), other};
  EXPECT_EQ(merge(parts).buffers.size(), 4u);
}

TEST(Merge, EveryMacroOfATextEndsWithIt) {
  const Program parts[] = {program("a"), program("b")};
  const std::string text = merge(parts).text;
  for (const char* name : {"rt_index", "rt_main"}) {
    std::size_t defined = 0, undefined = 0;
    for (std::size_t at = 0; (at = text.find("#define " + std::string(name) + " ", at)) != std::string::npos;
         ++at)
      ++defined;
    for (std::size_t at = 0; (at = text.find("#undef " + std::string(name) + "\n", at)) != std::string::npos;
         ++at)
      ++undefined;
    EXPECT_EQ(defined, 2u) << name;
    EXPECT_EQ(undefined, 2u) << name;
  }
}

TEST(Merge, OneProgramKeepsItsText) {
  const Program parts[] = {program("a")};
  EXPECT_NE(merge(parts, 7).text.find(parts[0].text), std::string::npos);
  EXPECT_EQ(merge(parts, 7).launches[0].entry, "rt_main_7");
}

}  // namespace
}  // namespace redtune
