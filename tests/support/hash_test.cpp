#include "support/hash.h"

#include <gtest/gtest.h>

#include <set>

namespace redtune {
namespace {

// Keys of logs and caches rest on these values: a change here makes every stored key stale.
TEST(Hash64, HasFixedValues) {
  EXPECT_EQ(hex64(hash64("")), "fdbdf6ac4fc52e7f");
  EXPECT_EQ(hex64(hash64("sum f32 [1024x1024]")), "f569f1e270035479");
}

TEST(Hash64, ToldApartByOneLetterOrSeed) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10000; ++i) seen.insert(hash64("key " + std::to_string(i)));
  EXPECT_EQ(seen.size(), 10000u);
  EXPECT_NE(hash64("a", 1), hash64("a", 2));
  EXPECT_NE(hash64("ab"), hash64("ba"));
}

TEST(Hex64, IsSixteenLowerCaseDigits) {
  EXPECT_EQ(hex64(0), "0000000000000000");
  EXPECT_EQ(hex64(0x123456789abcdef0u), "123456789abcdef0");
  EXPECT_EQ(hex64(~0ull), "ffffffffffffffff");
}

}  // namespace
}  // namespace redtune
