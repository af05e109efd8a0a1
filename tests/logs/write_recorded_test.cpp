// What is written for other tools, read again by redtune's own readers of their formats.
#include "logs/write_recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "logs/recorded_space.h"

namespace redtune {
namespace {

using testing::HasSubstr;

Record record(const std::string& schedule, OutcomeKind kind, std::vector<double> seconds = {}) {
  Record record{{"sum(f32[8,64];axes=1)->f32 @ cpu", "a device", "cold/opencl_events"}, parse_schedule(schedule), {},
                "0123456789abcdef", "2026-01-31T12:00:00Z"};
  record.outcome.kind = kind;
  record.outcome.compile_seconds = 0.25;
  record.outcome.measure_seconds = 0.5;
  record.outcome.seconds = std::move(seconds);
  if (!record.outcome.seconds.empty()) record.outcome.median_seconds = record.outcome.seconds.front();
  return record;
}

LogContents log() {
  LogContents contents;
  contents.records = {record("rx=1 vec=4", OutcomeKind::kTimed, {0.002, 0.001, 0.003}),
                      record("rx=1 vec=16", OutcomeKind::kTimed, {0.004}),
                      record("block=tree rx=8", OutcomeKind::kCompileFailed),
                      record("block=tree rx=64", OutcomeKind::kWrongResult),
                      record("block=lane rx=8", OutcomeKind::kRejected),
                      record("block=lane rx=64", OutcomeKind::kTimedOut),
                      record("rx=1 vec=4", OutcomeKind::kTimed, {0.005, 0.006})};
  return contents;
}

// As far as both formats can tell.
void expect_same(const RecordedSpace& written, const RecordedSpace& ours) {
  ASSERT_EQ(written.points.size(), ours.points.size());
  ASSERT_EQ(written.parameters.size(), ours.parameters.size());
  for (std::size_t p = 0; p < ours.parameters.size(); ++p) {
    EXPECT_EQ(written.parameters[p].name, ours.parameters[p].name);
    EXPECT_EQ(written.parameters[p].values, ours.parameters[p].values);
  }
  for (std::size_t i = 0; i < ours.points.size(); ++i) {
    const RecordedPoint &a = written.points[i], &b = ours.points[i];
    EXPECT_EQ(a.levels, b.levels);
    EXPECT_EQ(a.failed(), b.failed());
    EXPECT_NEAR(a.value * written.unit_seconds, b.value * ours.unit_seconds, 1e-12);
    EXPECT_NEAR(a.cost_seconds, b.cost_seconds, 1e-9);
  }
}

TEST(WriteRecorded, CachefileIsReadBack) {
  const LogContents contents = log();
  const RecordedSpace ours = recorded_spaces_of_log(contents, "log").at(0);
  const std::string text = cachefile_text(task_records(contents).at(0), "sum", {8, 64});
  const RecordedSpace written = parse_cachefile(text, "x.json");
  EXPECT_EQ(written.name, "sum on a device");
  EXPECT_EQ(written.points[0].value, 3);  // the median of both rounds, in milliseconds
  EXPECT_EQ(written.points[2].failure, "CompilationFailedConfig");
  EXPECT_EQ(written.points[3].failure, "RuntimeFailedConfig");
  EXPECT_EQ(written.points[4].failure, "InvalidConfig");
  expect_same(written, ours);
}

// What Kernel Tuner relies on when it appends: the head with a newline per element, a line per configuration, and the
// two closing braces as the last three characters.
TEST(WriteRecorded, CachefileIsLaidOutAsKernelTunerWritesIt) {
  const LogContents contents = log();
  const std::string text = cachefile_text(task_records(contents).at(0), "sum", {8, 64});
  EXPECT_TRUE(text.ends_with("}\n}")) << text;
  EXPECT_TRUE(text.starts_with("{\n\"device_name\": \"a device\",\n\"kernel_name\": \"sum\",\n")) << text;
  EXPECT_THAT(text, HasSubstr("\"problem_size\": [\n8,\n64\n],"));
  EXPECT_THAT(text, HasSubstr(",\n\"cache\": {\n\"none,none,chunked,1,1,4,1,1,1,1,1,0,1\": {\"block\":\"none\""));
  const Json document = parse_json(text, "x.json");
  for (const auto& [key, entry] : document["cache"].items()) {
    std::string joined;
    for (const Json& name : document["tune_params_keys"]) {
      const Json& value = entry.at(name.get<std::string>());
      joined += (joined.empty() ? "" : ",") + (value.is_string() ? value.get<std::string>() : value.dump());
      const Json& all = document["tune_params"][name.get<std::string>()];
      EXPECT_NE(std::find(all.begin(), all.end(), value), all.end());
    }
    EXPECT_EQ(joined, key);
    for (const char* member : {"compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"})
      EXPECT_TRUE(entry.at(member).is_number()) << member;
    EXPECT_EQ(entry["timestamp"], "2026-01-31 12:00:00.000000+00:00");
  }
  EXPECT_EQ(document["cache"].begin().value()["times"].size(), 5u);
}

TEST(WriteRecorded, T4IsReadBack) {
  const LogContents contents = log();
  const RecordedSpace ours = recorded_spaces_of_log(contents, "log").at(0);
  const Json document = t4_document(task_records(contents).at(0));
  expect_same(parse_t4(document, "x.json"), ours);
}

// The T4 results schema, 1.0.0: what it requires and the words it allows.
TEST(WriteRecorded, T4KeepsToItsSchema) {
  const LogContents contents = log();
  const Json document = t4_document(task_records(contents).at(0));
  EXPECT_EQ(document["schema_version"], "1.0.0");
  std::vector<std::string> words;
  for (const Json& result : document["results"]) {
    EXPECT_TRUE(result.at("configuration").is_object());
    EXPECT_TRUE(result.at("times").is_object());
    EXPECT_TRUE(result.at("correctness").is_number());
    words.push_back(result.at("invalidity"));
    EXPECT_EQ(result["correctness"] == 1, words.back() == "correct");
    EXPECT_EQ(result["times"]["runtimes"].empty(), words.back() != "correct");
    for (const Json& measurement : result["measurements"]) {
      EXPECT_TRUE(measurement.at("name").is_string() && measurement.at("unit").is_string());
    }
  }
  EXPECT_THAT(words, testing::ElementsAre("correct", "correct", "compile", "correctness", "constraints", "timeout"));
}

}  // namespace
}  // namespace redtune
