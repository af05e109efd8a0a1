#include "measure/compile_pool.h"

#include <algorithm>
#include <chrono>

#include "support/text.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

struct CompilePool::Slot {
  enum class State { kIdle, kLoading, kPriming };
  Slot(const WorkerSetup& setup, Evidence& evidence, int index)
      : worker(setup, WorkerProcess::Role::kCompile, evidence, index) {}
  WorkerProcess worker;
  State state = State::kIdle;
  CompileJob job;
  Clock::time_point start;
};

CompilePool::CompilePool(const WorkerSetup& setup, int jobs, double deadline_seconds, Evidence& evidence)
    : deadline_seconds_(deadline_seconds), evidence_(evidence) {
  for (int i = 0; i < std::max(jobs, 1); ++i) slots_.push_back(std::make_unique<Slot>(setup, evidence, i));
}

CompilePool::~CompilePool() = default;

bool CompilePool::busy() const {
  return !queue_.empty() || std::any_of(slots_.begin(), slots_.end(),
                                        [](const auto& slot) { return slot->state != Slot::State::kIdle; });
}

void CompilePool::begin(Slot& slot) {
  slot.job = queue_.front();
  queue_.pop_front();
  slot.worker.ensure_running();
  slot.start = Clock::now();
  Json request = Json::object();
  request["do"] = "load";
  request["number"] = slot.job.number;
  request["compiling"] = true;
  request["program"] = to_json(*slot.job.program);
  slot.worker.send(request, deadline_seconds_);
  slot.state = Slot::State::kLoading;
}

std::string CompilePool::keep_log(const CompileJob& job, const Json& reply) {
  const auto log = reply.find("log");
  if (log == reply.end() || !log->is_string()) return "";
  const std::string path =
      evidence_.keep("compile-" + std::to_string(job.number) + ".log", log->get_ref<const std::string&>());
  return path.empty() ? "" : " (whole log: " + path + ")";
}

// True when the job is finished; false while it goes on, in this worker or, requeued, in the next.
bool CompilePool::advance(Slot& slot, const WorkerAnswer& answer, Compiled& result) {
  const bool loading = slot.state == Slot::State::kLoading;
  if (loading && answer.state == WorkerAnswer::State::kDone) {
    slot.worker.send(Json{{"do", "prime"}}, deadline_seconds_);
    slot.state = Slot::State::kPriming;
    return false;
  }
  slot.state = Slot::State::kIdle;
  result.job = slot.job;
  result.seconds = std::chrono::duration<double>(Clock::now() - slot.start).count();
  result.failure = answer.failure;
  switch (answer.state) {
    case WorkerAnswer::State::kDone:
      result.ok = true;
      // A kernel still runs in there: nothing else can be compiled behind it.
      if (!answer.reply.value("idle", true)) slot.worker.kill();
      break;
    case WorkerAnswer::State::kTimedOut:
      result.failure.detail = "compiling took longer than " + format_seconds(deadline_seconds_);
      break;
    case WorkerAnswer::State::kDied:
      if (loading && !slot.job.retried) {  // once more, in a fresh worker: the second death is the program's
        slot.job.retried = true;
        queue_.push_front(slot.job);
        return false;
      }
      result.failure.kind = OutcomeKind::kCompileFailed;
      result.failure.detail = "the compiler's process died: " + answer.failure.detail;
      // It had compiled and died of the kernel itself: measuring will tell.
      result.ok = !loading;
      break;
    case WorkerAnswer::State::kFailed:
      result.ok = !loading;
      result.failure.detail += keep_log(slot.job, answer.reply);
      break;
  }
  return true;
}

std::vector<Compiled> CompilePool::poll() {
  std::vector<Compiled> finished;
  for (const auto& slot : slots_) {
    if (slot->state != Slot::State::kIdle) {
      const std::optional<WorkerAnswer> answer = slot->worker.poll(0);
      Compiled result;
      if (answer && advance(*slot, *answer, result)) finished.push_back(std::move(result));
    }
    if (slot->state == Slot::State::kIdle && !queue_.empty()) begin(*slot);
  }
  return finished;
}

void CompilePool::cancel() {
  queue_.clear();
  for (const auto& slot : slots_) {
    if (slot->state != Slot::State::kIdle) slot->worker.kill();
    slot->state = Slot::State::kIdle;
  }
}

}  // namespace redtune
