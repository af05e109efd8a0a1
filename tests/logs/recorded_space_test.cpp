#include "logs/recorded_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHead = R"({
"device_name": "A device",
"kernel_name": "vector_add",
"problem_size": [1024],
"tune_params_keys": ["x", "mode"],
"tune_params": {"x": [32, 64, 128], "mode": ["a", "b"]},
"objective": "time",
"cache": {
)";
constexpr const char* kFirst =
    R"("64,b": {"x": 64, "mode": "b", "time": 2.5, "times": [2.4, 2.6], "compile_time": 900, "verification_time": 0, )"
    R"("benchmark_time": 80, "strategy_time": 0, "framework_time": 20})";
constexpr const char* kOldFailure =
    R"("32,a": {"x": 32, "mode": "a", "time": "CompilationFailedConfig", "compile_time": 500})";
constexpr const char* kNewFailure =
    R"("128,a": {"x": 128, "mode": "a", "time": 1e20, "__error__": "RuntimeFailedConfig", "compile_time": 700})";

std::string cachefile(const std::string& entries, const std::string& end = "}\n}") {
  return std::string(kHead) + entries + end;
}

std::string all_entries() { return std::string(kFirst) + ",\n" + kOldFailure + ",\n" + kNewFailure; }

void expect_three_points(const RecordedSpace& space) {
  ASSERT_EQ(space.points.size(), 3u);
  EXPECT_EQ(space.failures(), 2u);
  EXPECT_EQ(space.optimum(), 2.5);
  EXPECT_DOUBLE_EQ(space.points[0].cost_seconds, 1.0);
  EXPECT_EQ(space.points[1].failure, "CompilationFailedConfig");
  EXPECT_EQ(space.points[2].failure, "RuntimeFailedConfig");
  EXPECT_DOUBLE_EQ(space.points[2].cost_seconds, 0.7);
}

TEST(Cachefile, ReadsValuesFailuresAndCosts) {
  const RecordedSpace space = parse_cachefile(cachefile(all_entries()), "x.json");
  EXPECT_EQ(space.name, "vector_add on A device");
  EXPECT_EQ(space.objective, "time");
  ASSERT_EQ(space.parameters.size(), 2u);
  EXPECT_EQ(space.parameters[0].name, "x");
  EXPECT_EQ(space.parameters[0].values, (std::vector<Json>{32, 64, 128}));
  EXPECT_THAT(space.points[0].levels, ElementsAre(1, 1));
  expect_three_points(space);
}

TEST(Cachefile, ReadsWhatARunHasLeftOpen) {
  expect_three_points(parse_cachefile(cachefile(all_entries(), ""), "x.json"));
  expect_three_points(parse_cachefile(cachefile(all_entries(), ","), "x.json"));
  expect_three_points(parse_cachefile(cachefile(all_entries(), ",\n"), "x.json"));
}

TEST(Cachefile, ATornEntryCostsOnlyItself) {
  const std::string torn = R"("128,b": {"x": 128, "mode": "b", "time": 1.)";
  for (std::size_t size = 1; size <= torn.size(); ++size) {
    expect_three_points(
        parse_cachefile(cachefile(all_entries() + ",\n" + torn.substr(0, size), ""), "x.json"));
  }
}

TEST(Cachefile, NamesFileAndField) {
  const auto complaint = [](const std::string& entries) {
    return message_of([&] { parse_cachefile(cachefile(entries), "x.json"); });
  };
  EXPECT_THAT(complaint(R"("32,a": {"x": 32, "time": 1})"),
              HasSubstr("x.json: field 'cache.32,a.mode' is missing"));
  EXPECT_THAT(complaint(R"("32,a": {"x": 32, "mode": "a"})"),
              HasSubstr("x.json: field 'cache.32,a.time' is missing"));
  EXPECT_THAT(complaint(R"("32,a": {"x": 32, "mode": "a", "time": -1})"),
              HasSubstr("'cache.32,a.time' must be above 0"));
  EXPECT_THAT(complaint(R"("48,a": {"x": 48, "mode": "a", "time": 1})"),
              HasSubstr("'cache.48,a.x' is 48.0, which is none"));
  EXPECT_THAT(message_of([] { parse_cachefile("{\"tune_params_keys\": 1}", "x.json"); }),
              HasSubstr("x.json: field"));
  EXPECT_THAT(message_of([] { parse_cachefile("{\"cache\": ", "x.json"); }), HasSubstr("x.json"));
}

TEST(Cachefile, RefusesRates) {
  std::string text = cachefile(kFirst);
  text.replace(text.find("\"time\""), 6, "\"GFLOP/s\"");
  EXPECT_THAT(message_of([&] { parse_cachefile(text, "x.json"); }),
              HasSubstr("field 'objective' is 'GFLOP/s'"));
}

// ---- T4

Json kernel_tuner_dialect() {
  return Json::parse(R"({"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": [
    {"configuration": {"x": 64, "mode": "b"}, "objectives": ["time"], "invalidity": "correct", "correctness": 1,
     "times": {"compilation": 900, "benchmark": 80, "framework": 20, "search_algorithm": 0, "validation": 0,
               "runtimes": [2.4, 2.6]},
     "measurements": [{"name": "GFLOP/s", "value": 3, "unit": ""}, {"name": "time", "value": 2.5, "unit": "ms"}]},
    {"configuration": {"x": 32, "mode": "a"}, "objectives": ["time"], "invalidity": "compile", "correctness": 1,
     "times": {"compilation": 500, "benchmark": 0, "runtimes": []},
     "measurements": [{"name": "time", "value": "CompilationFailedConfig", "unit": ""}]}]})");
}

Json hub_dialect() {
  return Json::parse(R"({"schema_version": "1.0.0", "metadata": {"timeunit": "miliseconds"}, "results": [
    {"configuration": {"x": 64, "mode": "b"}, "objectives": ["time"], "invalidity": "correct", "correctness": 1,
     "times": {"compilation": 915, "framework": 80, "runtimes": [2.4, 2.6]},
     "measurements": [{"name": "time", "value": 2.5, "unit": ""}]},
    {"configuration": {"x": 32, "mode": "a"}, "objectives": ["time"], "invalidity": "runtime", "correctness": 0,
     "times": {"compilation": 500, "framework": 0},
     "measurements": [{"name": "time", "value": "RuntimeFailedConfig", "unit": ""}]}]})");
}

Json ktt_dialect() {
  return Json::parse(R"({"schema_version": "1.0.0", "results": [
    {"configuration": {"x": 64, "mode": "b"}, "objectives": ["TotalDuration"], "invalidity": "correct", "correctness": 1,
     "times": {"compilation_time": 900, "framework": 95, "runtimes": [2.4, 2.6]},
     "measurements": [{"name": "TotalDuration", "value": 2500, "unit": "Microseconds"}]},
    {"configuration": {"x": 32, "mode": "a"}, "objectives": ["TotalDuration"], "invalidity": "correctness",
     "correctness": 0, "times": {"compilation_time": 500}, "measurements": []}]})");
}

TEST(T4, ReadsEveryDialect) {
  for (const Json& document : {kernel_tuner_dialect(), hub_dialect(), ktt_dialect()}) {
    const RecordedSpace space = parse_t4(document, "x.json");
    ASSERT_EQ(space.points.size(), 2u);
    EXPECT_DOUBLE_EQ(space.points[0].value * space.unit_seconds, 2.5e-3);
    EXPECT_DOUBLE_EQ(space.points[0].cost_seconds, 1.0);
    EXPECT_TRUE(space.points[1].failed());
    EXPECT_DOUBLE_EQ(space.points[1].cost_seconds, 0.5);
    EXPECT_EQ(space.parameters[0].values, (std::vector<Json>{32, 64}));
  }
}

TEST(T4, TrustsNoCorrectnessAlone) {
  Json document = kernel_tuner_dialect();  // the failure claims correctness 1
  EXPECT_EQ(parse_t4(document, "x.json").failures(), 1u);
  document["results"][0]["measurements"][1]["value"] = "TimeoutConfig";
  EXPECT_EQ(parse_t4(document, "x.json").failures(), 2u);
}

TEST(T4, NamesFileAndField) {
  const auto complaint = [](auto&& change) {
    Json document = kernel_tuner_dialect();
    change(document["results"][0]);
    return message_of([&] { parse_t4(document, "x.json"); });
  };
  EXPECT_THAT(complaint([](Json& r) { r.erase("configuration"); }),
              HasSubstr("x.json: field 'results[0].configuration' is missing"));
  EXPECT_THAT(complaint([](Json& r) { r["configuration"]["x"] = Json::array(); }),
              HasSubstr("'results[0].configuration.x' must be"));
  EXPECT_THAT(complaint([](Json& r) { r["measurements"].erase(1); }),
              HasSubstr("'results[0].measurements' has no 'time'"));
  EXPECT_THAT(complaint([](Json& r) { r["measurements"][1]["value"] = 0; }),
              HasSubstr("'results[0].measurements[1].value' must be above 0"));
  EXPECT_THAT(complaint([](Json& r) { r["times"] = 3; }), HasSubstr("'results[0].times' must be an object"));
  Json document = kernel_tuner_dialect();
  document["metadata"]["timeunit"] = "fortnights";
  EXPECT_THAT(message_of([&] { parse_t4(document, "x.json"); }),
              HasSubstr("'metadata.timeunit' is 'fortnights'"));
}

TEST(T4, TextThatLooksLikeCodeStaysText) {
  Json document = kernel_tuner_dialect();
  document["results"][0]["configuration"]["mode"] = "__import__('os').abort()";
  EXPECT_EQ(parse_t4(document, "x.json").parameters[1].values[1], "a");
}

// ---- own logs, and telling files apart

TEST(OwnLog, JoinsTheRoundsOfASchedule) {
  LogContents log;
  const TrialKey key{"a task", "a device", "cold/clock"};
  const auto record = [&](int rx, double seconds) {
    Record r{key, {}, {}, "", ""};
    r.schedule.rx = rx;
    r.outcome.kind = seconds > 0 ? OutcomeKind::kTimed : OutcomeKind::kWrongResult;
    r.outcome.seconds = {seconds};
    r.outcome.median_seconds = seconds;
    r.outcome.compile_seconds = 0.25;
    log.records.push_back(r);
  };
  record(1, 3e-3);
  record(2, 5e-3);
  record(1, 1e-3);
  record(4, 2e-3);
  record(4, 0);
  const auto spaces = recorded_spaces_of_log(log, "x.jsonl");
  ASSERT_EQ(spaces.size(), 1u);
  ASSERT_EQ(spaces[0].points.size(), 3u);
  EXPECT_DOUBLE_EQ(spaces[0].points[0].value, 2e-3);
  EXPECT_DOUBLE_EQ(spaces[0].points[0].cost_seconds, 0.5);
  EXPECT_EQ(spaces[0].points[2].failure, "wrong_result");
}

TEST(RecordedFile, OthersAreNamed) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x.json");
  std::ofstream(path) << "{\"op\": \"sum\"}";
  EXPECT_THAT(message_of([&] { read_recorded_spaces(path); }), HasSubstr(path + ": is no recorded space"));
  std::ofstream(path, std::ios::trunc) << cachefile(kOldFailure);
  EXPECT_THAT(message_of([&] { read_recorded_spaces(path); }),
              HasSubstr("holds no configuration that was measured"));
}

// Recorded by others on real GPUs; they lie beside the sources where they were fetched.
TEST(RecordedFile, BothFormatsOfOneRunAgree) {
  const std::string folder = REDTUNE_SOURCE_DIR "/../shared/data/hub/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recorded spaces in " << folder;
  for (const std::string name : {"A100", "A4000", "MI250X"}) {
    const RecordedSpace cache = read_recorded_spaces(folder + "convolution_milo_" + name + ".json.gz").at(0);
    const RecordedSpace t4 = read_recorded_spaces(folder + "convolution_milo_" + name + "_T4.json.gz").at(0);
    ASSERT_EQ(cache.points.size(), 4362u);
    ASSERT_EQ(t4.points.size(), 4362u);
    EXPECT_EQ(cache.failures(), name == "MI250X" ? 0u : 161u);
    for (std::size_t i = 0; i < cache.points.size(); ++i) {
      EXPECT_EQ(cache.points[i].value, t4.points[i].value);
      EXPECT_EQ(cache.points[i].failed(), t4.points[i].failed());
    }
  }
}

}  // namespace
}  // namespace redtune
