#include "support/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

#include "support/error.h"
#include "support/file_handle.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;

// A moment by which something must have happened; negative seconds: never.
class Deadline {
 public:
  explicit Deadline(double seconds) : never_(seconds < 0) {
    constexpr double kLongest = 1e8;  // more would overflow the clock
    end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(std::clamp(seconds, 0.0, kLongest)));
  }
  bool over() const { return !never_ && Clock::now() >= end_; }
  int poll_milliseconds() const {
    if (never_) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
  }

 private:
  bool never_;
  Clock::time_point end_;
};

// True when `fd` is ready (or broken, which the next call on it will say), false at the deadline.
bool wait_ready(int fd, short events, const Deadline& deadline) {
  for (;;) {
    pollfd entry{fd, events, 0};
    const int ready = ::poll(&entry, 1, deadline.poll_milliseconds());
    if (ready > 0) return true;
    if (ready == 0 && deadline.over()) return false;
    if (ready < 0 && errno != EINTR) return true;
  }
}

[[noreturn]] void throw_cannot_start(const std::string& program, int code) {
  throw UserError("cannot start " + program + ": " + std::strerror(code));
}

// The child's standard descriptors are 0 to 2; one of ours among them would be overwritten before it is
// copied.
FileHandle above_standard(int fd) {
  FileHandle original(fd);
  if (fd < 0 || fd > STDERR_FILENO) return original;
  return FileHandle(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

std::vector<std::string> merged_environment(const std::vector<std::string>& extra) {
  std::vector<std::string> merged = extra;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view inherited = *entry;
    const std::string_view name = inherited.substr(0, inherited.find('=') + 1);
    const bool replaced = std::any_of(extra.begin(), extra.end(),
                                      [&](const std::string& own) { return own.starts_with(name); });
    if (!replaced) merged.emplace_back(inherited);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct Launch {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int in, out, err;  // err: -1 keeps the parent's
  pid_t parent;
};

// Runs in the child between vfork and exec, in the parent's memory: system calls only.
[[noreturn]] void become(const Launch& launch, volatile int* failure) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(127);  // the parent died before the line above
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const bool connected = ::dup2(launch.in, STDIN_FILENO) >= 0 && ::dup2(launch.out, STDOUT_FILENO) >= 0 &&
                         (launch.err < 0 || ::dup2(launch.err, STDERR_FILENO) >= 0);
  if (connected) ::execve(launch.program, launch.arguments, launch.environment);
  *failure = errno;
  ::_exit(127);
}

// vfork, not fork: no copy of the page tables of a large process, and an exec that fails is known at once.
// All signals are blocked meanwhile, so that no handler of ours runs in the child on our memory.
pid_t spawn(const Launch& launch, int& failure) {
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int child_failure = 0;
  const pid_t pid = ::vfork();
  if (pid == 0) become(launch, &child_failure);
  failure = pid < 0 ? errno : child_failure;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid;
}

}  // namespace

std::string ExitStatus::describe() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  const char* name = ::sigdescr_np(signal);
  return "signal " + std::to_string(signal) + (name != nullptr ? " (" + std::string(name) + ")" : "");
}

Subprocess::Subprocess(const SubprocessOptions& options) {
  RT_CHECK(!options.command.empty(), "a command without a program");
  std::vector<std::string> command = options.command;
  const std::string program = command[0];
  // A socket takes MSG_NOSIGNAL: writing to a dead child gives an error and no SIGPIPE, in a library user's
  // process too.
  int in[2], out[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) throw_cannot_start(program, errno);
  FileHandle child_in = above_standard(in[0]), parent_in = above_standard(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) throw_cannot_start(program, errno);
  FileHandle parent_out = above_standard(out[0]), child_out = above_standard(out[1]);
  FileHandle child_err;
  if (!options.stderr_path.empty()) {
    child_err =
        above_standard(::open(options.stderr_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!child_err) throw UserError("cannot write " + options.stderr_path + ": " + std::strerror(errno));
  }
  if (!child_in || !parent_in || !child_out || !parent_out) throw_cannot_start(program, errno);
  ::shutdown(child_in.get(), SHUT_WR);
  ::fcntl(parent_out.get(), F_SETFL, O_NONBLOCK);

  std::vector<std::string> environment = merged_environment(options.extra_environment);
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  int failure = 0;
  pid_ = spawn({program.c_str(), arguments.data(), variables.data(), child_in.get(), child_out.get(),
                child_err.get(), ::getpid()},
               failure);
  if (failure != 0) {
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
    throw_cannot_start(program, failure);
  }
  in_ = parent_in.release();
  out_ = parent_out.release();
}

Subprocess::~Subprocess() { forget(); }

Subprocess::Subprocess(Subprocess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      buffered_(std::move(other.buffered_)),
      status_(std::exchange(other.status_, std::nullopt)) {}

Subprocess& Subprocess::operator=(Subprocess&& other) noexcept {
  if (this == &other) return *this;
  forget();
  pid_ = std::exchange(other.pid_, -1);
  in_ = std::exchange(other.in_, -1);
  out_ = std::exchange(other.out_, -1);
  buffered_ = std::move(other.buffered_);
  status_ = std::exchange(other.status_, std::nullopt);
  return *this;
}

void Subprocess::forget() {
  if (pid_ > 0) kill();
  close_stdin();
  if (out_ >= 0) ::close(std::exchange(out_, -1));
  pid_ = -1;
}

bool Subprocess::write_line(std::string_view line, double timeout_seconds) {
  const Deadline deadline(timeout_seconds);
  std::string text(line);
  text += '\n';
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t sent = ::send(in_, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!wait_ready(in_, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void Subprocess::close_stdin() {
  if (in_ >= 0) ::close(std::exchange(in_, -1));
}

ReadLine Subprocess::read_line(double timeout_seconds) {
  const Deadline deadline(timeout_seconds);
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = buffered_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      return {ReadLine::State::kLine, std::move(line)};
    }
    searched = buffered_.size();
    char chunk[1 << 14];
    const ssize_t got = out_ < 0 ? 0 : ::read(out_, chunk, sizeof chunk);
    if (got > 0) {
      buffered_.append(chunk, static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return {ReadLine::State::kClosed, std::exchange(buffered_, {})};
    } else if (!wait_ready(out_, POLLIN, deadline)) {
      return {ReadLine::State::kTimeout, ""};
    }
  }
}

// Looks first and reaps second: until it is reaped, the dead child keeps the number of its group from being
// reused, so the signal to what it left behind cannot hit a stranger.
bool Subprocess::reap(int flags) {
  if (status_) return true;
  siginfo_t info{};
  int looked;
  do {
    looked = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | flags);
  } while (looked < 0 && errno == EINTR);
  if (looked == 0 && info.si_pid == 0) return false;
  int raw = 0;
  if (looked == 0) ::kill(-pid_, SIGKILL);
  const bool reaped = looked == 0 && ::waitpid(pid_, &raw, 0) == pid_;
  status_.emplace();
  if (!reaped)
    status_->code = -1;  // someone else reaped it: gone, but how is not known
  else if (WIFSIGNALED(raw))
    status_->signal = WTERMSIG(raw);
  else
    status_->code = WEXITSTATUS(raw);
  return true;
}

std::optional<ExitStatus> Subprocess::wait(double timeout_seconds) {
  const Deadline deadline(timeout_seconds);
  // Short steps first: most children asked for are about to end.
  auto step = std::chrono::microseconds(100);
  while (!reap(WNOHANG)) {
    if (deadline.over()) return std::nullopt;
    std::this_thread::sleep_for(step);
    step = std::min(step * 2, std::chrono::microseconds(5000));
  }
  return status_;
}

ExitStatus Subprocess::kill() {
  RT_CHECK(pid_ > 0, "kill of a process that was moved away");
  if (!status_) {
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);  // in case the child has not made its group yet
    reap(0);
  }
  return *status_;
}

CapturedRun run_captured(const SubprocessOptions& options, double timeout_seconds) {
  const Deadline deadline(timeout_seconds);
  const auto left = [&] { return timeout_seconds < 0 ? -1.0 : deadline.poll_milliseconds() / 1e3; };
  Subprocess child(options);
  child.close_stdin();
  CapturedRun run;
  for (;;) {
    ReadLine line = child.read_line(left());
    if (line.state == ReadLine::State::kTimeout) return run;
    run.output += line.text;
    if (line.state == ReadLine::State::kClosed) break;
    run.output += '\n';
  }
  run.status = child.wait(left());
  return run;
}

}  // namespace redtune
