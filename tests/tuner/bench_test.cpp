// What a bench makes of measured rows: verdicts, means, totals, formats, results on disk. No device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/files.h"
#include "support/text.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"
#include "tuner/bench/bench.h"
#include "tuner/bench/bench_store.h"
#include "tuner/bench/bench_summary.h"
#include "tuner/bench/bench_table.h"

namespace redtune {
namespace {

using testing::HasSubstr;
using testing::Not;

Operator op(const std::string& shape = "64x96") {
  ShortForm form;
  form.shape = shape;
  form.axes = "1";
  return operator_from_short_form(form);
}

BenchTime time_of(double seconds, double half = 0.001) {
  return {seconds, seconds * (1 - half), seconds * (1 + half), half, 21, 0};
}

BenchSide side(const std::string& name, double seconds) {
  BenchSide result;
  result.name = name;
  if (seconds > 0) result.time = time_of(seconds);
  return result;
}

BenchRow row(const std::string& id, double tuned, std::vector<BenchSide> sides) {
  BenchRow result;
  result.id = id;
  result.op = op();
  result.bytes = 24832;
  result.tuned = time_of(tuned);
  result.schedule = "rx=1";
  result.mapping = "none";
  result.determinism = "run_to_run";
  result.program_hash = "ab";
  result.trials = result.asked_trials = 4;
  result.time = "2026-01-31T12:00:00Z";
  result.sides = std::move(sides);
  return result;
}

SuiteEntry entry(const std::string& id, std::vector<std::string> groups,
                 std::vector<std::pair<std::string, double>> published = {}) {
  SuiteEntry result;
  result.id = id;
  result.groups = std::move(groups);
  result.op = op();
  result.published = std::move(published);
  return result;
}

// a wins by 2 and by 4, b loses; other is a reference on b; c has no time at all.
BenchResult result() {
  BenchResult r;
  r.suite.name = "s";
  r.suite.published = {"Tesla V100", "a paper", "read off", "theirs"};
  r.suite.entries = {entry("a", {"g", "h"}, {{"theirs", 2e-6}, {"CUB", 4e-6}}), entry("b", {"g"}),
                     entry("c", {"g"})};
  r.device = "a device";
  r.clock = "cold/opencl_events";
  r.baselines = {"default", "other"};
  BenchSide reference = side("other", 9e-3);
  reference.reference = true;
  reference.implementation = "ref:any";
  BenchSide best = side("other", 4e-3);
  best.version = "other 1.0";
  best.implementation = "jit";
  best.clock = "wall";
  r.rows = {row("a", 1e-3, {side("default", 2e-3), best}),
            row("b", 1e-3, {side("default", 0.5e-3), reference}), row("c", 1e-3, {})};
  r.rows[2].error = "nothing was timed";
  r.peak = {100e6, "a sum"};
  return r;
}

TEST(Bench, VerdictsNeedDistanceAndApartIntervals) {
  EXPECT_EQ(compare(time_of(1), time_of(1.1)), BenchVerdict::kWin);
  EXPECT_EQ(compare(time_of(1.1), time_of(1)), BenchVerdict::kLoss);
  EXPECT_EQ(compare(time_of(1), time_of(1.02)), BenchVerdict::kTie);      // apart, but near
  EXPECT_EQ(compare(time_of(1), time_of(1.2, 0.3)), BenchVerdict::kUnresolved);  // far, but it spreads
}

TEST(Bench, MeansAreOverRowsThatCount) {
  const std::vector<BaselineSummary> all = summaries_of(result());
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].rows, 2u);
  EXPECT_DOUBLE_EQ(all[0].arithmetic_mean, 1.25);
  EXPECT_DOUBLE_EQ(all[0].geometric_mean, 1);
  EXPECT_EQ(all[0].most_id, "a");
  EXPECT_EQ(all[0].wins, 1u);
  EXPECT_EQ(all[0].losses, 1u);
  EXPECT_EQ(all[1].rows, 1u);  // the reference implementation is no win
  EXPECT_EQ(all[1].reference, 1u);
  EXPECT_DOUBLE_EQ(all[1].most, 4);
}

TEST(Bench, PublishedRatiosAreOfTheSameRows) {
  const std::vector<BaselineSummary> published = published_summaries_of(result());
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(published[0].name, "CUB");
  EXPECT_EQ(published[0].rows, 1u);
  EXPECT_DOUBLE_EQ(published[0].geometric_mean, 2);
}

TEST(Bench, TotalsOfABaselineAreBesideTheSameRows) {
  const std::vector<GroupTotal> totals = totals_of(result());
  ASSERT_EQ(totals.size(), 2u);
  EXPECT_EQ(totals[0].name, "g");
  EXPECT_EQ(totals[0].rows, 2u);
  EXPECT_EQ(totals[0].missing, 1u);
  EXPECT_DOUBLE_EQ(totals[0].seconds, 2e-3);
  EXPECT_EQ(totals[0].sides[1].rows, 1u);
  EXPECT_DOUBLE_EQ(totals[0].sides[1].seconds, 4e-3);
  EXPECT_DOUBLE_EQ(totals[0].sides[1].tuned_seconds, 1e-3);
}

TEST(Bench, MarkdownHasEveryMark) {
  const std::string text = format_bench(result(), "md");
  EXPECT_THAT(text,
              HasSubstr("| a | 24.8 kB | 1.00 ms | 0.1 % | 0.0 | 25 % | none | 2.00 | 4.00 | 2.00 us |"));
  EXPECT_THAT(text, HasSubstr("(9.00)"));
  EXPECT_THAT(text, HasSubstr("| c |  | no time |"));
  EXPECT_THAT(text, HasSubstr("other, 1 row (b): measured, not counted: reference implementation ref:any"));
  EXPECT_THAT(text, HasSubstr("other: other 1.0; clock wall; chose jit (1)"));
  EXPECT_THAT(text, HasSubstr("c has no time: nothing was timed"));
  EXPECT_THAT(text, HasSubstr("Published, on Tesla V100 (a paper; read off), not measured here"));
  EXPECT_THAT(text, Not(HasSubstr("warning")));
  BenchResult disturbed = result();
  disturbed.rows[0].sides[1].time->preempted = 9;
  EXPECT_THAT(format_bench(disturbed, "md"), HasSubstr("warning: other programs ran during 9 of 21 samples"));
}

TEST(Bench, CsvHasOneWidthAndJsonTheSameNumbers) {
  const std::string text = format_bench(result(), "csv");
  const std::vector<std::string> lines = split(trim(text), '\n');
  EXPECT_EQ(lines.size(), 1u + 3 + 4 + 2);  // head, rows, sides, published
  for (const std::string& line : lines) {
    bool quoted = false;
    int commas = 0;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++commas;
    }
    EXPECT_EQ(commas, 19) << line;
  }
  const Json json = parse_json(format_bench(result(), "json"), "json");
  EXPECT_EQ(json["baselines"][0]["arithmetic_mean"], 1.25);
  EXPECT_EQ(json["rows"][0]["sides"][1]["time"]["seconds"], 4e-3);
  EXPECT_EQ(json["published"]["device"], "Tesla V100");
  EXPECT_THAT(message_of([] { check_bench_format("mdd"); }), HasSubstr("did you mean 'md'"));
}

TEST(Bench, ResultsComeBackFromDisk) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("s.results");
  const BenchKey key{"a device", "1", "cold"}, other{"another", "1", "cold"};
  std::vector<std::string> warnings;
  BenchStore(path, other, warnings).put(row("a", 7, {}));
  BenchStore store(path, key, warnings);
  for (const BenchRow& r : result().rows) store.put(r);
  store.put(BenchPeak{5e9, "sum"});
  BenchStore again(path, key, warnings);
  ASSERT_NE(again.find("a", op()), nullptr);
  EXPECT_EQ(to_json(*again.find("a", op())), to_json(result().rows[0]));
  EXPECT_EQ(again.find("c", op())->error, "nothing was timed");
  EXPECT_EQ(again.find("a", op("64x97")), nullptr);  // another operator under the id
  EXPECT_EQ(again.peak().bytes_per_second, 5e9);
  EXPECT_EQ(BenchStore(path, other, warnings).find("a", op())->tuned.seconds, 7);
  EXPECT_TRUE(warnings.empty());

  write_file_atomically(path, read_file(path) + "{\"redtune_bench\":1,\"kind\":\"ro");
  BenchStore torn(path, key, warnings);
  EXPECT_NE(torn.find("b", op()), nullptr);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("line skipped"));
  write_file_atomically(path, "a letter");
  EXPECT_THAT(message_of([&] { BenchStore(path, key, warnings); }), HasSubstr("not a file of bench results"));
}

TEST(Bench, OuterAxisShrinksUntilItFits) {
  std::string what;
  const Operator big = op("1000x1000");  // 4 MB
  EXPECT_EQ(scaled_operator(big, 3, 12e6, what), big);
  EXPECT_EQ(what, "");
  const Operator half = scaled_operator(big, 3, 7e6, what);
  EXPECT_EQ(half.input().shape, (std::vector<std::int64_t>{500, 1000}));
  EXPECT_THAT(what, HasSubstr("axis 0 from 1000 to 500"));
  EXPECT_EQ(scaled_operator(op("1x1000x1000"), 3, 4e6, what).input().shape,
            (std::vector<std::int64_t>{1, 250, 1000}));
}

TEST(Bench, BaselinesAreKnownByName) {
  EXPECT_EQ(message_of([] {
              for (const char* name : {"default", "no_atomic", "best_last_block", "onednn", "cub"}) {
                check_baseline_name(name);
              }
            }),
            "no error");
  EXPECT_THAT(message_of([] { check_baseline_name("onedn"); }), HasSubstr("did you mean 'onednn'"));
  EXPECT_THAT(message_of([] { check_baseline_name("best_tre"); }), HasSubstr("tree"));
}

}  // namespace
}  // namespace redtune
