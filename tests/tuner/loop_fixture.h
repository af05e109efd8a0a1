// A tuning run on a fake device: sum over the rows of a small matrix.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "space/heuristic.h"
#include "support/files.h"
#include "support/hash.h"
#include "tests/support/fake_evaluator.h"
#include "tests/support/message_of.h"
#include "tests/support/temporary_directory.h"
#include "tuner/tuning.h"

namespace redtune {

class TuningLoop : public testing::Test {
 protected:
  TuningLoop() {
    ShortForm form;
    form.shape = "256x512";
    form.axes = "1";
    op_ = operator_from_short_form(form);
    device_ = {"fake:0", "fake device", "1.0", load_target("cpu")};
    default_ = default_schedule(make_task(op_, device_.target));
    options_.max_trials = 20;
    options_.batch = 4;
    options_.log_path = directory_.file("log.jsonl");
    options_.config_directory = directory_.file("configs");
    answer_ = [](const Schedule& schedule, int) { return timed_outcome(time_of(schedule)); };
    generate_ = [](const Task&, const Schedule& schedule) {
      GeneratedProgram result;
      result.program.text = "kernel of " + schedule.text();
      result.program.buffers = {{"x", BufferKind::kInput, DType::kF32, 256 * 512},
                                {"y", BufferKind::kOutput, DType::kF32, 256}};
      result.program.launches = {{"rt_main", {1, 1, 1}, {1, 1, 1}, 0, {0, 1}}};
      result.hash = hex64(hash64(result.program.text));
      return result;
    };
  }

  /// Seconds that depend on the schedule alone, all different.
  static double time_of(const Schedule& schedule) {
    return 1e-3 * (1 + static_cast<double>(hash64(schedule.text()) % 100000) * 1e-5);
  }

  TuneResult run() {
    TuningParts parts;
    parts.make_evaluator = [this](const Task&) {
      ++evaluators_;
      return std::make_unique<FakeEvaluator>(answer_, &evaluated_);
    };
    parts.generate = generate_;
    evaluated_.clear();
    return tune_with(parts, op_, device_, options_, {}, stop_);
  }

  std::vector<std::string> log_lines() const {
    std::vector<std::string> lines;
    std::string text = read_file(options_.log_path);
    for (std::size_t end; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
      lines.push_back(text.substr(0, end));
    }
    return lines;
  }

  std::size_t count_of(const std::string& schedule) const {
    return static_cast<std::size_t>(std::count(evaluated_.begin(), evaluated_.end(), schedule));
  }

  TemporaryDirectory directory_;
  Operator op_;
  DeviceInfo device_;
  Schedule default_;
  TuneOptions options_;
  std::atomic<bool> stop_{false};
  FakeEvaluator::Answer answer_;
  std::function<GeneratedProgram(const Task&, const Schedule&)> generate_;
  std::vector<std::string> evaluated_;
  int evaluators_ = 0;
};

}  // namespace redtune
