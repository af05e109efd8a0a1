// What a deployed program pays: loading a store of 10,000 configs, looking one up, and launching beyond a
// bare enqueue.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "configs/config_index.h"
#include "deploy/include/redtune/deploy.h"
#include "measure/device.h"
#include "space/heuristic.h"
#include "space/mappings.h"
#include "support/hash.h"

namespace redtune {
namespace {

constexpr int kConfigs = 10000;
constexpr const char* kDevice = "a device of the benchmark";

Config config_of(const Task& task, const std::string& device) {
  Config config;
  const Schedule schedule = default_schedule(task);
  config.op = task.op;
  config.determinism = determinism_of(task, schedule);
  config.device = device;
  config.target = task.target.name;
  config.schedule = config.default_schedule = schedule;
  config.seconds = config.low_seconds = config.high_seconds = config.default_seconds = 1e-3;
  config.launches = {{"rt_main", {256, 1, 1}, {32, 4, 1}, 0, {0, 2}},
                     {"rt_final", {8, 1, 1}, {32, 1, 1}, 0, {2, 1}}};
  config.buffers = {{"in", BufferKind::kInput, DType::kF32, task.op.input().storage_elements()},
                    {"out", BufferKind::kOutput, DType::kF32, task.op.output().elements()},
                    {"partials", BufferKind::kScratch, DType::kF32, 1 << 20}};
  config.program_hash = config.log_hash = "0123456789abcdef";
  config.time = "2026-01-31T12:00:00Z";
  config.version = "0.1.0";
  config.kernel =
      KernelFile{KernelLanguage::kOpenCl, "kernels/0123456789abcdef.cl", "-cl-std=CL1.2 -D RT_WARP=8", {}};
  return config;
}

std::string shape_of(int i) {
  return std::to_string(16 + i % 100 * 37) + "x" + std::to_string(16 + i / 100 * 41);
}

Operator operator_of_shape(const std::string& shape) {
  return operator_from_short_form({"sum", shape, "1", "f32", "", "", false});
}

/// A store in a directory that goes away with the process.
class BenchStore {
 public:
  BenchStore() {
    std::string pattern = (std::filesystem::temp_directory_path() / "redtune-bench-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    const Target target = load_target("cpu");
    std::vector<Config> configs;
    for (int i = 0; i < kConfigs; ++i)
      configs.push_back(config_of(make_task(operator_of_shape(shape_of(i)), target), kDevice));
    ConfigStore(path_).put_all(configs);
  }
  ~BenchStore() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const BenchStore& store() {
  static const BenchStore made;
  return made;
}

void cold_load(benchmark::State& state) {
  store();
  for (auto _ : state) benchmark::DoNotOptimize(ConfigIndex::load(store().path()).size());
  state.SetLabel(std::to_string(kConfigs) + " configs, from the page cache");
}
BENCHMARK(cold_load)->Unit(benchmark::kMillisecond);

void lookup(benchmark::State& state, const std::string& suffix, bool through_c) {
  redtune_store* loaded = nullptr;
  redtune_store_open(store().path().c_str(), &loaded);
  const ConfigIndex index = ConfigIndex::load(store().path());
  std::vector<Operator> operators;
  std::vector<redtune_operator*> handles;
  for (int i = 0; i < 64; ++i) {
    operators.push_back(operator_of_shape(shape_of(i * 151) + suffix));
    redtune_operator* op = nullptr;
    redtune_operator_parse(to_json(operators.back()).dump().c_str(), &op);
    handles.push_back(op);
    index.find(operators.back(), kDevice);  // what is asked for the first time is parsed
    redtune_answer answer;
    redtune_find(loaded, op, kDevice, REDTUNE_DEFAULT, &answer);
  }
  std::size_t i = 0;
  for (auto _ : state) {
    i = (i + 1) % operators.size();
    if (through_c) {
      redtune_answer answer;
      redtune_find(loaded, handles[i], kDevice, REDTUNE_DEFAULT, &answer);
      benchmark::DoNotOptimize(answer.grade);
    } else {
      benchmark::DoNotOptimize(index.find(operators[i], kDevice).grade);
    }
  }
  for (redtune_operator* op : handles) redtune_operator_free(op);
  redtune_store_close(loaded);
}
BENCHMARK_CAPTURE(lookup, exact, "", false)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(lookup, exact_c_api, "", true)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(lookup, nearest, "7", false)->Unit(benchmark::kMicrosecond);

/// A tiny reduction on the CPU device: the launch is what costs.
struct Launcher {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_mem input = nullptr, output = nullptr;
  cl_kernel bare = nullptr;
  std::size_t global = 1, local = 1;
  redtune_kernel* kernel = nullptr;
  std::string problem;

  Launcher() {
    for (const DeviceInfo& device : list_devices()) {
      if (device.id != "cpu") continue;
      start(device);
      return;
    }
    problem = "no OpenCL device for the CPU";
  }

  void start(const DeviceInfo& info) {
    const std::string directory = store().path() + "-launch";
    const Task task = make_task(operator_of_shape("8x16"), info.target);
    Config config = config_of(task, info.name);
    const Program program = generate(task, config.schedule);
    const std::string text = full_text(program, task.target.kind);
    config.launches = program.launches;
    config.buffers = program.buffers;
    config.program_hash = hex64(hash64(text));
    config.kernel = write_kernel_text(directory, text, KernelLanguage::kOpenCl, build_options(task.target));
    ConfigStore(directory).put(config, true);
    cl_platform_id platforms[8];
    cl_uint count = 0;
    cl_device_id device = nullptr;
    clGetPlatformIDs(8, platforms, &count);
    for (cl_uint i = 0; i < count && device == nullptr; ++i)
      clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, nullptr);
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
    queue = clCreateCommandQueue(context, device, 0, nullptr);
    input = clCreateBuffer(context, CL_MEM_READ_ONLY, 8 * 16 * 4, nullptr, nullptr);
    output = clCreateBuffer(context, CL_MEM_READ_WRITE, 8 * 4, nullptr, nullptr);
    redtune_store* loaded = nullptr;
    redtune_operator* op = nullptr;
    redtune_store_open(directory.c_str(), &loaded);
    redtune_operator_parse(to_json(task.op).dump().c_str(), &op);
    if (redtune_opencl_kernel(loaded, op, context, device, REDTUNE_EXACT, "", &kernel) != REDTUNE_OK)
      problem = redtune_error();
    redtune_store_close(loaded);
    redtune_operator_free(op);
    const char* source = text.c_str();
    cl_program built = clCreateProgramWithSource(context, 1, &source, nullptr, nullptr);
    clBuildProgram(built, 1, &device, build_options(task.target).c_str(), nullptr, nullptr);
    bare = clCreateKernel(built, program.launches[0].entry.c_str(), nullptr);
    clSetKernelArg(bare, 0, sizeof input, &input);
    clSetKernelArg(bare, 1, sizeof output, &output);
    local = static_cast<std::size_t>(program.launches[0].block[0]);
    global = static_cast<std::size_t>(program.launches[0].grid[0]) * local;
    std::filesystem::remove_all(directory);
  }
};

Launcher& launcher() {
  static Launcher made;
  return made;
}

/// Enqueueing alone: the queue is drained outside of what is timed. Batches are short, so that it never is
/// full.
constexpr int kBatch = 64;

template <typename Enqueue>
void time_enqueues(benchmark::State& state, Enqueue enqueue) {
  Launcher& l = launcher();
  if (!l.problem.empty()) {
    state.SkipWithError(l.problem.c_str());
    return;
  }
  for (int i = 0; i < kBatch; ++i) enqueue(l);
  clFinish(l.queue);
  for (auto _ : state) {
    for (int i = 0; i < kBatch; ++i) enqueue(l);
    state.PauseTiming();
    clFinish(l.queue);
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kBatch);
}

void launch_bare(benchmark::State& state) {
  time_enqueues(state, [](Launcher& l) {
    const std::size_t global[3] = {l.global, 1, 1}, local[3] = {l.local, 1, 1};
    clEnqueueNDRangeKernel(l.queue, l.bare, 3, nullptr, global, local, 0, nullptr, nullptr);
  });
}
BENCHMARK(launch_bare)->Unit(benchmark::kMicrosecond);

void launch_redtune(benchmark::State& state) {
  time_enqueues(state, [](Launcher& l) {
    redtune_opencl_launch(l.kernel, l.queue, l.input, l.output, 0, nullptr, nullptr);
  });
}
BENCHMARK(launch_redtune)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace redtune
