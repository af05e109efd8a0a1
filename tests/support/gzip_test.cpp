#include "support/gzip.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

using namespace std::string_literals;

// "redtune\n", as `gzip -n` packs it.
const std::string kPacked =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x2b\x4a\x4d\x29\x29\xcd\x4b\xe5\x02\x00\xfd\xe1\x19\x2b\x08\x00\x00\x00"s;

TEST(Gzip, KnowsItsOwn) {
  EXPECT_TRUE(is_gzip(kPacked));
  EXPECT_FALSE(is_gzip("{\"cache\": {}}"));
  EXPECT_FALSE(is_gzip(""));
}

TEST(Gzip, Unpacks) { EXPECT_EQ(gunzip(kPacked, "x.gz"), "redtune\n"); }

TEST(Gzip, UnpacksSeveralMembers) { EXPECT_EQ(gunzip(kPacked + kPacked, "x.gz"), "redtune\nredtune\n"); }

TEST(Gzip, NamesTheFileWhenTornAnywhere) {
  for (std::size_t size = 2; size < kPacked.size(); ++size) {
    const std::string message = message_of([&] { gunzip(kPacked.substr(0, size), "x.gz"); });
    EXPECT_NE(message.find("x.gz: the gzip file ends in the middle"), std::string::npos)
        << size << ": " << message;
  }
}

TEST(Gzip, NamesTheFileWhenChanged) {
  std::string changed = kPacked;
  changed[12] = '\x77';
  EXPECT_NE(message_of([&] { gunzip(changed, "x.gz"); }).find("x.gz: "), std::string::npos);
}

TEST(Gzip, ReadsEitherKindOfFile) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("x");
  std::ofstream(path, std::ios::binary) << kPacked;
  EXPECT_EQ(read_maybe_gzip(path), "redtune\n");
  std::ofstream(path, std::ios::trunc) << "plain";
  EXPECT_EQ(read_maybe_gzip(path), "plain");
}

}  // namespace
}  // namespace redtune
