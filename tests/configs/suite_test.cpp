#include "configs/suite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "support/text.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHead = R"({"redtune_suite": 1, "summary": "s", "published":
  {"device": "Tesla V100", "source": "a paper", "how": "read off", "ours": "theirs"}, "entries": [)";
constexpr const char* kEntry =
    R"({"id": "a", "groups": ["g"], "operator": {"op": "sum", "shape": [4, 8], "axes": [1]},
  "published": {"cuDNN": 2e-6, "theirs": 1e-6}, "note": "n", "facts": {"files": 3}})";

Suite parse(const std::string& text) { return parse_suite(parse_json(text, "x.json"), "x.json", "x"); }
std::string complaint(const std::string& text) {
  return message_of([&] { parse(text); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Suite, HoldsOperatorGroupsAndPublishedTimes) {
  const Suite suite = parse(std::string(kHead) + kEntry + "]}");
  ASSERT_EQ(suite.entries.size(), 1u);
  const SuiteEntry& entry = suite.entries[0];
  EXPECT_EQ(suite.published.device, "Tesla V100");
  EXPECT_EQ(suite.published.ours, "theirs");
  EXPECT_EQ(entry.op.key(), "sum(f32[4,8];axes=1)->f32");
  EXPECT_THAT(entry.groups, ElementsAre("g"));
  EXPECT_EQ(entry.published[0].first, "cuDNN");  // the order of the file
  EXPECT_EQ(published_seconds(entry, "theirs"), 1e-6);
  EXPECT_EQ(published_seconds(entry, "CUB"), 0);
  EXPECT_EQ(entry.note, "n");
  EXPECT_EQ(entry.facts["files"], 3);
}

TEST(Suite, ComplaintsNameEntryAndField) {
  const std::string good = std::string(kHead) + kEntry + "]}";
  EXPECT_THAT(complaint(replaced(good, "\"axes\": [1]", "\"axes\": [2]")), HasSubstr("entries[0].operator"));
  EXPECT_THAT(complaint(replaced(good, "2e-6", "-2e-6")),
              HasSubstr("entries[0].published' must hold positive"));
  EXPECT_THAT(complaint(replaced(good, "\"note\"", "\"notes\"")), HasSubstr("'notes'"));
  EXPECT_THAT(complaint(replaced(good, "\"redtune_suite\": 1", "\"redtune_suite\": 2")),
              HasSubstr("must be 1"));
  EXPECT_THAT(complaint(std::string(kHead) + kEntry + ", " + kEntry + "]}"),
              HasSubstr("entries[1].id' stands twice"));
  EXPECT_THAT(complaint(std::string(kHead) + "]}"), HasSubstr("one or more entries"));
  const std::string bare = "{\"redtune_suite\": 1, \"summary\": \"s\", \"entries\": [";
  EXPECT_THAT(complaint(bare + kEntry + "]}"), HasSubstr("published' is missing"));
}

TEST(Suite, UnknownNamesAreNearKnownOnes) {
  EXPECT_THAT(message_of([] { read_suite("panamera_singel"); }), HasSubstr("did you mean 'panamera_single'"));
}

TEST(Suite, ShippedOnesAreReadable) {
  std::map<std::string, std::size_t> entries;
  for (const std::string& name : known_suites()) entries[name] = read_suite(name).entries.size();
  EXPECT_EQ(entries["panamera_single"], 70u);
  EXPECT_EQ(entries["network_reductions"], 442u);
  EXPECT_EQ(entries["cub_sizes"], 48u);
  EXPECT_EQ(entries["panamera_table4"], 4u);
  EXPECT_EQ(entries["panamera_subgraphs"], 12u);
  EXPECT_EQ(entries["modern"], 13u);
}

// The tables that the suites were made from, where they lie beside the source tree.
std::vector<std::map<std::string, std::string>> table(const std::string& name) {
  std::ifstream file(std::string(REDTUNE_SOURCE_DIR) + "/../shared/data/" + name);
  std::vector<std::map<std::string, std::string>> rows;
  std::string line;
  if (!std::getline(file, line)) return rows;
  const std::vector<std::string> header = split(trim(line), ',');
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(trim(line), ',');
    for (std::size_t i = 0; i < header.size() && i < cells.size(); ++i) {
      if (i == 0) rows.emplace_back();
      rows.back()[header[i]] = cells[i];
    }
  }
  return rows;
}

std::string joined(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> words;
  for (const std::int64_t size : sizes) words.push_back(std::to_string(size));
  return join(words, "x");
}

std::string identity(const Operator& op) {
  std::vector<std::string> axes;
  for (const int axis : op.reduction().axes) axes.push_back(std::to_string(axis));
  return std::string(name(op.reduction().op)) + " " + std::string(name(op.input().dtype)) + " " +
         joined(op.input().shape) + " " + join(axes, " ");
}

std::string word_of(const std::string& word) {
  const std::map<std::string, std::string> words{{"reduce_sum", "sum"},
                                                 {"reduce_max", "max"},
                                                 {"reduce_and", "all"},
                                                 {"ReduceSum", "sum"},
                                                 {"ReduceMax", "max"},
                                                 {"int", "i32"},
                                                 {"float32", "f32"},
                                                 {"float16", "f16"},
                                                 {"Pan-noatomic", "Panamera without atomics"},
                                                 {"CUB+transpose", "CUB with transposition"}};
  const auto known = words.find(word);
  return known == words.end() ? word : known->second;
}

TEST(Suite, PaperRowsAreThoseOfTheFigures) {
  const auto rows = table("panamera_fig_data.csv");
  if (rows.empty()) GTEST_SKIP() << "../shared/data/panamera_fig_data.csv is not there";
  std::map<std::string, std::map<std::string, double>> expected, found;
  for (auto row : rows) {
    if (row["figure"] != "9" && row["figure"] != "10") continue;
    const std::string key =
        word_of(row["op"]) + " " + word_of(row["dtype"]) + " " + row["shape"] + " " + row["reduced_axes"];
    expected[key][word_of(row["method"])] = std::stod(row["time_us"]);
  }
  for (const SuiteEntry& entry : read_suite("panamera_single").entries) {
    for (const auto& [method, seconds] : entry.published) found[identity(entry.op)][method] = seconds * 1e6;
  }
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [key, methods] : expected) {
    ASSERT_EQ(found[key].size(), methods.size()) << key;
    for (const auto& [method, microseconds] : methods) {
      EXPECT_NEAR(found[key][method], microseconds, 1e-6 * microseconds) << key << ", " << method;
    }
  }
}

TEST(Suite, NetworkRowsAreThoseOfTheList) {
  const auto rows = table("akg_reduce_shapes.csv");
  if (rows.empty()) GTEST_SKIP() << "../shared/data/akg_reduce_shapes.csv is not there";
  std::multiset<std::string> expected, found;
  for (auto row : rows) {
    expected.insert(join(split(row["networks"], ';'), " ") + " " + word_of(row["op"]) + " " +
                    word_of(row["dtype"]) + " " + row["input_shape"] + " " + row["axes"] + " " +
                    row["keepdims"]);
  }
  for (const SuiteEntry& entry : read_suite("network_reductions").entries) {
    found.insert(join(entry.groups, " ") + " " + identity(entry.op) +
                 (entry.op.keepdims ? " True" : " False"));
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace redtune
