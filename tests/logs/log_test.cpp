#include "logs/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "support/files.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class LogTest : public testing::Test {
 protected:
  static Schedule schedule(int rx) {
    Schedule result;
    result.block = BlockCombine::kTree;
    result.rx = rx;
    return result;
  }

  Record record(int rx = 64) const {
    Record result{key_, schedule(rx), {}, "0123456789abcdef", "2026-01-31T12:00:00Z"};
    result.outcome.kind = OutcomeKind::kTimed;
    result.outcome.seconds = {1.1e-3, 1.2e-3, 1.0 / 3};
    result.outcome.median_seconds = 1.2e-3;
    result.outcome.low_seconds = 1.1e-3;
    result.outcome.high_seconds = 1.0 / 3;
    result.outcome.max_error = 0.25;
    return result;
  }

  void write(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }
  void write_trial(int rx = 64) const { Log(path_).trial(record(rx)); }

  TemporaryDirectory directory_;
  std::string path_ = directory_.file("log.jsonl");
  TrialKey key_{"sum(f32[4,8];axes=1)->f32@cpu", "a device", "cold/opencl_events"};
};

TEST_F(LogTest, GivesBackWhatWasWritten) {
  write_trial();
  const LogContents contents = read_log(path_);
  ASSERT_EQ(contents.records.size(), 1u);
  EXPECT_TRUE(contents.warnings.empty());
  const Record& back = contents.records[0];
  EXPECT_EQ(back.key, key_);
  EXPECT_EQ(back.schedule, schedule(64));
  EXPECT_EQ(back.program_hash, "0123456789abcdef");
  EXPECT_EQ(back.outcome.seconds, record().outcome.seconds);
  EXPECT_EQ(to_json(back).dump(), to_json(record()).dump());
}

TEST_F(LogTest, EveryOutcomeRoundTrips) {
  for (int kind = 0; kind <= static_cast<int>(OutcomeKind::kUnmeasured); ++kind) {
    Outcome outcome = record().outcome;
    outcome.kind = static_cast<OutcomeKind>(kind);
    outcome.detail = "line 1\nline \"2\"";
    EXPECT_EQ(to_json(parse_outcome(to_json(outcome), "test")).dump(), to_json(outcome).dump());
  }
}

TEST_F(LogTest, MakesItsDirectory) {
  path_ = directory_.file("a/b/log.jsonl");
  write_trial();
  EXPECT_EQ(read_log(path_).records.size(), 1u);
}

TEST_F(LogTest, MissingFileIsEmpty) { EXPECT_TRUE(read_log(path_).records.empty()); }

TEST_F(LogTest, NeverWritesNonFiniteNumbers) {
  Record bad = record();
  bad.outcome.kind = OutcomeKind::kCrashed;
  bad.outcome.median_seconds = HUGE_VAL;
  bad.outcome.spread = std::nan("");
  bad.outcome.seconds = {HUGE_VAL, 1e-3};
  bad.outcome.detail = "bytes \xff\xfe that are no UTF-8";
  Log(path_).trial(bad);
  EXPECT_EQ(read_file(path_).find("null"), std::string::npos);
  EXPECT_EQ(read_file(path_).find("inf"), std::string::npos);
  const LogContents contents = read_log(path_);
  EXPECT_TRUE(contents.warnings.empty());
  EXPECT_EQ(contents.records[0].outcome.seconds, std::vector<double>{1e-3});
}

TEST_F(LogTest, TornLastLineIsSkippedAndNamed) {
  write_trial(32);
  write(R"({"redtune_log":1,"kind":"trial","task":"su)");
  const LogContents contents = read_log(path_);
  EXPECT_EQ(contents.records.size(), 1u);
  EXPECT_THAT(contents.warnings, ElementsAre(path_ + ":2: torn line skipped"));
}

TEST_F(LogTest, NewWriterDoesNotGlueItsRecordToATornLine) {
  write_trial(32);
  write(R"({"redtune_log":1,"ki)");
  write_trial(64);
  const LogContents contents = read_log(path_);
  EXPECT_EQ(contents.records.size(), 2u);
  EXPECT_EQ(contents.warnings.size(), 1u);
}

TEST_F(LogTest, WriterThatWasOpenAllAlongEndsAnothersTornLineToo) {
  Log log(path_);
  log.trial(record(1));
  write("{\"redtune_lo");
  log.trial(record(2));
  EXPECT_EQ(read_log(path_).records.size(), 2u);
}

TEST_F(LogTest, ATornFirstLineIsOurs) {
  write("{\"redt");
  EXPECT_EQ(read_log(path_).warnings.size(), 1u);
  write_trial();
  EXPECT_EQ(read_log(path_).records.size(), 1u);
}

TEST_F(LogTest, MissingFieldIsNamedWithItsLine) {
  write_trial();
  write(R"({"redtune_log":1,"kind":"trial","task":"t","device":"d","timing":"c","program":"0"})"
        "\n");
  write_trial();
  const LogContents contents = read_log(path_);
  EXPECT_EQ(contents.records.size(), 2u);
  EXPECT_THAT(contents.warnings, ElementsAre(path_ + ":2: field 'schedule' is missing; line skipped"));
}

TEST_F(LogTest, UnknownFieldIsNamedAndTheRecordKept) {
  std::string line = to_json(record()).dump();
  line.insert(line.size() - 1, ",\"colour\":\"red\"");
  write(line + "\n");
  const LogContents contents = read_log(path_);
  EXPECT_EQ(contents.records.size(), 1u);
  ASSERT_EQ(contents.warnings.size(), 1u);
  EXPECT_THAT(contents.warnings[0], HasSubstr(":1: unknown field 'colour'"));
}

TEST_F(LogTest, NewerVersionIsRefusedByName) {
  write_trial();
  write("{\"redtune_log\":99,\"kind\":\"trial\"}\n");
  EXPECT_THAT(message_of([&] { read_log(path_); }), HasSubstr(":2: log version 99 is newer than version 1"));
}

TEST_F(LogTest, ForeignFileIsRefusedAndLeftAlone) {
  write("my diary\n");
  EXPECT_THAT(message_of([&] { read_log(path_); }), HasSubstr("is not a redtune log"));
  EXPECT_THAT(message_of([&] { Log log(path_); }), HasSubstr("is not a redtune log and was left alone"));
  EXPECT_EQ(read_file(path_), "my diary\n");
}

TEST_F(LogTest, ForceMovesAForeignFileAside) {
  write("my diary\n");
  Log(path_, true).trial(record());
  EXPECT_EQ(read_file(path_ + ".bak"), "my diary\n");
  EXPECT_EQ(read_log(path_).records.size(), 1u);
}

TEST_F(LogTest, ReadOnlyLogIsReadAndNotTouched) {
  write_trial();
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  const auto before = std::filesystem::last_write_time(path_);
  EXPECT_EQ(read_log(path_).records.size(), 1u);
  EXPECT_EQ(std::filesystem::last_write_time(path_), before);
}

TEST_F(LogTest, FullDiskNamesPathAndReason) {
  EXPECT_THAT(message_of([&] { Log("/dev/full").trial(record()); }),
              HasSubstr("cannot write /dev/full: No space left on device"));
}

TEST_F(LogTest, UnwritableDirectoryIsNamed) {
  EXPECT_THAT(message_of([&] { Log("/proc/nowhere/log.jsonl"); }), HasSubstr("/proc/nowhere"));
}

TEST_F(LogTest, StartedWithoutTrialIsUnfinished) {
  Log log(path_);
  log.started(key_, schedule(8), "h");
  log.trial(record(8));
  log.started(key_, schedule(16), "h");
  log.end("interrupted");
  const LogContents contents = read_log(path_);
  ASSERT_EQ(contents.unfinished.size(), 1u);
  EXPECT_EQ(contents.unfinished[0].second, schedule(16));
}

TEST_F(LogTest, ManyProcessesMayAppendAtOnce) {
  constexpr int kProcesses = 8, kLines = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      Log log(path_);
      Record one = record();
      one.outcome.detail = std::string(3000, static_cast<char>('a' + p));
      for (int i = 0; i < kLines; ++i) log.trial(one);
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const LogContents contents = read_log(path_);
  EXPECT_EQ(contents.records.size(), static_cast<std::size_t>(kProcesses * kLines));
  EXPECT_TRUE(contents.warnings.empty());
}

}  // namespace
}  // namespace redtune
