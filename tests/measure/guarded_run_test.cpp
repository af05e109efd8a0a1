#include "measure/guarded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

namespace redtune {
namespace {

using testing::HasSubstr;

// Buffers in host memory; "kernels" are functions.
class FakeDriver : public Driver {
 public:
  using Buffers = std::vector<std::vector<unsigned char>>;
  FakeDriver(const Program& program, std::function<void(Buffers&)> kernel) : kernel_(std::move(kernel)) {
    for (const BufferSpec& spec : program.buffers) {
      buffers_.emplace_back(static_cast<std::size_t>(spec.bytes() + kGuardBytes));
    }
  }
  DeviceLimits limits() const override { return {}; }
  void set_input(const unsigned char*, const ArenaLayout&) override {}
  void load(const Program&, const Target&) override {}
  bool prime() override { return true; }
  void fill(std::size_t buffer, std::int64_t offset, std::int64_t bytes, unsigned char value) override {
    std::memset(buffers_[buffer].data() + offset, value, static_cast<std::size_t>(bytes));
  }
  void read(std::size_t buffer, std::int64_t offset, std::span<unsigned char> into) override {
    std::memcpy(into.data(), buffers_[buffer].data() + offset, into.size());
  }
  std::vector<LaunchTime> launch(std::int64_t copy) override {
    ++launches;
    last_copy = copy;
    kernel_(buffers_);
    return {};
  }
  int launches = 0;
  std::int64_t last_copy = -1;

 private:
  Buffers buffers_;
  std::function<void(Buffers&)> kernel_;
};

Program program() {
  Program program;
  program.buffers = {{"x", BufferKind::kInput, DType::kF32, 8},
                     {"out", BufferKind::kOutput, DType::kF32, 2},
                     {"ticket", BufferKind::kCounter, DType::kI32, 1},
                     {"partials", BufferKind::kScratch, DType::kF32, 4}};
  program.launches = {{"k", {1, 1, 1}, {1, 1, 1}, 0, {0, 1, 2, 3}}};
  return program;
}

std::array<float, 2> run(const std::function<void(FakeDriver::Buffers&)>& kernel,
                         const std::string& fault = "") {
  const Program p = program();
  FakeDriver driver(p, kernel);
  std::array<unsigned char, 8> bytes{};
  guarded_run(driver, p, bytes, parse_fault(fault), 1);
  EXPECT_EQ(driver.launches, fault == "early_return" ? 0 : 1);
  return std::bit_cast<std::array<float, 2>>(bytes);
}

std::string failure_of(const std::function<void(FakeDriver::Buffers&)>& kernel) {
  try {
    run(kernel);
  } catch (const CandidateFailure& failure) {
    EXPECT_EQ(failure.kind, OutcomeKind::kWrongResult);
    return failure.what();
  }
  return "";
}

void write_both(FakeDriver::Buffers& buffers) {
  const float values[2] = {1, 2};
  std::memcpy(buffers[1].data(), values, sizeof values);
}

TEST(GuardedRun, HandsOverTheOutput) { EXPECT_EQ(run(write_both), (std::array<float, 2>{1, 2})); }

TEST(GuardedRun, WhatIsNotWrittenIsNaN) {
  const auto output = run([](auto&) {});
  EXPECT_TRUE(std::isnan(output[0]) && std::isnan(output[1]));
}

TEST(GuardedRun, PoisonsScratchAndZeroesCounters) {
  run([](FakeDriver::Buffers& buffers) {
    EXPECT_EQ(buffers[3][0], 0xFF);
    EXPECT_EQ(buffers[2][0], 0);
  });
}

TEST(GuardedRun, NamesTheBufferThatWasOverrun) {
  EXPECT_THAT(failure_of([](auto& buffers) { buffers[1][8] = 0; }),
              HasSubstr("behind buffer 'out': guard byte 0"));
  EXPECT_THAT(failure_of([](auto& buffers) { buffers[3][16 + 63] = 0; }),
              HasSubstr("'partials': guard byte 63"));
}

TEST(GuardedRun, CountersMustBeZeroAgain) {
  EXPECT_THAT(failure_of([](auto& buffers) { buffers[2][3] = 1; }),
              HasSubstr("'ticket' is not zero again: byte 3"));
}

TEST(GuardedRun, FaultsDoWhatTheySay) {
  EXPECT_TRUE(std::isnan(run(write_both, "skip_last")[1]));
  EXPECT_EQ(run(write_both, "skip_last")[0], 1);
  EXPECT_TRUE(std::isnan(run(write_both, "nan")[0]));
  EXPECT_TRUE(std::isnan(run(write_both, "early_return")[0]));
  EXPECT_THROW(run(write_both, "out_of_bounds"), CandidateFailure);
}

TEST(GuardedRun, HandsOverTheOutputsOfAMergedProgramInOrder) {
  const Program parts[] = {program(), program(), program()};
  const Program merged = merge(parts);
  FakeDriver driver(merged, [&](FakeDriver::Buffers& buffers) {
    float next = 1;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (merged.buffers[i].kind != BufferKind::kOutput) continue;
      for (int lane = 0; lane < 2; ++lane, ++next) std::memcpy(&buffers[i][lane * 4u], &next, sizeof next);
    }
  });
  std::array<unsigned char, 24> bytes{};
  guarded_run(driver, merged, bytes, Fault{}, 1, 5);
  EXPECT_EQ((std::bit_cast<std::array<float, 6>>(bytes)), (std::array<float, 6>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(driver.last_copy, 5);
}

}  // namespace
}  // namespace redtune
