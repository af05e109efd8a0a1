#include "measure/device_evaluator.h"

#include <algorithm>
#include <thread>

#include "measure/device_kinds.h"
#include "support/error.h"
#include "support/hash.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;

// Adds the wall time of a scope.
class [[nodiscard]] Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& total_;
  Clock::time_point start_ = Clock::now();
};

std::uint64_t hash_of(const Program& program) { return hash64(to_json(program).dump()); }

int compile_jobs(const MeasureOptions& options) {
  if (options.compile_jobs > 0) return options.compile_jobs;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

struct DeviceEvaluator::Batch {
  std::span<const Candidate> candidates;
  const Callbacks& callbacks;
  std::vector<std::int64_t> numbers;
  std::vector<std::uint64_t> hashes;
  std::vector<double> compile_seconds;
  std::deque<std::size_t> ready;

  bool stopped() const { return callbacks.stop && callbacks.stop(); }
  void done(std::size_t index, Outcome outcome) const {
    outcome.compile_seconds = compile_seconds[index];
    if (callbacks.done) callbacks.done(index, outcome);
  }
};

DeviceEvaluator::DeviceEvaluator(const DeviceInfo& device, const Task& task, const MeasureOptions& options)
    : session_(device, task, options, [&] { return make_input(task.op, options.data_seed); }),
      pool_(session_.setup(), compile_jobs(options), options.compile_deadline_seconds, session_.evidence()),
      overlap_(measures_while_compiling(task.target)) {}

void DeviceEvaluator::submit(Batch& batch) {
  for (std::size_t i = 0; i < batch.candidates.size(); ++i) {
    const Program& program = batch.candidates[i].program;
    batch.numbers.push_back(++candidates_);
    batch.hashes.push_back(hash_of(program));
    batch.compile_seconds.push_back(0);
    if (const std::optional<Outcome> refused = session_.refuse(program)) {
      batch.done(i, *refused);
    } else if (compiled_.contains(batch.hashes[i])) {
      batch.ready.push_back(i);
    } else {
      pool_.submit({i, batch.numbers[i], &program});
    }
  }
}

void DeviceEvaluator::collect(Batch& batch) {
  for (const Compiled& compiled : pool_.poll()) {
    const std::size_t index = compiled.job.index;
    batch.compile_seconds[index] = compiled.seconds;
    if (!compiled.ok) {
      batch.done(index, compiled.failure);
      continue;
    }
    compiled_.insert(batch.hashes[index]);
    batch.ready.push_back(index);
  }
}

// Until all are compiled, or (not `for_all`) until one is ready. False when it was told to stop.
bool DeviceEvaluator::wait_for_compilers(Batch& batch, bool for_all) {
  const Stopwatch watch(split_.compiling);
  constexpr auto kStep = std::chrono::milliseconds(1);
  while (pool_.busy() && (for_all || batch.ready.empty())) {
    if (batch.stopped()) return false;
    collect(batch);
    std::this_thread::sleep_for(kStep);
  }
  return true;
}

void DeviceEvaluator::measure(Batch& batch, std::size_t index) {
  const Stopwatch watch(split_.measuring);
  const auto starting = [&] {
    if (batch.callbacks.starting) batch.callbacks.starting(index);
  };
  Outcome outcome = session_.check(batch.candidates[index], batch.numbers[index], starting);
  if (outcome.timed()) outcome = session_.time(std::move(outcome));
  batch.done(index, std::move(outcome));
}

void DeviceEvaluator::evaluate(std::span<const Candidate> candidates, const Callbacks& callbacks) {
  Batch batch{candidates, callbacks, {}, {}, {}, {}};
  // The jobs point into the batch: none may outlive it, whatever ends this call.
  struct Cancel {
    CompilePool& pool;
    MeasuringSession& session;
    ~Cancel() {
      pool.cancel();
      session.set_idle(nullptr);
    }
  } const cancel{pool_, session_};
  submit(batch);
  if (overlap_) session_.set_idle([&] { collect(batch); });
  while (pool_.busy() || !batch.ready.empty()) {
    if (batch.stopped() || !wait_for_compilers(batch, !overlap_)) return;
    // In the order of the batch, whichever compiler was faster: the same seed gives the same run.
    if (!overlap_) std::sort(batch.ready.begin(), batch.ready.end());
    if (batch.ready.empty()) continue;
    const std::size_t index = batch.ready.front();
    batch.ready.pop_front();
    measure(batch, index);
  }
}

std::unique_ptr<Evaluator> make_device_evaluator(const DeviceInfo& device, const Task& task,
                                                 const MeasureOptions& options) {
  return std::make_unique<DeviceEvaluator>(device, task, options);
}

RunResult run_once(const DeviceInfo& device, const Task& task, const Candidate& candidate,
                   const std::function<std::vector<unsigned char>()>& make_input,
                   const MeasureOptions& options) {
  const auto whole_input = [&] {
    std::vector<unsigned char> input = make_input();
    const std::int64_t needed = input_layout(task.op).bytes;
    if (static_cast<std::int64_t>(input.size()) != needed) {
      throw UserError("input has " + std::to_string(input.size()) + " bytes, " + task.op.title() + " needs " +
                      std::to_string(needed));
    }
    return input;
  };
  MeasureOptions once = options;
  once.cold = false;  // one copy of the input is enough
  MeasuringSession session(device, task, once, whole_input);
  RunResult result;
  if (std::optional<Outcome> refused = session.refuse(candidate.program)) {
    result.outcome = *refused;
    return result;
  }
  session.compile(candidate, 1);
  result.outcome = session.check(candidate, 1, nullptr);
  result.output = session.output();
  return result;
}

}  // namespace redtune
