// The fake CUDA device of tests/fake_cuda in place of driver, CUPTI and NVRTC, for workers and for this
// process.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "tests/fake_cuda/fake_plan.h"
#include "tests/measure/device_fixture.h"
#include "tests/measure/evaluate_batch.h"
#include "tests/support/temporary_directory.h"

namespace redtune {

/// Sets environment variables and puts them back.
class ScopedEnvironment {
 public:
  ~ScopedEnvironment() {
    for (const auto& [name, value] : before_) {
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  void set(const std::string& name, const std::string& value) {
    const char* const old = std::getenv(name.c_str());
    before_.try_emplace(name, old == nullptr ? std::nullopt : std::optional<std::string>(old));
    ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

/// Sums 1024 floats for each of 64 outputs, says the text; `fault` is what the fake makes of it.
inline Candidate fake_kernel(const std::string& salt, const std::string& fault = "none") {
  Candidate candidate;
  candidate.program.text = "// " + salt + " fake_fault:" + fault + " \n" +
                           "extern \"C\" __global__ void rows(const float* x, float* out) {\n"
                           "  float a = 0;\n"
                           "  for (int i = 0; i < 1024; i++) a += x[threadIdx.x * 1024 + i];\n"
                           "  out[threadIdx.x] = a;\n}\n";
  candidate.program.buffers = {{"x", BufferKind::kInput, DType::kF32, kRows * kColumns},
                               {"out", BufferKind::kOutput, DType::kF32, kRows}};
  candidate.program.launches = {{"rows", {1, 1, 1}, {64, 1, 1}, 0, {0, 1}}};
  return candidate;
}

/// The file of tests/fake_cuda.
std::string fake_cuda_library();

class FakeCuda : public testing::Test {
 protected:
  FakeCuda() {
    const std::string library = fake_cuda_library();
    environment_.set("REDTUNE_CUDA_DRIVER", library);
    environment_.set("REDTUNE_CUPTI", library);
    environment_.set("REDTUNE_NVRTC", library);
    environment_.set("XDG_CACHE_HOME", cache_.file("cache"));
    environment_.set("CUDA_VISIBLE_DEVICES", "0,1,2,3");
    options_.max_samples = 8;
    options_.deadline_floor_seconds = 1;
    options_.compile_deadline_seconds = 30;
    options_.compile_jobs = 2;
  }

  void settings(const std::string& text) { environment_.set("REDTUNE_FAKE_CUDA", text); }

  DeviceInfo device() const { return pick_device("cuda:0"); }

  std::unique_ptr<Evaluator> evaluator(const DeviceInfo& device) const {
    const Task task =
        make_task(operator_from_short_form({"sum", "64x1024", "1", "f32", "", "", false}), device.target);
    return make_device_evaluator(device, task, options_);
  }
  std::unique_ptr<Evaluator> evaluator() const { return evaluator(device()); }

  static std::map<std::size_t, Outcome> evaluate(Evaluator& evaluator, const std::vector<Candidate>& batch) {
    return evaluate_batch(evaluator, batch);
  }

  TemporaryDirectory cache_;
  ScopedEnvironment environment_;
  MeasureOptions options_;
};

}  // namespace redtune
