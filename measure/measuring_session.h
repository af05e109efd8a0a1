// One task on one device: its input in shared memory, its reference, and the worker that runs candidates on
// it.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "measure/answers.h"
#include "measure/device.h"
#include "measure/worker_process.h"

namespace redtune {

class MeasuringSession {
 public:
  /// Starts the worker and, once it is known that it fits, fills the memory. Throws NoDevice when the device
  /// does not answer, UserError with needed and free bytes when the task does not fit.
  MeasuringSession(const DeviceInfo& device, const Task& task, const MeasureOptions& options,
                   const std::function<std::vector<unsigned char>()>& make_input);

  /// What the device can never run, with numbers; nullopt when it may.
  std::optional<Outcome> refuse(const Program& program) const;

  /// For who has no compile workers: does all that the device puts off until a first launch, under the deadline of
  /// compiling. Failures are left to `check`, which meets them again.
  void compile(const Candidate& candidate, std::int64_t number);

  /// Compiles `candidate`, runs it once on poisoned memory and checks what it made. The outcome is kTimed,
  /// still without times, when it is right. `starting` is called before the launch.
  Outcome check(const Candidate& candidate, std::int64_t number, const std::function<void()>& starting);

  /// Times what has just been checked.
  Outcome time(Outcome checked);

  /// Output of the last check.
  std::vector<unsigned char> output() const;

  const WorkerSetup& setup() const { return setup_; }
  Evidence& evidence() { return evidence_; }
  void set_best(double seconds) { best_seconds_ = seconds; }
  /// Called while waiting for the worker, when set.
  void set_idle(std::function<void()> idle) { idle_ = std::move(idle); }

 private:
  void require_memory() const;
  const Answers& answers(const Candidate& candidate);
  double launch_deadline() const;
  double least_seconds() const;

  DeviceInfo device_;
  Task task_;
  MeasureOptions options_;
  std::vector<unsigned char> input_;
  Evidence evidence_;
  WorkerSetup setup_;
  SharedMemory arena_, output_;
  std::optional<Answers> answers_;
  double best_seconds_ = 0;
  std::function<void()> idle_;
  std::optional<WorkerProcess> worker_;
};

}  // namespace redtune
