// A program that runs other people's reductions (bench/baselines/baseline_main.cpp tells what is said), as a
// process of its own: what it does to itself costs its row, not the bench.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "space/task.h"
#include "support/json.h"
#include "support/subprocess.h"

namespace redtune {

/// Baselines that are programs, not schedules of redtune: name, the program that has it, and what it runs on.
struct ProgramBaseline {
  std::string_view name, program, summary;
  bool on_cuda;
};
std::span<const ProgramBaseline> program_baselines();
/// Nothing when it is none.
const ProgramBaseline* find_program_baseline(std::string_view name);
/// Where the program lies: beside the running binary, else where it was built; "" when it is not there.
std::string baseline_program_path(std::string_view program);

struct BaselineSetup {
  std::string name;
  std::uint64_t seed = 1;
  bool cold = true;
  int threads = 1;
  std::string device;  // UUID of a CUDA device; "" elsewhere
};

class BaselineProcess {
 public:
  /// Starts the program and lets it prepare the operator: input, one run, check. Throws UserError with its
  /// reason when it cannot.
  BaselineProcess(const ProgramBaseline& which, const Task& task, const BaselineSetup& setup);

  struct Samples {
    std::vector<double> seconds;
    int preempted = 0;
  };
  /// Throws UserError when the program failed.
  Samples sample(int count);

  const std::string& version() const { return version_; }
  const std::string& implementation() const { return implementation_; }
  const std::string& clock() const { return clock_; }
  bool reference() const { return reference_; }

 private:
  Json ask(const Json& request);

  std::string name_;
  Subprocess process_;
  std::string version_, implementation_, clock_;
  bool reference_ = false;
};

}  // namespace redtune
