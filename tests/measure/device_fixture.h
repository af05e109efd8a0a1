// A small task on the best device that is present, and hand-written programs for it, good and bad.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/device.h"
#include "support/error.h"
#include "tests/measure/evaluate_batch.h"

namespace redtune {

inline constexpr int kRows = 64, kColumns = 1024;

/// Sums 1024 floats for each of 64 outputs. `body` replaces the store of the sum `a` to out[r]; `salt` makes
/// the text, and so the compiled program, another one.
inline Candidate row_sums(const std::string& salt, const std::string& body = "out[r] = a;",
                          const std::string& loop = "for (int i = 0; i < 1024; i++) a += x[r * 1024 + i];") {
  Candidate candidate;
  candidate.program.text =
      "__kernel __attribute__((reqd_work_group_size(32, 1, 1)))\n"
      "void rows(__global const float* x, __global float* out) {\n"
      "  const int r = (int)get_global_id(0);\n  float a = 0;\n  " +
      loop + "\n  " + body + "\n  if (a == 12345.5f) out[r] = " + std::to_string(salt.size() + salt.front()) +
      ";\n}\n";
  candidate.program.buffers = {{"x", BufferKind::kInput, DType::kF32, kRows * kColumns},
                               {"out", BufferKind::kOutput, DType::kF32, kRows}};
  candidate.program.launches = {{"rows", {2, 1, 1}, {32, 1, 1}, 0, {0, 1}}};
  return candidate;
}

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    static const std::optional<DeviceInfo> found = find();
    if (!found) GTEST_SKIP() << "no OpenCL device for the CPU";
    device_ = *found;
    // The arena of a real last-level cache takes half a second to fill: too long for every test.
    device_.target.last_level_cache_bytes = 1 << 20;
    task_ =
        make_task(operator_from_short_form({"sum", "64x1024", "1", "f32", "", "", false}), device_.target);
    options_.max_samples = 8;
    options_.deadline_floor_seconds = 1;
    options_.compile_deadline_seconds = 30;
  }

  static std::optional<DeviceInfo> find() {
    for (DeviceInfo& device : list_devices()) {
      if (device.id == "cpu") return device;
    }
    return std::nullopt;
  }

  std::unique_ptr<Evaluator> evaluator() { return make_device_evaluator(device_, task_, options_); }

  static std::map<std::size_t, Outcome> evaluate(Evaluator& evaluator, const std::vector<Candidate>& batch) {
    return evaluate_batch(evaluator, batch);
  }

  DeviceInfo device_;
  Task task_;
  MeasureOptions options_;
};

}  // namespace redtune
