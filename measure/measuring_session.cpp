#include "measure/measuring_session.h"

#include <algorithm>
#include <chrono>

#include "support/cpu_facts.h"
#include "measure/feasibility.h"
#include "space/axes.h"
#include "support/error.h"
#include "support/stats.h"
#include "support/stopwatch.h"
#include "support/text.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;


// Above what any machine of the kind reads from memory; only times far beyond it are called impossible.
double memory_roof(const Target& target) {
  if (target.memory_bytes_per_second > 0) return target.memory_bytes_per_second;
  constexpr double kPerCore = 40e9, kLeastForCpu = 400e9, kGpu = 10e12;
  return target.kind == TargetKind::kOpenClCpu ? std::max(kPerCore * target.units, kLeastForCpu) : kGpu;
}

Json request(const char* what) {
  Json json = Json::object();
  json["do"] = what;
  return json;
}

Json load_request(const Candidate& candidate, std::int64_t number) {
  Json load = request("load");
  load["number"] = number;
  load["program"] = to_json(candidate.program);
  return load;
}

}  // namespace

MeasuringSession::MeasuringSession(const DeviceInfo& device, const Task& task, const MeasureOptions& options,
                                   const std::function<std::vector<unsigned char>()>& make_input)
    : device_(device), task_(task), options_(options) {
  setup_.device_id = device.id;
  setup_.clock = device.clock;
  setup_.target = task.target;
  setup_.fault = options.worker_fault;
  worker_.emplace(setup_, WorkerProcess::Role::kMeasure, evidence_, 0);
  worker_->ensure_running();
  require_memory();
  input_ = make_input();
  const std::int64_t most = std::min(worker_->limits().buffer_bytes, available_memory_bytes() / 2);
  setup_.layout = arena_layout(static_cast<std::int64_t>(input_.size()), device.target.last_level_cache_bytes,
                               options.cold, most);
  arena_ = make_arena(setup_.layout, input_);
  output_ = SharedMemory::create("redtune-output", output_bytes(task.op));
  setup_.arena = {arena_.path(), arena_.bytes()};
  setup_.output = {output_.path(), output_.bytes()};
  worker_->ensure_running();
}

void MeasuringSession::require_memory() const {
  const DeviceLimits& limits = worker_->limits();
  const std::int64_t input = input_layout(task_.op).bytes;
  const std::int64_t largest = std::max(input, output_bytes(task_.op)) + kGuardBytes;
  if (largest > limits.buffer_bytes) {
    throw UserError("task " + task_.op.title() + " needs a buffer of " + format_bytes(largest) +
                    ", device '" + device_.id + "' allows " + format_bytes(limits.buffer_bytes) +
                    "; choose a smaller shape");
  }
  // The input and its shared copy, the output twice, and the reference: values, tolerances and what makes
  // them.
  constexpr std::int64_t kReferenceBytes = 5 * 8;
  std::int64_t results = 0;
  for (const Tensor& tensor : task_.op.outputs) results += tensor.elements();
  const std::int64_t needed =
      2 * input + 2 * output_bytes(task_.op) + kReferenceBytes * results;
  const std::int64_t free = available_memory_bytes();
  if (needed > free) {
    throw UserError("task " + task_.op.title() + " needs " + format_bytes(needed) + " of memory, free are " +
                    format_bytes(free) + "; choose a smaller shape");
  }
}

std::optional<Outcome> MeasuringSession::refuse(const Program& program) const {
  return refuse_program(program, worker_->limits(), setup_.layout.input_bytes, output_bytes(task_.op));
}

// Found once: only its tolerance differs from schedule to schedule.
const Answers& MeasuringSession::answers(const Candidate& candidate) {
  if (!answers_) {
    answers_ = compute_answers(task_.op, input_);
    input_ = {};  // the shared copy is enough from here on
  }
  answers_->at_depth(answer_depth(task_, candidate.schedule));
  return *answers_;
}

double MeasuringSession::launch_deadline() const {
  return std::max(options_.deadline_floor_seconds, options_.deadline_factor * best_seconds_);
}

double MeasuringSession::least_seconds() const {
  constexpr std::int64_t kBig = 1 << 20;
  const std::int64_t input = setup_.layout.input_bytes;
  if (!options_.cold || input < kBig) return 0;
  const double bytes = std::min(task_.compulsory_bytes(), static_cast<double>(input));
  constexpr double kGenerous = 4;
  return bytes / (kGenerous * memory_roof(task_.target));
}

void MeasuringSession::compile(const Candidate& candidate, std::int64_t number) {
  worker_->ensure_running();
  const double deadline = options_.compile_deadline_seconds;
  if (worker_->ask(load_request(candidate, number), deadline, idle_).state != WorkerAnswer::State::kDone) return;
  const WorkerAnswer answer = worker_->ask(request("prime"), deadline, idle_);
  if (answer.state == WorkerAnswer::State::kDone && !answer.reply.value("idle", true)) worker_->kill();
}

Outcome MeasuringSession::check(const Candidate& candidate, std::int64_t number,
                                const std::function<void()>& starting) {
  const Clock::time_point start = Clock::now();
  worker_->ensure_running();
  const auto finish = [&](Outcome outcome) {
    outcome.measure_seconds = seconds_since(start);
    return outcome;
  };
  WorkerAnswer answer = worker_->ask(load_request(candidate, number), options_.compile_deadline_seconds, idle_);
  if (answer.state != WorkerAnswer::State::kDone) return finish(answer.failure);
  if (starting) starting();
  const double deadline = launch_deadline();
  answer = worker_->ask(request("run"), deadline, idle_);
  if (answer.state == WorkerAnswer::State::kTimedOut) {
    answer.failure.detail = "the first launch did not end within " + format_seconds(deadline);
  }
  if (answer.state != WorkerAnswer::State::kDone) return finish(answer.failure);
  const Verdict verdict = check_answers(task_.op, answers(candidate), output());
  Outcome outcome;
  outcome.kind = verdict.pass ? OutcomeKind::kTimed : OutcomeKind::kWrongResult;
  outcome.detail = verdict.pass ? "" : verdict.detail;
  outcome.max_error = verdict.max_error;
  return finish(outcome);
}

Outcome MeasuringSession::time(Outcome checked) {
  const Clock::time_point start = Clock::now();
  const SamplingRules rules{options_.min_samples,           options_.max_samples, options_.target_spread,
                            options_.max_seconds_per_trial, best_seconds_,        least_seconds()};
  Json json = request("time");
  json["rules"] = to_json(rules);
  // Short repetitions come with a beat only four times a second.
  constexpr double kBeatSeconds = 0.5;
  WorkerAnswer answer = worker_->ask(json, launch_deadline() + kBeatSeconds, idle_);
  const double seconds = checked.measure_seconds + seconds_since(start);
  if (answer.state != WorkerAnswer::State::kDone) {
    answer.failure.max_error = checked.max_error;
    answer.failure.measure_seconds = seconds;
    return answer.failure;
  }
  Outcome outcome = std::move(checked);
  outcome.measure_seconds = seconds;
  outcome.seconds = answer.reply.at("seconds").get<std::vector<double>>();
  outcome.median_seconds = median(outcome.seconds);
  constexpr int kResamples = 1000;
  const Interval interval = bootstrap_median(outcome.seconds, 0.95, kResamples, 1);
  outcome.low_seconds = interval.low;
  outcome.high_seconds = interval.high;
  outcome.spread = relative_spread(outcome.seconds);
  outcome.kernel_seconds = median(answer.reply.at("kernel_seconds").get<std::vector<double>>());
  return outcome;
}

std::vector<unsigned char> MeasuringSession::output() const {
  return {output_.data(), output_.data() + output_.bytes()};
}

}  // namespace redtune
