#include "measure/verifier.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>

#include "codegen/codegen.h"
#include "measure/answers.h"
#include "measure/feasibility.h"
#include "measure/kernel_linker.h"
#include "measure/parallel.h"
#include "measure/worker_process.h"
#include "space/axes.h"
#include "support/cpu_facts.h"
#include "support/error.h"
#include "support/files.h"
#include "support/text.h"

namespace redtune {
namespace {

/// Buffers of one build together, and the outputs that a worker hands over.
constexpr std::int64_t kMostBuildBytes = std::int64_t{256} << 20;

/// Where workers find their linker and PoCL keeps kernels meanwhile, in the directory of the evidence.
constexpr const char *kLinkerDirectory = "linker", *kKernelDirectory = "kernels";

std::string make_directory(const std::string& path) {
  make_directories(path);
  return path;
}

bool in_path(const std::string& program) {
  const char* const path = std::getenv("PATH");
  for (const std::string& directory : split(path ? path : "", ':')) {
    std::error_code ignored;
    if (std::filesystem::exists(directory + "/" + program, ignored)) return true;
  }
  return false;
}

std::int64_t own_bytes(const Program& program) {
  std::int64_t bytes = 0;
  for (const BufferSpec& spec : program.buffers) bytes += spec.kind == BufferKind::kInput ? 0 : spec.bytes();
  return bytes;
}

}  // namespace

/// Schedules that are compiled together.
struct Verifier::Build {
  std::vector<ScheduleVerdict> members;
  Program program;
};

struct Verifier::Slot {
  enum class State { kIdle, kLoading, kRunning };
  Slot(const DeviceInfo& device, const VerifyOptions& options, Evidence& evidence, int index)
      : log(evidence.path("oclgrind-" + std::to_string(index) + ".log")),
        worker(setup, WorkerProcess::Role::kVerify, evidence, index) {
    setup.device_id = device.id;
    setup.fault = options.worker_fault;
    setup.command_prefix = watch_command(options.watch, log.path());
    // PoCL adds this to the options of every build.
    if (!options.optimize) setup.environment.emplace_back("POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable");
    const std::string linker = short_linker(make_directory(evidence.path(kLinkerDirectory)));
    if (!linker.empty()) setup.environment.push_back(linker);
    if (options.keep_kernels) return;
    setup.environment.emplace_back("POCL_KERNEL_CACHE=0");
    setup.environment.push_back("POCL_CACHE_DIR=" + make_directory(evidence.path(kKernelDirectory)));
  }
  WorkerSetup setup;
  WatchLog log;
  WorkerProcess worker;
  SharedMemory output;
  State state = State::kIdle;
  Build build;
  std::size_t input = 0;
};

/// One call of verify.
struct Verifier::Work {
  const Task& task;
  std::span<const Schedule> schedules;
  const std::function<void(const ScheduleVerdict&)>& done;
  const std::vector<VerifyInput>& inputs;
  std::vector<Answers> answers;  // one per input
  SharedMemory arena;
  ArenaLayout layout;
  std::int64_t output_bytes = 0;
  std::size_t most_members = 1;
  std::deque<std::vector<std::size_t>> waiting;  // schedules by build
  std::deque<Build> ready;
};

Verifier::Verifier(const DeviceInfo& device, const VerifyOptions& options)
    : device_(device), options_(options), evidence_(std::make_unique<Evidence>()) {
  if (options.watch != Watch::kNone && !in_path("oclgrind")) {
    throw UserError("oclgrind is not installed; install the package oclgrind, or verify without it");
  }
  const int jobs = options.jobs > 0 ? options.jobs : host_cores();
  for (int i = 0; i < jobs; ++i) slots_.push_back(std::make_unique<Slot>(device, options, *evidence_, i));
}

// Evidence may stay, these need not.
Verifier::~Verifier() {
  slots_.clear();
  std::error_code ignored;
  for (const char* name : {kLinkerDirectory, kKernelDirectory}) {
    std::filesystem::remove_all(evidence_->path(name), ignored);
  }
}

std::vector<VerifyInput> pattern_inputs(const Operator& op, std::uint64_t seed) {
  std::vector<VerifyInput> inputs;
  for (const InputPattern& pattern : input_patterns()) {
    if (applies(pattern, op)) inputs.push_back({std::string(pattern.name), make_input(op, pattern, seed)});
  }
  return inputs;
}

// Inputs, one copy of the arena for each, their references, and memory for the outputs of each worker.
void Verifier::set_task(Work& work) {
  const Operator& op = work.task.op;
  const std::int64_t input_bytes = input_layout(op).bytes;
  work.output_bytes = output_bytes(op);
  std::int64_t results = 0;
  for (const Tensor& tensor : op.outputs) results += tensor.elements();
  work.layout = arena_layout(input_bytes, 0, false, 0);
  work.layout.copies = static_cast<std::int64_t>(work.inputs.size());
  work.most_members = static_cast<std::size_t>(std::clamp<std::int64_t>(
      kMostBuildBytes / std::max<std::int64_t>(work.output_bytes, 1), 1,
      static_cast<std::int64_t>(std::max<std::size_t>(options_.programs_per_build, 1))));
  constexpr std::int64_t kReferenceBytes = 4 * 8;
  const std::int64_t needed = work.layout.bytes() +
                              kReferenceBytes * work.layout.copies * results +
                              static_cast<std::int64_t>(slots_.size()) * 2 * kMostBuildBytes;
  if (needed > available_memory_bytes()) {
    throw UserError("to verify " + op.title() + " on " + std::to_string(work.inputs.size()) +
                    " inputs needs " + format_bytes(needed) + " of memory, free are " +
                    format_bytes(available_memory_bytes()) + "; choose a smaller shape");
  }
  work.arena = SharedMemory::create("redtune-inputs", work.layout.bytes());
  for (std::size_t p = 0; p < work.inputs.size(); ++p) {
    const std::vector<unsigned char>& input = work.inputs[p].bytes;
    if (!input.empty()) {
      std::memcpy(work.arena.data() + work.layout.offset(static_cast<std::int64_t>(p)), input.data(),
                  input.size());
    }
    work.answers.push_back(compute_answers(op, input));
  }
  for (const auto& slot : slots_) {
    const auto outputs = static_cast<std::int64_t>(work.most_members) * work.output_bytes;
    slot->output = SharedMemory::create("redtune-outputs", outputs);
    slot->setup.target = work.task.target;
    slot->setup.layout = work.layout;
    slot->setup.arena = {work.arena.path(), work.arena.bytes()};
    slot->setup.output = {slot->output.path(), slot->output.bytes()};
    slot->worker.forget_input();
  }
}

// Generates the programs of `members` and merges them into as few builds as their buffers allow.
void Verifier::prepare(Work& work, const std::vector<std::size_t>& members) {
  std::vector<Program> programs(members.size());
  std::vector<std::string> failures(members.size());
  parallel_for(static_cast<std::int64_t>(members.size()), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    try {
      programs[at] = generate(work.task, work.schedules[members[at]]);
    } catch (const std::exception& error) {
      failures[at] = error.what();
    }
  });
  Build build;
  std::vector<Program> parts;
  std::int64_t bytes = 0;
  const auto close = [&] {
    if (parts.empty()) return;
    build.program = parts.size() == 1 ? parts.front() : merge(parts);
    work.ready.push_back(std::move(build));
    build = {};
    parts.clear();
    bytes = 0;
  };
  for (std::size_t i = 0; i < members.size(); ++i) {
    ScheduleVerdict verdict;
    verdict.index = members[i];
    if (!failures[i].empty()) {
      verdict.failure = OutcomeKind::kCompileFailed;
      verdict.detail = "no kernel text: " + failures[i];
      work.done(verdict);
      continue;
    }
    if (bytes + own_bytes(programs[i]) > kMostBuildBytes) close();
    bytes += own_bytes(programs[i]);
    build.members.push_back(verdict);
    parts.push_back(std::move(programs[i]));
  }
  close();
}

void Verifier::run_next(Slot& slot) {
  slot.state = Slot::State::kRunning;
  Json request = Json::object();
  request["do"] = "run";
  request["copy"] = slot.input;
  slot.worker.send(request, options_.run_deadline_seconds);
}

void Verifier::begin(Work& work, Slot& slot) {
  slot.build = std::move(work.ready.front());
  work.ready.pop_front();
  slot.input = 0;
  slot.worker.ensure_running();
  if (slot.build.members.size() == 1) {
    const std::optional<Outcome> refused =
        refuse_program(slot.build.program, slot.worker.limits(), work.layout.input_bytes, work.output_bytes);
    if (refused) return fail(work, slot, refused->kind, refused->detail);
  }
  Json request = Json::object();
  request["do"] = "load";
  request["number"] = slot.build.members.front().index + 1;
  request["program"] = to_json(slot.build.program);
  slot.worker.send(request, options_.build_deadline_seconds);
  slot.state = Slot::State::kLoading;
}

// Of several that were built together nobody knows which one is to blame: each is tried alone.
void Verifier::fail(Work& work, Slot& slot, OutcomeKind kind, const std::string& detail) {
  const bool running = slot.state == Slot::State::kRunning;
  slot.state = Slot::State::kIdle;
  if (slot.build.members.size() > 1) {
    for (const ScheduleVerdict& member : slot.build.members) work.waiting.push_front({member.index});
    return;
  }
  ScheduleVerdict& verdict = slot.build.members.front();
  if (!verdict.failure) {
    verdict.failure = kind;
    verdict.detail = detail;
    if (running) verdict.input = work.inputs[slot.input].name;
  }
  work.done(verdict);
}

void Verifier::compare(Work& work, Slot& slot) {
  const auto bytes = static_cast<std::size_t>(work.output_bytes);
  const unsigned char* output = slot.output.data();
  for (ScheduleVerdict& member : slot.build.members) {
    Answers& answers = work.answers[slot.input];
    answers.at_depth(answer_depth(work.task, work.schedules[member.index]));
    const Verdict verdict = check_answers(work.task.op, answers, {output, output + bytes});
    output += bytes;
    ++member.runs;
    member.max_error = std::max(member.max_error, verdict.max_error);
    if (verdict.pass || member.failure) continue;
    member.failure = OutcomeKind::kWrongResult;
    member.input = work.inputs[slot.input].name;
    member.detail = verdict.detail;
  }
}

void Verifier::advance(Work& work, Slot& slot) {
  const std::optional<WorkerAnswer> answer = slot.worker.poll(0);
  if (!answer) return;
  if (answer->state != WorkerAnswer::State::kDone) {
    slot.log.take();
    return fail(work, slot, answer->failure.kind, answer->failure.detail);
  }
  const std::vector<std::string> reports = slot.log.take();
  if (!reports.empty()) return fail(work, slot, OutcomeKind::kWrongResult, "oclgrind: " + reports.front());
  if (slot.state == Slot::State::kLoading) return run_next(slot);
  compare(work, slot);
  if (++slot.input < work.inputs.size()) return run_next(slot);
  slot.state = Slot::State::kIdle;
  for (const ScheduleVerdict& member : slot.build.members) work.done(member);
}

void Verifier::verify(const Task& task, std::span<const Schedule> schedules,
                      const std::vector<VerifyInput>& inputs,
                      const std::function<void(const ScheduleVerdict&)>& done,
                      const std::function<bool()>& stop) {
  Work work{task, schedules, done, inputs, {}, {}, {}, 0, 1, {}, {}};
  set_task(work);
  for (std::size_t i = 0; i < schedules.size(); i += work.most_members) {
    std::vector<std::size_t> members(std::min(work.most_members, schedules.size() - i));
    std::iota(members.begin(), members.end(), i);
    work.waiting.push_back(std::move(members));
  }
  const auto busy = [](const auto& slot) { return slot->state != Slot::State::kIdle; };
  // A worker in the middle of something would answer the next task.
  struct Quiet {
    Verifier& verifier;
    ~Quiet() {
      for (const auto& slot : verifier.slots_) {
        if (slot->state != Slot::State::kIdle) slot->worker.kill();
        slot->state = Slot::State::kIdle;
      }
    }
  } const quiet{*this};
  while (!work.waiting.empty() || !work.ready.empty() || std::any_of(slots_.begin(), slots_.end(), busy)) {
    if (stop && stop()) return;
    for (const auto& slot : slots_) {
      if (busy(slot)) advance(work, *slot);
      if (!busy(slot) && !work.ready.empty()) begin(work, *slot);
    }
    if (!work.waiting.empty() && work.ready.size() < slots_.size()) {
      const std::vector<std::size_t> members = std::move(work.waiting.front());
      work.waiting.pop_front();
      prepare(work, members);
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }
}

}  // namespace redtune
