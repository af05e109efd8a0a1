#include "measure/worker.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "measure/device_kinds.h"
#include "measure/fault.h"
#include "measure/guarded_run.h"
#include "measure/protocol.h"
#include "support/error.h"

namespace redtune {
namespace {

constexpr const char* kRequest = "request";

Json done() { return Json{{"is", "done"}}; }

Json failed(std::string_view kind, const std::string& detail, const std::string& log = "") {
  Json reply = Json::object();
  reply["is"] = "failed";
  reply["kind"] = std::string(kind);
  reply["detail"] = detail;
  if (!log.empty()) reply["log"] = log;
  return reply;
}

// Replies go through a descriptor of their own: what a driver or a kernel prints to stdout must not garble
// them.
class Replies {
 public:
  Replies() : file_(::fdopen(::dup(STDOUT_FILENO), "w")) { ::dup2(STDERR_FILENO, STDOUT_FILENO); }
  ~Replies() { std::fclose(file_); }
  Replies(const Replies&) = delete;
  Replies& operator=(const Replies&) = delete;

  void send(const Json& reply) {
    const std::string text = reply.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    std::fwrite(text.data(), 1, text.size(), file_);
    std::fflush(file_);
  }

 private:
  std::FILE* file_;
};

class Worker {
 public:
  Worker(Replies& replies, const Fault& fault) : replies_(replies), fault_(fault) {}
  Json obey(const Json& request);

 private:
  Json open(JsonObject& request);
  Json input(JsonObject& request);
  Json load(JsonObject& request);
  Json prime();
  Json run(JsonObject& request);
  Json time(JsonObject& request);

  Replies& replies_;
  Fault fault_;
  // Memory first: the driver must go before what it reads.
  SharedMemory arena_, output_;
  ArenaLayout layout_;
  Target target_;
  std::unique_ptr<Driver> driver_;
  Program program_;
  std::int64_t number_ = 0;
  std::int64_t next_copy_ = 0;
};

Json Worker::open(JsonObject& request) {
  const std::string id = request.get_string("device");
  const DeviceUse use{id, request.get_string("clock"), request.get_bool("compile_only", false)};
  const DeviceKind* const kind = kind_of_device(id);
  if (kind == nullptr) throw NoDevice("no kind of device owns '" + id + "'");
  driver_ = kind->open(use);
  Json reply = done();
  reply["limits"] = to_json(driver_->limits());
  return reply;
}

Json Worker::input(JsonObject& request) {
  const MemoryAddress arena = parse_memory_address(request.get_object("arena"));
  const MemoryAddress output = parse_memory_address(request.get_object("output"));
  layout_ = parse_arena_layout(request.get_object("layout"));
  target_ = parse_target(request.get("target"), kRequest);
  const bool populate = request.get_bool("populate", true);
  arena_ = SharedMemory::open(arena.path, arena.bytes, SharedMemory::Access::kRead, populate);
  output_ = SharedMemory::open(output.path, output.bytes, SharedMemory::Access::kReadWrite, populate);
  driver_->set_input(arena_.data(), layout_);
  return done();
}

Json Worker::load(JsonObject& request) {
  number_ = request.get_int("number");
  program_ = parse_program(request.get("program"), kRequest);
  const bool compiling = request.get_bool("compiling", false);
  if (compiling && fault_.hits(FaultKind::kCompileHang, number_)) hang();
  if (compiling && fault_.hits(FaultKind::kCompileCrash, number_)) std::abort();
  driver_->load(program_, target_);
  return done();
}

Json Worker::prime() {
  Json reply = done();
  reply["idle"] = driver_->prime();
  return reply;
}

Json Worker::run(JsonObject& request) {
  const std::int64_t copy = request.get_int("copy", 0);
  guarded_run(*driver_, program_, {output_.data(), static_cast<std::size_t>(output_.bytes())}, fault_,
              number_, copy);
  return done();
}

Json Worker::time(JsonObject& request) {
  const SamplingRules rules = parse_sampling_rules(request.get_object("rules"));
  std::int64_t repetition = 0;
  const auto repeat = [&] {
    if (repetition > 0 && fault_.hits(FaultKind::kTimingHang, number_)) hang();
    next_copy_ = (next_copy_ + 1) % layout_.copies;
    std::vector<LaunchTime> times = driver_->launch(next_copy_);
    falsify(fault_, number_, repetition++, times);
    return times;
  };
  const Samples samples = take_samples(rules, program_.launches.size(), repeat, [&] {
    replies_.send(Json{{"is", "beat"}});
  });
  if (!samples.refused.empty()) {
    return failed(name(OutcomeKind::kUnmeasured), "no believable time in three tries: " + samples.refused);
  }
  check_guards(*driver_, program_);
  Json reply = done();
  reply["seconds"] = samples.seconds;
  reply["kernel_seconds"] = samples.kernel_seconds;
  return reply;
}

Json Worker::obey(const Json& line) {
  JsonObject request(line, kRequest);
  const std::string what = request.get_string("do");
  if (what == "open") return open(request);
  if (!driver_) throw InternalError("request '" + what + "' before 'open'");
  if (what == "input") return input(request);
  if (what == "load") return load(request);
  if (what == "prime") return prime();
  if (what == "run") return run(request);
  if (what == "time") return time(request);
  throw InternalError("unknown request '" + what + "'");
}

Json answer(Worker& worker, const std::string& line) {
  try {
    return worker.obey(parse_json(line, kRequest));
  } catch (const CandidateFailure& failure) {
    Json reply = failed(name(failure.kind), failure.what(), failure.log);
    if (failure.worker == WorkerAfter::kLost) reply["last"] = true;
    return reply;
  } catch (const NoDevice& error) {
    return failed("no_device", error.what());
  } catch (const std::exception& error) {
    return failed("internal", error.what());
  }
}

int list(Replies& replies, const std::string& word) {
  for (const DeviceKind& kind : device_kinds()) {
    if (kind.word != word) continue;
    std::string note;
    Json reply = Json::object();
    reply["is"] = "devices";
    Json& devices = reply["devices"] = Json::array();
    try {
      for (const DeviceInfo& device : kind.list(note)) devices.push_back(to_json(device));
    } catch (const std::exception& error) {
      note = word + ": " + error.what();
    }
    reply["note"] = note;
    replies.send(reply);
    return 0;
  }
  std::cerr << "redtune-worker: unknown kind of device '" << word << "'\n";
  return static_cast<int>(ExitCode::kUsage);
}

int serve(Replies& replies) {
  const Fault fault = fault_from_environment();
  if (fault.hits(FaultKind::kStart, 0)) {
    std::cerr << "worker fault: start\n";
    return static_cast<int>(ExitCode::kNoDevice);
  }
  Worker worker(replies, fault);
  for (std::string line; std::getline(std::cin, line);) replies.send(answer(worker, line));
  return 0;
}

}  // namespace

int worker_main(const std::vector<std::string>& arguments) {
  try {
    // OpenCL drivers call the system's linker: without a PATH every kernel would fail to build.
    const char* const path = std::getenv("PATH");
    if (path == nullptr || *path == '\0') ::setenv("PATH", "/usr/bin:/bin", 1);
    Replies replies;
    if (arguments.size() == 2 && arguments[0] == "--list") return list(replies, arguments[1]);
    if (arguments.size() == 1 && arguments[0] == "--serve") return serve(replies);
    std::cerr << "redtune-worker is started by redtune; it has no use of its own\n";
    return static_cast<int>(ExitCode::kUsage);
  } catch (const std::exception& error) {
    std::cerr << "redtune-worker: " << error.what() << "\n";
    return static_cast<int>(ExitCode::kInternal);
  }
}

}  // namespace redtune
