#include "measure/cuda_targets.h"

#include <gtest/gtest.h>

#include <map>

#include "measure/cuda_library.h"

namespace redtune {
namespace {

Target target_of(const std::map<int, int>& attributes) {
  return cuda_target([&](int which) {
    const auto found = attributes.find(which);
    return found == attributes.end() ? 0 : found->second;
  });
}

TEST(CudaTarget, WhatTheDriverTellsReplacesTheShippedNumbers) {
  const Target target = target_of({{kCudaCapabilityMajor, 9},
                                   {kCudaMultiprocessors, 78},
                                   {kCudaL2Bytes, 12345},
                                   {kCudaMemoryClockKilohertz, 3'201'000},
                                   {kCudaMemoryBusBits, 6144}});
  EXPECT_EQ(target.name, "sm_90");
  EXPECT_EQ(target.units, 78);
  EXPECT_EQ(target.last_level_cache_bytes, 12345);
  EXPECT_NEAR(target.memory_bytes_per_second, 4.917e12, 1e9);
  EXPECT_EQ(target.shared_bytes_per_block_optin, load_target("sm_90").shared_bytes_per_block_optin);
}

TEST(CudaTarget, AnArchitectureWithoutAFileTakesTheNextOlder) {
  const Target target =
      target_of({{kCudaCapabilityMajor, 8}, {kCudaCapabilityMinor, 9}, {kCudaMultiprocessors, 142}});
  EXPECT_EQ(target.name, "sm_89");
  EXPECT_EQ(target.compute_capability, 89);
  EXPECT_EQ(target.units, 142);
  EXPECT_EQ(target.memory_bytes_per_second, 0) << "that of another chip says nothing";
  EXPECT_EQ(parse_target(to_json(target), "test"), target);
}

TEST(CudaTarget, AnOlderArchitectureThanAnyIsStillCuda) {
  const Target target = target_of({{kCudaCapabilityMajor, 6}});
  EXPECT_EQ(target.kind, TargetKind::kCuda);
  EXPECT_EQ(target.name, "sm_60");
}

}  // namespace
}  // namespace redtune
