#include "measure/worker_process.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "support/error.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

// Enough for a cold start on a loaded machine.
constexpr double kStartSeconds = 60;
constexpr double kWriteSeconds = 10;
constexpr double kIdleStepSeconds = 0.001;
constexpr const char* kReply = "worker's reply";

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string_view role_word(WorkerProcess::Role role) {
  switch (role) {
    case WorkerProcess::Role::kMeasure:
      return "measure";
    case WorkerProcess::Role::kCompile:
      return "compile";
    case WorkerProcess::Role::kVerify:
      return "verify";
  }
  return "";
}

std::string shortly(double seconds) { return format_seconds(std::max(seconds, 0.0)); }

}  // namespace

std::string worker_path() {
  if (const char* const chosen = std::getenv("REDTUNE_WORKER")) return chosen;
  const std::string beside = executable_directory() + "/redtune-worker";
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) return beside;
  return REDTUNE_WORKER_BUILD_PATH;
}

WorkerProcess::WorkerProcess(const WorkerSetup& setup, Role role, Evidence& evidence, int slot)
    : setup_(setup), role_(role), evidence_(evidence), slot_(slot) {}

void WorkerProcess::start() {
  ++starts_;
  const bool measuring = role_ == Role::kMeasure;
  stderr_name_ =
      std::string(role_word(role_)) + "-" + std::to_string(slot_) + "-" + std::to_string(starts_) + ".stderr";
  SubprocessOptions options;
  options.command = {worker_path(), "--serve"};
  if (!setup_.command_prefix.empty()) {
    std::vector<std::string> prefix{"/usr/bin/env"};  // which looks in PATH
    prefix.insert(prefix.end(), setup_.command_prefix.begin(), setup_.command_prefix.end());
    options.command.insert(options.command.begin(), prefix.begin(), prefix.end());
  }
  options.extra_environment = setup_.environment;  // of two of one name the first counts
  options.extra_environment.push_back(compiler_cache_variable());
  options.extra_environment.push_back("REDTUNE_WORKER_FAULT=" + setup_.fault);
  // Without it two threads of PoCL often share a core. Compile workers would all sit on the first one.
  if (measuring) options.extra_environment.push_back("POCL_AFFINITY=1");
  options.stderr_path = evidence_.path(stderr_name_);
  try {
    process_.emplace(options);
  } catch (const UserError& error) {
    throw NoDevice(error.what());
  }
  has_input_ = false;
}

WorkerAnswer WorkerProcess::ask_at_start(const Json& request) {
  WorkerAnswer answer = ask(request, kStartSeconds);
  if (answer.state == WorkerAnswer::State::kDone) return answer;
  const std::string what = "device '" + setup_.device_id + "': " + answer.failure.detail;
  kill();
  if (opened_before_) throw DeviceLost(what);
  throw NoDevice(what);
}

void WorkerProcess::ensure_running() {
  // Died while nobody asked it anything: no candidate is to blame.
  if (process_ && process_->wait(0)) kill();
  if (!process_) {
    start();
    Json request = Json::object();
    request["do"] = "open";
    request["device"] = setup_.device_id;
    request["clock"] = setup_.clock;
    request["compile_only"] = role_ == Role::kCompile;
    WorkerAnswer answer = ask_at_start(request);
    limits_ = parse_device_limits(JsonObject(answer.reply, kReply).get_object("limits"));
  }
  if (has_input_ || setup_.arena.path.empty()) return;
  Json request = Json::object();
  request["do"] = "input";
  request["target"] = to_json(setup_.target);
  request["arena"] = to_json(setup_.arena);
  request["layout"] = to_json(setup_.layout);
  request["output"] = to_json(setup_.output);
  request["populate"] = role_ == Role::kMeasure;
  ask_at_start(request);
  has_input_ = opened_before_ = true;
}

WorkerAnswer WorkerProcess::ask(const Json& request, double silence_seconds, const std::function<void()>& idle) {
  send(request, silence_seconds);
  for (;;) {
    const double left = std::max(deadline_ - now_seconds(), 0.0);
    if (std::optional<WorkerAnswer> answer = poll(idle ? std::min(left, kIdleStepSeconds) : left)) return *answer;
    if (idle) idle();
  }
}

void WorkerProcess::send(const Json& request, double silence_seconds) {
  silence_seconds_ = silence_seconds;
  deadline_ = now_seconds() + silence_seconds;
  // A write that fails shows as a closed stdout at the next poll, with the reason why the worker ended.
  if (process_)
    process_->write_line(request.dump(-1, ' ', false, Json::error_handler_t::replace), kWriteSeconds);
}

std::optional<WorkerAnswer> WorkerProcess::poll(double wait_seconds) {
  if (!process_) return lost(WorkerAnswer::State::kDied, OutcomeKind::kCrashed, "the worker is not running");
  ReadLine line = process_->read_line(wait_seconds);
  if (line.state == ReadLine::State::kTimeout) {
    if (now_seconds() < deadline_) return std::nullopt;
    process_->kill();
    return lost(WorkerAnswer::State::kTimedOut, OutcomeKind::kTimedOut,
                "no answer within " + shortly(silence_seconds_));
  }
  if (line.state == ReadLine::State::kClosed) {
    // Whoever closes stdout and lives on is killed as well.
    constexpr double kEndSeconds = 1;
    const std::optional<ExitStatus> ended = process_->wait(kEndSeconds);
    const ExitStatus status = ended ? *ended : process_->kill();
    return lost(WorkerAnswer::State::kDied, OutcomeKind::kCrashed, "the worker ended by " + status.describe());
  }
  WorkerAnswer answer = understand(line.text);
  if (answer.state == WorkerAnswer::State::kDone && answer.reply.is_null()) {
    deadline_ = now_seconds() + silence_seconds_;
    return std::nullopt;
  }
  return answer;
}

WorkerAnswer WorkerProcess::understand(const std::string& line) {
  WorkerAnswer answer;
  try {
    const Json reply = parse_json(line, kReply);
    JsonObject object(reply, kReply);
    const std::string is = object.get_string("is");
    if (is == "beat") {
      answer.state = WorkerAnswer::State::kDone;
      return answer;
    }
    answer.reply = reply;
    answer.state = is == "done" ? WorkerAnswer::State::kDone : WorkerAnswer::State::kFailed;
    if (is == "done") return answer;
    answer.failure.detail = object.get_string("detail");
    const std::string kind = object.get_string("kind");
    const bool broken = kind == "internal" || kind == "no_device";
    answer.failure.kind = broken ? OutcomeKind::kLaunchFailed : parse_outcome_kind(kind);
    if (object.get_bool("last", false)) kill();
    return answer;
  } catch (const UserError& error) {
    process_->kill();
    return lost(WorkerAnswer::State::kDied, OutcomeKind::kCrashed,
                std::string("nonsense from the worker: ") + error.what());
  }
}

WorkerAnswer WorkerProcess::lost(WorkerAnswer::State state, OutcomeKind kind, const std::string& what) {
  process_.reset();
  has_input_ = false;
  WorkerAnswer answer;
  answer.state = state;
  answer.failure.kind = kind;
  answer.failure.detail = what;
  const std::string said = tail_of(evidence_.path(stderr_name_));
  if (!said.empty()) {
    answer.failure.detail += "; stderr (" + evidence_.path(stderr_name_) + "): " + said;
    evidence_.keep(stderr_name_);
  }
  return answer;
}

void WorkerProcess::kill() {
  process_.reset();
  has_input_ = false;
}

}  // namespace redtune
