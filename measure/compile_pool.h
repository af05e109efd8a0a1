// Compiles many candidates at once, each in one of several processes: some drivers build one kernel at a time
// per process. What they compiled reaches the measuring worker through the driver's cache on disk.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "measure/worker_process.h"

namespace redtune {

struct CompileJob {
  std::size_t index = 0;    // of the caller
  std::int64_t number = 0;  // of the candidate in the run
  const Program* program = nullptr;
  bool retried = false;  // its first worker died; from outside (a kill, no memory) as likely as by the program
};

struct Compiled {
  CompileJob job;
  bool ok = false;
  Outcome failure;  // when not
  double seconds = 0;
};

/// Processes start when they are first needed and stay for the next batch. One thread owns and polls it.
class CompilePool {
 public:
  CompilePool(const WorkerSetup& setup, int jobs, double deadline_seconds, Evidence& evidence);
  ~CompilePool();

  void submit(const CompileJob& job) { queue_.push_back(job); }
  bool busy() const;

  /// Hands out waiting jobs and returns what has been finished since. Never blocks for longer than a worker's
  /// start.
  std::vector<Compiled> poll();

  /// Forgets everything that is not finished; workers in the middle of something are killed.
  void cancel();

 private:
  struct Slot;
  void begin(Slot& slot);
  bool advance(Slot& slot, const WorkerAnswer& answer, Compiled& result);
  std::string keep_log(const CompileJob& job, const Json& reply);

  double deadline_seconds_;
  Evidence& evidence_;
  std::deque<CompileJob> queue_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace redtune
