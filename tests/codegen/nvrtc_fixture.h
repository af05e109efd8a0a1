// Tests that need NVRTC: skipped, with the reason, where it is not installed.
#pragma once

#include <gtest/gtest.h>

#include "codegen/nvrtc.h"
#include "support/error.h"

namespace redtune {

class NvrtcFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      nvrtc_ = &Nvrtc::instance();
    } catch (const NoDevice& absent) {
      GTEST_SKIP() << absent.what();
    }
    architecture_ = nvrtc_->newest_usable(90);
  }
  NvrtcOptions options() const { return {.compute_capability = architecture_}; }

  Nvrtc* nvrtc_ = nullptr;
  int architecture_ = 0;
};

}  // namespace redtune
