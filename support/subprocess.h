// A child process started by exec, spoken to in lines. It leads a process group of its own, so that everything it
// started dies with it, and the kernel kills it when its parent dies.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redtune {

struct SubprocessOptions {
  std::vector<std::string> command;            // [0]: path of the program, not searched in PATH
  std::vector<std::string> extra_environment;  // "NAME=value", each replaces an inherited one
  std::string stderr_path;                     // appended to; "": the parent's
};

struct ExitStatus {
  int code = 0;    // exit code when `signal` is 0
  int signal = 0;  // the signal that killed it
  bool ok() const { return code == 0 && signal == 0; }
  /// "exit code 3", "signal 11 (Segmentation fault)".
  std::string describe() const;
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
};

struct ReadLine {
  enum class State { kLine, kTimeout, kClosed };
  State state = State::kClosed;
  std::string text;  // without the newline; on kClosed what stood after the last one
};

/// Movable, not copyable. Destruction kills and reaps the child and its group.
///
/// The thread that constructs it must outlive the child: the kernel's parent-death signal follows that thread.
/// Reading and writing may happen on different threads; two readers or two writers may not.
class Subprocess {
 public:
  /// Throws UserError "cannot start PROGRAM: reason".
  explicit Subprocess(const SubprocessOptions& options);
  ~Subprocess();
  Subprocess(Subprocess&& other) noexcept;
  Subprocess& operator=(Subprocess&& other) noexcept;
  Subprocess(const Subprocess&) = delete;
  Subprocess& operator=(const Subprocess&) = delete;

  pid_t pid() const { return pid_; }

  /// Writes `line` and a newline. False when the child has gone or does not take it in time.
  bool write_line(std::string_view line, double timeout_seconds);
  /// Ends the child's stdin.
  void close_stdin();

  /// The next line of the child's stdout. A timeout keeps what was read of a line for the next call.
  /// A negative timeout waits for ever.
  ReadLine read_line(double timeout_seconds);

  /// Waits for the end; nullopt when the time is over first. Asking again after the end gives the same answer.
  /// What the child left running in its group is killed then.
  std::optional<ExitStatus> wait(double timeout_seconds);

  /// SIGKILL to the whole group, then reaps. Returns how the child ended, which may have been before.
  ExitStatus kill();

 private:
  bool reap(int flags);
  void forget();

  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;  // parent's ends of the child's stdin and stdout
  std::string buffered_;
  std::optional<ExitStatus> status_;
};

struct CapturedRun {
  std::optional<ExitStatus> status;  // nullopt: killed after the timeout
  std::string output;                // stdout
};

/// Runs a command to its end and keeps its stdout.
CapturedRun run_captured(const SubprocessOptions& options, double timeout_seconds);

}  // namespace redtune
