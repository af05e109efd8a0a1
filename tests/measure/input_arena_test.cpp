#include "measure/input_arena.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <vector>

namespace redtune {
namespace {

constexpr std::int64_t kMega = 1 << 20;
constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

TEST(InputArena, ColdCopiesExceedTheCacheByAQuarter) {
  for (std::int64_t bytes : {4LL, 1000LL, 3LL << 20, 9LL << 20}) {
    const ArenaLayout layout = arena_layout(bytes, 8 * kMega, true, kPlenty);
    EXPECT_GT(layout.copies * layout.stride_bytes, 10 * kMega) << bytes;
    EXPECT_GE(layout.stride_bytes, bytes + kGuardBytes) << bytes;
    EXPECT_EQ(layout.stride_bytes % 128, 0) << bytes;
  }
}

TEST(InputArena, OneCopyWhenHotOrLargerThanTheCache) {
  EXPECT_EQ(arena_layout(kMega, 8 * kMega, false, kPlenty).copies, 1);
  EXPECT_EQ(arena_layout(100 * kMega, 8 * kMega, true, kPlenty).copies, 1);
  EXPECT_EQ(arena_layout(0, 8 * kMega, true, kPlenty).copies, 1);
}

TEST(InputArena, StaysWithinWhatIsAllowed) {
  const ArenaLayout layout = arena_layout(kMega, 300 * kMega, true, 20 * kMega);
  EXPECT_LE(layout.bytes(), 20 * kMega);
  EXPECT_GE(layout.copies, 19);
  EXPECT_EQ(arena_layout(kMega, 300 * kMega, true, 0).copies, 1);
}

TEST(InputArena, EveryCopyHoldsTheInput) {
  const std::vector<unsigned char> input{1, 2, 3, 4, 5};
  const ArenaLayout layout = arena_layout(5, 1024, true, kPlenty);
  const SharedMemory arena = make_arena(layout, input);
  ASSERT_GT(layout.copies, 1);
  for (std::int64_t copy = 0; copy < layout.copies; ++copy) {
    EXPECT_EQ(std::memcmp(arena.data() + layout.offset(copy), input.data(), input.size()), 0) << copy;
  }
}

TEST(SharedMemory, IsSeenThroughItsPath) {
  const SharedMemory owner = SharedMemory::create("test", 8192);
  const SharedMemory other = SharedMemory::open(owner.path(), 8192, SharedMemory::Access::kReadWrite, true);
  other.data()[8191] = 42;
  EXPECT_EQ(owner.data()[8191], 42);
}

TEST(SharedMemory, ReadersCannotChangeIt) {
  const SharedMemory owner = SharedMemory::create("test", 8192);
  const SharedMemory reader = SharedMemory::open(owner.path(), 8192, SharedMemory::Access::kRead, false);
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    reader.data()[0] = 1;
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(owner.data()[0], 0);
}

TEST(SharedMemory, NothingIsLegalToo) {
  const SharedMemory owner = SharedMemory::create("test", 0);
  EXPECT_EQ(SharedMemory::open(owner.path(), 0, SharedMemory::Access::kRead, true).bytes(), 0);
}

}  // namespace
}  // namespace redtune
