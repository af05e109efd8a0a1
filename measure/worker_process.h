// The tool's side of one worker process: starting it, asking it under a deadline, and being rid of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/evidence.h"
#include "measure/protocol.h"
#include "support/subprocess.h"

namespace redtune {

/// Path of redtune-worker: $REDTUNE_WORKER, else beside the running binary, else where it was built.
std::string worker_path();

/// Everything that each worker of a run needs to know.
struct WorkerSetup {
  std::string device_id, clock;
  Target target;
  ArenaLayout layout;
  MemoryAddress arena, output;
  std::string fault;
  std::vector<std::string> command_prefix;  // a program that runs the worker under its watch; found in PATH
  std::vector<std::string> environment;     // "NAME=value" beside what every worker gets
};

struct WorkerAnswer {
  enum class State {
    kDone,
    kFailed,    // the candidate failed: `failure`
    kTimedOut,  // nothing for too long; the worker has been killed
    kDied,      // by itself, or it spoke nonsense and was killed
  };
  State state = State::kDied;
  Json reply;       // kDone, kFailed
  Outcome failure;  // kFailed, kTimedOut, kDied: kind and detail
};

/// Starts no process until it is needed; starts a new one after each that was lost.
class WorkerProcess {
 public:
  /// kVerify: several run side by side, so none is bound to cores, and its times mean nothing.
  enum class Role { kMeasure, kCompile, kVerify };
  WorkerProcess(const WorkerSetup& setup, Role role, Evidence& evidence, int slot);

  bool running() const { return process_.has_value(); }
  /// Opens the device, and hands over the input when the setup has one. Throws NoDevice (DeviceLost after a
  /// first good start) with what the worker said.
  void ensure_running();
  /// Limits of the device; the worker has been started.
  const DeviceLimits& limits() const { return limits_; }

  /// Sends a request and waits for its reply. `silence_seconds`: longest time without a reply or beat;
  /// `idle`, when set, is called about every millisecond meanwhile.
  WorkerAnswer ask(const Json& request, double silence_seconds, const std::function<void()>& idle = nullptr);

  /// The same in two halves, for many workers at once. `poll` is nullopt while the worker is busy.
  void send(const Json& request, double silence_seconds);
  std::optional<WorkerAnswer> poll(double wait_seconds);

  void kill();
  /// The input that the setup names now is handed over at the next ensure_running.
  void forget_input() { has_input_ = false; }
  pid_t pid() const { return process_ ? process_->pid() : -1; }

 private:
  void start();
  WorkerAnswer ask_at_start(const Json& request);
  WorkerAnswer lost(WorkerAnswer::State state, OutcomeKind kind, const std::string& what);
  WorkerAnswer understand(const std::string& line);

  const WorkerSetup& setup_;
  Role role_;
  Evidence& evidence_;
  int slot_;
  int starts_ = 0;
  bool opened_before_ = false, has_input_ = false;
  std::string stderr_name_;
  DeviceLimits limits_;
  std::optional<Subprocess> process_;
  double silence_seconds_ = 0, deadline_ = 0;  // deadline_: by the steady clock
};

}  // namespace redtune
