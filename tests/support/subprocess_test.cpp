#include "support/subprocess.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "support/files.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

// Generous: only a hang reaches it.
constexpr double kPatience = 30;

SubprocessOptions shell(const std::string& script) { return {{"/bin/sh", "-c", script}, {}, ""}; }

// A process is gone when it cannot be signalled, or is only a zombie waiting for whoever adopted it.
bool gone(pid_t pid) {
  if (::kill(pid, 0) != 0) return true;
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  return stat.substr(stat.rfind(')')).starts_with(") Z");
}

bool goes(pid_t pid) {
  for (int i = 0; i < 3000; ++i) {
    try {
      if (gone(pid)) return true;
    } catch (const UserError&) {
      return true;  // it went between the two questions
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Subprocess, SpeaksInLines) {
  Subprocess child({{"/bin/cat"}, {}, ""});
  for (const std::string text : {"one", "", "three words here"}) {
    ASSERT_TRUE(child.write_line(text, kPatience));
    const ReadLine line = child.read_line(kPatience);
    ASSERT_EQ(line.state, ReadLine::State::kLine);
    EXPECT_EQ(line.text, text);
  }
  child.close_stdin();
  EXPECT_EQ(child.read_line(kPatience).state, ReadLine::State::kClosed);
  EXPECT_EQ(child.wait(kPatience), ExitStatus{});
}

TEST(Subprocess, CarriesLinesLargerThanAnyPipe) {
  Subprocess child({{"/bin/cat"}, {}, ""});
  const std::string large(4 << 20, 'x');
  std::thread writer([&] { EXPECT_TRUE(child.write_line(large, kPatience)); });
  const ReadLine line = child.read_line(kPatience);
  writer.join();
  ASSERT_EQ(line.state, ReadLine::State::kLine);
  EXPECT_EQ(line.text, large);
}

TEST(Subprocess, ATimeoutKeepsTheBeginningOfALine) {
  Subprocess child(shell("printf 'begin'; read x; echo \" $x\"; printf tail"));
  EXPECT_EQ(child.read_line(0.05).state, ReadLine::State::kTimeout);
  ASSERT_TRUE(child.write_line("end", kPatience));
  EXPECT_EQ(child.read_line(kPatience).text, "begin end");
  const ReadLine rest = child.read_line(kPatience);
  EXPECT_EQ(rest.state, ReadLine::State::kClosed);
  EXPECT_EQ(rest.text, "tail");
}

TEST(Subprocess, TellsHowTheChildEnded) {
  Subprocess failing(shell("exit 7"));
  EXPECT_EQ(failing.wait(kPatience), (ExitStatus{7, 0}));
  EXPECT_EQ(failing.wait(0), (ExitStatus{7, 0}));
  EXPECT_EQ(failing.kill(), (ExitStatus{7, 0}));
  Subprocess crashing(shell("kill -SEGV $$"));
  EXPECT_EQ(crashing.wait(kPatience), (ExitStatus{0, SIGSEGV}));
  EXPECT_EQ((ExitStatus{7, 0}).describe(), "exit code 7");
  EXPECT_EQ((ExitStatus{0, SIGSEGV}).describe(), "signal 11 (Segmentation fault)");
}

TEST(Subprocess, KillsAChildThatHangsAndWhatItStarted) {
  Subprocess child(shell("sleep 600 & echo $!; trap '' TERM; wait; sleep 600"));
  const pid_t grandchild = std::stoi(child.read_line(kPatience).text);
  EXPECT_FALSE(child.wait(0.02).has_value());
  EXPECT_EQ(child.kill(), (ExitStatus{0, SIGKILL}));
  EXPECT_TRUE(goes(grandchild));
}

TEST(Subprocess, AChildThatEndsLeavesNothingRunning) {
  Subprocess child(shell("sleep 600 >/dev/null & echo $!"));
  const pid_t grandchild = std::stoi(child.read_line(kPatience).text);
  EXPECT_EQ(child.wait(kPatience), ExitStatus{});
  EXPECT_TRUE(goes(grandchild));
}

TEST(Subprocess, IsKilledAndReapedByDestruction) {
  pid_t pid = 0;
  {
    Subprocess child(shell("exec sleep 600"));
    pid = child.pid();
    Subprocess moved = std::move(child);
    EXPECT_FALSE(gone(pid));
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(Subprocess, DiesWithItsParent) {
  // The shell in the middle is a parent that gets no chance to clean up.
  Subprocess outer(shell("exec " REDTUNE_TEST_PARENT));
  const ReadLine line = outer.read_line(kPatience);
  ASSERT_EQ(line.state, ReadLine::State::kLine);
  const pid_t inner = std::stoi(line.text);
  // The inner child leads a group of its own: killing the outer group alone would not reach it.
  outer.kill();
  EXPECT_TRUE(goes(inner));
}

TEST(Subprocess, WritingToADeadChildIsAnAnswerNotASignal) {
  Subprocess child(shell("exit 0"));
  ASSERT_TRUE(child.wait(kPatience).has_value());
  EXPECT_FALSE(child.write_line("hello", kPatience));
}

TEST(Subprocess, WritingToADeafChildEndsAtTheDeadline) {
  Subprocess child(shell("exec sleep 600"));
  EXPECT_FALSE(child.write_line(std::string(16 << 20, 'x'), 0.05));
}

TEST(Subprocess, PassesEnvironmentAndStderr) {
  TemporaryDirectory directory;
  ::setenv("REDTUNE_TEST_A", "inherited", 1);
  SubprocessOptions options = shell("echo \"$REDTUNE_TEST_A $REDTUNE_TEST_B\"; echo oops >&2");
  options.extra_environment = {"REDTUNE_TEST_A=replaced", "REDTUNE_TEST_B=added"};
  options.stderr_path = directory.file("err");
  const CapturedRun run = run_captured(options, kPatience);
  EXPECT_EQ(run.output, "replaced added\n");
  EXPECT_EQ(run.status, ExitStatus{});
  EXPECT_EQ(read_file(directory.file("err")), "oops\n");
}

TEST(Subprocess, AMissingProgramIsToldAtOnce) {
  EXPECT_EQ(message_of([] { Subprocess child({{"/no/such/program"}, {}, ""}); }),
            "cannot start /no/such/program: No such file or directory");
  EXPECT_EQ(message_of([] { Subprocess child({{"/etc/passwd"}, {}, ""}); }),
            "cannot start /etc/passwd: Permission denied");
}

TEST(Subprocess, ManyThreadsSpawnAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        const std::string word = std::to_string(t * 100 + i);
        EXPECT_EQ(run_captured({{"/bin/echo", word}, {}, ""}, kPatience).output, word + "\n");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RunCaptured, HasNoStatusAfterATimeout) {
  EXPECT_FALSE(run_captured(shell("echo a; exec sleep 600"), 0.05).status.has_value());
}

}  // namespace
}  // namespace redtune
