#include "codegen/kernel_cache.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "support/files.h"
#include "tests/codegen/nvrtc_fixture.h"
#include "tests/support/temporary_directory.h"

namespace redtune {
namespace {

NvrtcResult some_result() {
  NvrtcResult result;
  result.ok = true;
  result.log = "line \"one\"\nline two";
  result.image = {'\0', '\n', 'x', '\xff', '\n'};
  result.kernels = {{"k", 40, 1024, 16, 8, 4}};
  return result;
}

std::string only_file(const std::string& directory) {
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) found = entry.path();
  return found;
}

TEST(KernelCache, GivesBackWhatWasStored) {
  const TemporaryDirectory directory;
  KernelCache cache(directory.file("deep/er"));
  EXPECT_FALSE(cache.find("k1"));
  cache.store("k1", some_result());
  const std::optional<NvrtcResult> found = cache.find("k1");
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->ok && found->from_cache);
  EXPECT_EQ(found->image, some_result().image);
  EXPECT_EQ(found->log, some_result().log);
  EXPECT_EQ(found->kernels, some_result().kernels);
  EXPECT_EQ(cache.hits(), 1u);
  EXPECT_EQ(cache.misses(), 1u);
}

TEST(KernelCache, KeepsNoFailures) {
  const TemporaryDirectory directory;
  KernelCache cache(directory.path());
  NvrtcResult failed;
  failed.error = "error: x";
  cache.store("k", failed);
  EXPECT_FALSE(cache.find("k"));
}

TEST(KernelCache, TheKeyCoversTextOptionsAndVersion) {
  const std::string key = KernelCache::key("text", {"--gpu-architecture=sm_90"}, "13.0");
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(key, KernelCache::key("text", {"--gpu-architecture=sm_90"}, "13.0"));
  EXPECT_NE(key, KernelCache::key("text ", {"--gpu-architecture=sm_90"}, "13.0"));
  EXPECT_NE(key, KernelCache::key("text", {"--gpu-architecture=sm_80"}, "13.0"));
  EXPECT_NE(key, KernelCache::key("text", {"--gpu-architecture=sm_90"}, "12.9"));
  EXPECT_NE(KernelCache::key("t", {"a", "b"}, "1"), KernelCache::key("t", {"ab"}, "1"));
}

TEST(KernelCache, DamagedFilesAreAsGoodAsAbsent) {
  const TemporaryDirectory directory;
  KernelCache cache(directory.path());
  cache.store("k", some_result());
  const std::string path = only_file(directory.path());
  const std::string whole = read_file(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(cache.find("k")) << size;
  }
  std::string flipped = whole;
  flipped[flipped.size() - 2] ^= 1;
  std::ofstream(path, std::ios::binary) << flipped;
  EXPECT_FALSE(cache.find("k"));
  std::ofstream(path, std::ios::binary) << "[1, 2]\n";
  EXPECT_FALSE(cache.find("k"));
  std::string newer = whole;
  newer.replace(newer.find(":1,"), 3, ":9,");
  std::ofstream(path, std::ios::binary) << newer;
  EXPECT_FALSE(cache.find("k"));
  cache.store("k", some_result());
  EXPECT_TRUE(cache.find("k"));
}

TEST(KernelCache, GoesOnWithoutAnUnusableDirectory) {
  const TemporaryDirectory directory;
  std::ofstream(directory.file("file")) << "x";
  KernelCache cache(directory.file("file"));
  EXPECT_FALSE(cache.enabled());
  cache.store("k", some_result());
  EXPECT_FALSE(cache.find("k"));
  EXPECT_FALSE(KernelCache("").enabled());
}

TEST(KernelCache, RefusesTheDirectoryOfAnotherUser) {
  const TemporaryDirectory directory;
  if (::chown(directory.path().c_str(), 65534, 65534) != 0)
    GTEST_SKIP() << "only root can give a directory away";
  EXPECT_FALSE(KernelCache(directory.path()).enabled());
}

TEST(KernelCache, ManyWritersAndReadersShareADirectory) {
  const TemporaryDirectory directory;
  std::vector<std::jthread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      KernelCache cache(directory.path());
      for (int i = 0; i < 50; ++i) {
        const std::string key = "k" + std::to_string(i % 5);
        cache.store(key, some_result());
        const std::optional<NvrtcResult> found = cache.find(key);
        if (!found || found->image != some_result().image) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory.path())) ++files;
  EXPECT_EQ(files, 5u) << "temporary files must not stay";
}

using KernelCacheNvrtc = NvrtcFixture;

TEST_F(KernelCacheNvrtc, TheSecondCompilationIsAHit) {
  const TemporaryDirectory directory;
  const std::string text = "extern \"C\" __global__ void k(int* x) { *x = 1; }";
  KernelCache first(directory.path());
  const NvrtcResult compiled = first.compile(*nvrtc_, text, options());
  ASSERT_TRUE(compiled.ok) << compiled.log;
  EXPECT_FALSE(compiled.from_cache);
  KernelCache second(directory.path());
  const NvrtcResult found = second.compile(*nvrtc_, text, options());
  EXPECT_TRUE(found.from_cache);
  EXPECT_EQ(found.image, compiled.image);
  EXPECT_EQ(found.kernels, compiled.kernels);
  const NvrtcResult other = second.compile(*nvrtc_, text, {.compute_capability = nvrtc_->newest_usable(80)});
  EXPECT_FALSE(other.from_cache);
}

}  // namespace
}  // namespace redtune
