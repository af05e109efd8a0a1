#include "tuner/bench/baseline_process.h"

#include <filesystem>

#include "support/error.h"
#include "support/files.h"

namespace redtune {
namespace {

constexpr std::string_view kHost = "redtune-baseline", kCuda = "redtune-baseline-cuda";

constexpr ProgramBaseline kPrograms[] = {
    {"openmp", kHost, "a plain OpenMP loop, compiled for this processor", false},
    {"onednn", kHost, "oneDNN's reduction primitive", false},
    {"cub", kCuda, "CUB, run_to_run (its default)", true},
    {"cub_not_guaranteed", kCuda, "CUB, any order of additions", true},
    {"cub_gpu_to_gpu", kCuda, "CUB, the same bits on every GPU", true},
    {"cudnn", kCuda, "cuDNN's reduce tensor", true},
};

Subprocess start(const ProgramBaseline& which, const BaselineSetup& setup) {
  const std::string path = baseline_program_path(which.program);
  if (path.empty()) {
    throw UserError("the program " + std::string(which.program) + " is not there; it is built with redtune " +
                    (which.on_cuda ? "where nvcc is found" : "where the compiler has OpenMP"));
  }
  SubprocessOptions options;
  options.command = {path};
  // Threads that go to sleep between calls leave the cores to the device.
  if (!which.on_cuda) options.extra_environment = {"OMP_PROC_BIND=false", "OMP_DYNAMIC=false"};
  if (!setup.device.empty()) options.extra_environment.push_back("CUDA_VISIBLE_DEVICES=" + setup.device);
  options.stderr_path = "/dev/null";
  return Subprocess(options);
}

}  // namespace

std::span<const ProgramBaseline> program_baselines() { return kPrograms; }

const ProgramBaseline* find_program_baseline(std::string_view name) {
  for (const ProgramBaseline& row : kPrograms) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string baseline_program_path(std::string_view program) {
  std::error_code ignored;
  for (const std::string& directory : {executable_directory(), std::string(REDTUNE_BUILD_BIN)}) {
    const std::string path = directory + "/" + std::string(program);
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return "";
}

BaselineProcess::BaselineProcess(const ProgramBaseline& which, const Task& task, const BaselineSetup& setup)
    : name_(which.name), process_(start(which, setup)) {
  Json request = {{"do", "open"},
                  {"baseline", setup.name},
                  {"operator", to_json(task.op)},
                  {"target", to_json(task.target)},
                  {"seed", setup.seed},
                  {"cold", setup.cold},
                  {"threads", setup.threads}};
  const Json reply = ask(request);
  JsonObject object(reply, "baseline " + name_);
  version_ = object.get_string("version");
  implementation_ = object.get_string("implementation");
  clock_ = object.get_string("clock");
  reference_ = object.get_bool("reference", false);
}

BaselineProcess::Samples BaselineProcess::sample(int count) {
  const Json reply = ask({{"do", "sample"}, {"count", count}});
  JsonObject object(reply, "baseline " + name_);
  Samples samples;
  for (const Json& seconds : object.get("seconds")) samples.seconds.push_back(seconds.get<double>());
  samples.preempted = static_cast<int>(object.get_int("preempted", 0));
  return samples;
}

Json BaselineProcess::ask(const Json& request) {
  constexpr double kWrite = 10, kLongest = 300;
  if (!process_.write_line(request.dump(), kWrite)) {
    throw UserError("its program has gone: " + process_.kill().describe());
  }
  const ReadLine line = process_.read_line(kLongest);
  if (line.state == ReadLine::State::kTimeout) throw UserError("no answer in 300 s");
  if (line.state == ReadLine::State::kClosed) {
    throw UserError("its program ended: " + process_.kill().describe());
  }
  Json reply = parse_json(line.text, "baseline " + name_);
  JsonObject object(reply, "baseline " + name_);
  if (object.get_string("is") == "failed") throw UserError(object.get_string("detail"));
  return reply;
}

}  // namespace redtune
