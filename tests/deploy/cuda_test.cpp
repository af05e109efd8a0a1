// The way to a CUDA stream on a driver without a GPU behind it (tests/fake_cuda): which image is taken, what
// is initialised, what is refused. It says nothing about a GPU.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "deploy/include/redtune/deploy.h"
#include "support/files.h"
#include "tests/deploy/store_fixture.h"

namespace redtune {
namespace {

using testing::HasSubstr;

// What the fake driver computes.
constexpr const char* kRowSums = R"({"op": "sum", "shape": [64, 1024], "axes": [1]})";

class DeployCuda : public testing::Test {
 protected:
  DeployCuda() {
    const std::string library = std::string(REDTUNE_BINARY_DIR) + "/tests/fake_cuda/fake_cuda_device.so";
    ::setenv("REDTUNE_CUDA_DRIVER", library.c_str(), 1);
    ::setenv("REDTUNE_NVRTC", library.c_str(), 1);
    handle_ = ::dlopen(library.c_str(), RTLD_NOW);
    task_ = make_task(operator_of(kRowSums), load_target("sm_90"));
    data_.resize(64 * 1024 + 64 + 8);
    // The memory of the fake device is the host's.
    const auto address = reinterpret_cast<std::uint64_t>(data_.data());
    input_ = (address + 15) / 16 * 16;
    output_ = input_ + 64 * 1024 * sizeof(float);
    const std::vector<unsigned char> bytes = make_input(task_.op, 1);
    std::memcpy(reinterpret_cast<void*>(input_), bytes.data(), bytes.size());
  }
  ~DeployCuda() override {
    redtune_kernel_release(kernel_);
    redtune_operator_free(op_);
    redtune_store_close(store_);
  }

  Config config(const std::string& mapping) {
    schedule_ = some_schedule(task_, mapping).value();
    return config_with_kernel(store(), task_, schedule_, "fake device of the tests, not a GPU (GPU-77)");
  }

  redtune_status open() {
    redtune_kernel_release(kernel_);
    redtune_operator_free(op_);
    redtune_store_close(store_);
    store_ = nullptr, op_ = nullptr, kernel_ = nullptr;
    EXPECT_EQ(redtune_store_open(store().c_str(), &store_), REDTUNE_OK) << redtune_error();
    EXPECT_EQ(redtune_operator_parse(kRowSums, &op_), REDTUNE_OK);
    return redtune_cuda_kernel(store_, op_, REDTUNE_EXACT, directory_.file("cache").c_str(), &kernel_);
  }

  void launch_and_check() {
    auto* const output = reinterpret_cast<float*>(output_);
    std::fill_n(output, 64, -1.0f);
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(redtune_cuda_launch(kernel_, nullptr, input_, output_), REDTUNE_OK) << redtune_error();
    reinterpret_cast<int (*)(void*)>(::dlsym(handle_, "cuStreamSynchronize"))(nullptr);
    std::vector<unsigned char> input(64 * 1024 * 4), bytes(64 * 4);
    std::memcpy(input.data(), reinterpret_cast<void*>(input_), input.size());
    std::memcpy(bytes.data(), output, bytes.size());
    EXPECT_TRUE(verdict_on(task_, schedule_, input, bytes).pass);
  }

  std::string store() const { return directory_.file("store"); }

  TemporaryDirectory directory_;
  void* handle_ = nullptr;
  Task task_;
  Schedule schedule_;
  std::vector<float> data_;
  std::uint64_t input_ = 0, output_ = 0;
  redtune_store* store_ = nullptr;
  redtune_operator* op_ = nullptr;
  redtune_kernel* kernel_ = nullptr;
};

TEST_F(DeployCuda, CompilesOnceAndThenTakesTheCache) {
  for (const char* mapping : {"warp", "warp+atomic", "shuffle+second_kernel", "shuffle+last_block"}) {
    SCOPED_TRACE(mapping);
    std::filesystem::remove_all(store());
    ConfigStore(store()).put(config(mapping));
    ASSERT_EQ(open(), REDTUNE_OK) << redtune_error();
    EXPECT_EQ(redtune_kernel_was_cached(kernel_), 0);
    launch_and_check();
    ASSERT_EQ(open(), REDTUNE_OK);
    EXPECT_EQ(redtune_kernel_was_cached(kernel_), 1);
    launch_and_check();
  }
}

TEST_F(DeployCuda, TakesTheCubinOfTheStoreThatFits) {
  Config stored = config("warp");
  const std::string text = read_kernel_text(store(), *stored.kernel);
  // One of another major version does not run here, nor one that is newer.
  for (const char* architecture : {"sm_80", "sm_100"})
    write_kernel_image(store(), *stored.kernel, architecture, "cubin", "fake_fault:bad_image ");
  ConfigStore(store()).put(stored, true);
  ASSERT_EQ(open(), REDTUNE_OK) << redtune_error();
  EXPECT_EQ(redtune_kernel_was_cached(kernel_), 0);
  write_kernel_image(store(), *stored.kernel, "sm_90", "cubin", text + "// compiled\n");
  ConfigStore(store()).put(stored, true);
  std::filesystem::remove_all(directory_.file("cache"));
  ASSERT_EQ(open(), REDTUNE_OK) << redtune_error();
  EXPECT_EQ(redtune_kernel_was_cached(kernel_), 1) << "an image in the store needs no compiler";
  launch_and_check();
}

TEST_F(DeployCuda, RefusesMisalignedOverlappingAndMissing) {
  ConfigStore(store()).put(config("warp"));
  ASSERT_EQ(open(), REDTUNE_OK) << redtune_error();
  const auto launch = [&](std::uint64_t in, std::uint64_t out) {
    return redtune_cuda_launch(kernel_, nullptr, in, out);
  };
  EXPECT_EQ(launch(input_ + 4, output_), REDTUNE_BAD_INPUT);
  EXPECT_THAT(redtune_error(), HasSubstr("aligned to 16 bytes"));
  EXPECT_EQ(launch(input_, input_ + 1024), REDTUNE_BAD_INPUT);
  EXPECT_THAT(redtune_error(), HasSubstr("overlap"));
  EXPECT_EQ(launch(0, output_), REDTUNE_BAD_INPUT);
  EXPECT_EQ(launch(input_, 0), REDTUNE_BAD_INPUT);
  EXPECT_EQ(redtune_opencl_launch(kernel_, nullptr, nullptr, nullptr, 0, nullptr, nullptr),
            REDTUNE_BAD_INPUT);
}

TEST_F(DeployCuda, WhatDoesNotCompileSaysWhy) {
  Config bad = config("warp");
  const std::string text = read_kernel_text(store(), *bad.kernel) + "// fake_fault:compile_error \n";
  bad.kernel = write_kernel_text(store(), text, KernelLanguage::kCuda, "");
  ConfigStore(store()).put(bad);
  EXPECT_EQ(open(), REDTUNE_BUILD_FAILED);
  EXPECT_THAT(redtune_error(), HasSubstr("the fake compiler does not like this kernel"));
  EXPECT_EQ(kernel_, nullptr);
}

}  // namespace
}  // namespace redtune
