#include "support/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

namespace fs = std::filesystem;

TEST(Files, ReadBackWhatWasWritten) {
  TemporaryDirectory directory;
  const std::string path = directory.file("a");
  const std::string content("a\0b\n\xff", 5);
  write_file_atomically(path, content);
  EXPECT_EQ(read_file(path), content);
  write_file_atomically(path, "");
  EXPECT_EQ(read_file(path), "");
}

TEST(Files, EveryFailureNamesPathAndReason) {
  TemporaryDirectory directory;
  const std::string missing = directory.file("no/such");
  EXPECT_EQ(message_of([&] { read_file(missing); }), "cannot read " + missing + ": No such file or directory");
  EXPECT_EQ(message_of([&] { read_file(directory.path()); }), "cannot read " + directory.path() + ": Is a directory");
  EXPECT_EQ(message_of([&] { write_file_atomically(missing, "x"); }),
            "cannot write " + missing + ": No such file or directory");
  EXPECT_EQ(message_of([&] { write_file_atomically(directory.path(), "x"); }),
            "cannot write " + directory.path() + ": Is a directory");
  write_file_atomically(directory.file("file"), "x");
  EXPECT_NE(message_of([&] { make_directories(directory.file("file/sub")); }), "no error");
}

TEST(Files, WritingLeavesNoTemporaryAndKeepsMode) {
  TemporaryDirectory directory;
  const std::string path = directory.file("a");
  write_file_atomically(path, "old");
  ASSERT_EQ(::chmod(path.c_str(), 0640), 0);
  write_file_atomically(path, "new");
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), fs::directory_iterator()), 1);
}

TEST(Files, WritingGoesThroughALinkAndIntoADevice) {
  TemporaryDirectory directory;
  write_file_atomically(directory.file("target"), "old");
  fs::create_symlink("target", directory.file("link"));
  write_file_atomically(directory.file("link"), "new");
  EXPECT_TRUE(fs::is_symlink(directory.file("link")));
  EXPECT_EQ(read_file(directory.file("target")), "new");
  write_file_atomically("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST(Files, ReadersSeeOldOrNewNeverAPart) {
  TemporaryDirectory directory;
  const std::string path = directory.file("a");
  const std::string one(200000, '1'), two(100000, '2');
  write_file_atomically(path, one);
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) write_file_atomically(path, i % 2 ? one : two);
  });
  for (int i = 0; i < 200; ++i) {
    const std::string seen = read_file(path);
    EXPECT_TRUE(seen == one || seen == two) << seen.size();
  }
  writer.join();
}

TEST(DataDirectory, IsTheChosenOneOrTheSourceTree) {
  TemporaryDirectory directory;
  ::setenv("REDTUNE_DATA", directory.path().c_str(), 1);
  EXPECT_EQ(data_directory(), directory.path());
  ::setenv("REDTUNE_DATA", "/no/such/place", 1);
  EXPECT_EQ(message_of([] { data_directory(); }), "REDTUNE_DATA: no directory at /no/such/place");
  ::unsetenv("REDTUNE_DATA");
  EXPECT_EQ(fs::canonical(data_directory()), fs::canonical(REDTUNE_SOURCE_DIR "/configs"));
}

TEST(UserCache, FollowsTheEnvironment) {
  TemporaryDirectory directory;
  ::setenv("XDG_CACHE_HOME", directory.path().c_str(), 1);
  EXPECT_EQ(user_cache_directory(), directory.file("redtune"));
  EXPECT_TRUE(fs::is_directory(directory.file("redtune")));
  ::setenv("XDG_CACHE_HOME", "/dev/null/x", 1);
  EXPECT_EQ(user_cache_directory(), "");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", directory.path().c_str(), 1);
  EXPECT_EQ(user_cache_directory(), directory.file(".cache/redtune"));
}

TEST(ExecutableDirectory, HoldsThisTest) { EXPECT_TRUE(fs::exists(executable_directory() + "/test_support")); }

}  // namespace
}  // namespace redtune
