// Runs schedules on many inputs and compares each answer with the reference; takes no times. Several worker
// processes side by side, several schedules per build: most of the cost of a check is compiling.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/reference.h"
#include "measure/device.h"
#include "measure/input_patterns.h"
#include "measure/watch_log.h"

namespace redtune {

class Evidence;

struct VerifyOptions {
  std::uint64_t data_seed = 1;
  int jobs = 0;                         // worker processes; 0: one per core
  std::size_t programs_per_build = 16;  // merged into one text
  bool optimize = true;                 // false: PoCL compiles for speed of compiling, twice as fast
  bool keep_kernels = true;             // false: PoCL forgets what it compiled, for texts that never come again
  Watch watch = Watch::kNone;
  double build_deadline_seconds = 300, run_deadline_seconds = 60;
  std::string worker_fault;  // test builds: passed to the workers, see measure/fault.h
};

/// What a task is run on: the bytes of its input's storage.
struct VerifyInput {
  std::string name;
  std::vector<unsigned char> bytes;
};

/// One for each pattern that applies to `op`, in order.
std::vector<VerifyInput> pattern_inputs(const Operator& op, std::uint64_t seed);

struct ScheduleVerdict {
  std::size_t index = 0;  // into the schedules given
  std::int64_t runs = 0;  // launches whose answer was compared with the reference
  double max_error = 0;   // worst error over tolerance
  /// What went wrong first; nothing when every answer was right. kRejected: the device cannot run it at all.
  std::optional<OutcomeKind> failure;
  std::string input, detail;  // name of the input that failed (empty before the first run), and the evidence
};

class Verifier {
 public:
  /// Starts no process yet. Throws UserError when the watcher is not installed.
  Verifier(const DeviceInfo& device, const VerifyOptions& options);
  ~Verifier();

  /// Every schedule on every input. `done` is called once per schedule, in no particular order. Returns early
  /// when `stop` turns true. Schedules must be legal for the task, whose target is the device's or a narrower
  /// one. Throws NoDevice, UserError when the inputs do not fit the memory.
  void verify(const Task& task, std::span<const Schedule> schedules, const std::vector<VerifyInput>& inputs,
              const std::function<void(const ScheduleVerdict&)>& done,
              const std::function<bool()>& stop = nullptr);
  /// The same on the inputs of the patterns.
  void verify(const Task& task, std::span<const Schedule> schedules,
              const std::function<void(const ScheduleVerdict&)>& done,
              const std::function<bool()>& stop = nullptr) {
    verify(task, schedules, pattern_inputs(task.op, options_.data_seed), done, stop);
  }

 private:
  struct Slot;
  struct Build;
  struct Work;
  void set_task(Work& work);
  void prepare(Work& work, const std::vector<std::size_t>& members);
  void begin(Work& work, Slot& slot);
  void advance(Work& work, Slot& slot);
  void compare(Work& work, Slot& slot);
  void fail(Work& work, Slot& slot, OutcomeKind kind, const std::string& detail);
  void run_next(Slot& slot);

  DeviceInfo device_;
  VerifyOptions options_;
  std::unique_ptr<Evidence> evidence_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace redtune
