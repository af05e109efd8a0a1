// Runs one small kernel per mapping and form on the first OpenCL device that calls itself a CPU, and checks
// its answers. Plain on the machine's own device, or under Oclgrind, which then is the device and watches
// each memory access; what it has to say comes between the lines that name the kernels.
//
//     oclgrind_host [seed = 1] [untouched]   exits 1 when an answer is wrong, 77 without a device
//
// untouched: nobody fills the outputs and partials, so that Oclgrind can tell who reads them too early. Only
// schedules with vec=1: what it believes of vectors that are taken apart is wrong.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "measure/reference.h"
#include "space/axes.h"
#include "space/mappings.h"
#include "space/search_space.h"
#include "support/error.h"
#include "support/rng.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

struct Shape {
  const char *shape, *axes;
};
constexpr Shape kShapes[] = {
    {"1931", "0"}, {"7x131", "1"}, {"131x37", "0"}, {"3x5x67", "0,2"}, {"3x131x18", "1"},
};

struct Values {
  const char *op, *dtype, *out;
};
// In turns; the output has the type of the accumulator, so that atomics are legal.
constexpr Values kValues[] = {
    {"sum", "f32", ""},     {"max", "f32", ""},  {"sum", "f64", ""},   {"min", "i32", ""},
    {"sum", "bf16", "f32"}, {"prod", "i64", ""}, {"min", "f64", ""},   {"sum", "f16", "f32"},
    {"max", "i64", ""},     {"mean", "f32", ""}, {"any", "i8", "i32"},
};
// Partial results of several members: no atomics but the packed ones of argmax and argmin. In turns too.
constexpr Values kStates[] = {
    {"argmax", "f32", ""}, {"var", "f32", ""},        {"logsumexp", "f64", ""},
    {"argmin", "i8", ""},  {"l2norm", "bf16", "f32"},
};

void check(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw std::runtime_error(what + ": OpenCL error " + std::to_string(code));
}

/// Buffers of the exact size and no pools, unlike the driver that measures: an access past an end is one past
/// the end of the device's memory object. They stay until the process ends: Oclgrind does not forget what it
/// knew of a buffer when the next one takes its address.
class Device {
 public:
  Device() {
    cl_platform_id platform = nullptr;
    if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device_, nullptr) != CL_SUCCESS)
      throw NoDevice("no OpenCL device for the CPU");
    cl_int code = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
    check(code, "make a context");
    queue_ = clCreateCommandQueue(context_, device_, 0, &code);
    check(code, "make a queue");
  }

  /// Compiles a program; `repeat` runs it.
  void load(const Program& program, const Target& target) {
    if (built_ != nullptr) clReleaseProgram(built_);
    built_ = nullptr;
    build(full_text(program, target.kind), target.warp);
  }

  /// Bytes of the output after two repetitions on buffers that were full of `poison`, or untouched.
  std::vector<unsigned char> repeat(const Program& program, const std::vector<unsigned char>& input,
                                    std::optional<unsigned char> poison) {
    std::vector<cl_mem> buffers;
    for (const BufferSpec& spec : program.buffers) buffers.push_back(make_buffer(spec, input, poison));
    for (int repetition = 0; repetition < 2; ++repetition) {
      for (const KernelLaunch& launch : program.launches) enqueue(launch, buffers);
    }
    check(clFinish(queue_), "finish");
    std::vector<unsigned char> output;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (program.buffers[i].kind == BufferKind::kOutput) {
        output.resize(static_cast<std::size_t>(program.buffers[i].bytes()));
        check(clEnqueueReadBuffer(queue_, buffers[i], CL_TRUE, 0, output.size(), output.data(), 0, nullptr,
                                  nullptr),
              "read the output");
      }
    }
    return output;
  }

 private:
  void build(const std::string& text, int warp) {
    const char* source = text.data();
    const std::size_t size = text.size();
    cl_int code = CL_SUCCESS;
    built_ = clCreateProgramWithSource(context_, 1, &source, &size, &code);
    check(code, "hand over the text");
    const std::string options = "-cl-std=CL1.2 -D RT_WARP=" + std::to_string(warp);
    if (clBuildProgram(built_, 1, &device_, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
      std::string log(1 << 16, '\0');
      clGetProgramBuildInfo(built_, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
      throw std::runtime_error("the text does not compile:\n" + log.substr(0, log.find('\0')));
    }
  }

  cl_mem make_buffer(const BufferSpec& spec, const std::vector<unsigned char>& input,
                     std::optional<unsigned char> poison) {
    std::vector<unsigned char> filled(static_cast<std::size_t>(spec.bytes()), poison.value_or(0));
    if (spec.kind == BufferKind::kCounter) std::fill(filled.begin(), filled.end(), 0);
    if (spec.kind == BufferKind::kInput) filled = input;
    const bool touch = poison || spec.kind == BufferKind::kCounter || spec.kind == BufferKind::kInput;
    cl_int code = CL_SUCCESS;
    const cl_mem buffer =
        clCreateBuffer(context_, CL_MEM_READ_WRITE | (touch ? CL_MEM_COPY_HOST_PTR : cl_mem_flags{0}),
                       static_cast<std::size_t>(spec.bytes()), touch ? filled.data() : nullptr, &code);
    check(code, "make buffer '" + spec.name + "'");
    return buffer;
  }

  void enqueue(const KernelLaunch& launch, const std::vector<cl_mem>& buffers) {
    cl_int code = CL_SUCCESS;
    const cl_kernel kernel = clCreateKernel(built_, launch.entry.c_str(), &code);
    check(code, "find kernel '" + launch.entry + "'");
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      const cl_mem buffer = buffers[static_cast<std::size_t>(launch.arguments[i])];
      check(clSetKernelArg(kernel, static_cast<cl_uint>(i), sizeof buffer, &buffer), "set an argument");
    }
    std::size_t global[3], local[3];
    for (std::size_t i = 0; i < 3; ++i) {
      local[i] = static_cast<std::size_t>(launch.block[i]);
      global[i] = static_cast<std::size_t>(launch.grid[i]) * local[i];
    }
    check(clEnqueueNDRangeKernel(queue_, kernel, 3, nullptr, global, local, 0, nullptr, nullptr),
          "launch '" + launch.entry + "'");
    check(clFinish(queue_), "finish '" + launch.entry + "'");
    clReleaseKernel(kernel);
  }

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program built_ = nullptr;
};

bool run_case(Device& device, const Task& task, const Schedule& schedule, bool untouched) {
  std::fprintf(stderr, "case: %s %s\n", task.key().c_str(), schedule.text().c_str());
  const std::vector<unsigned char> input = make_input(task.op, 1);
  const Reference reference = compute_reference(task.op, input, combine_depth(task, schedule));
  const Program program = generate(task, schedule);
  device.load(program, task.target);
  // What is read before it is written shows in the answer: NaN or -1, the smallest and the largest integers.
  std::vector<std::optional<unsigned char>> poisons{0xff, 0x80, 0x7f};
  if (untouched) poisons = {std::nullopt};
  for (const std::optional<unsigned char> poison : poisons) {
    const Verdict verdict = check_output(task.op, reference, device.repeat(program, input, poison));
    if (verdict.pass) continue;
    std::fprintf(stderr, "wrong: %s (memory was full of %02x)\n", verdict.detail.c_str(), poison.value_or(0));
    return false;
  }
  return true;
}

/// A schedule of the space, one without vectors for `untouched`; nothing when there is none.
std::optional<Schedule> draw(const SearchSpace& space, Rng& rng, bool untouched) {
  std::vector<std::size_t> choice;
  for (std::size_t i = 0; i < space.size(); ++i) {
    if (!untouched || space.at(i).vec == 1) choice.push_back(i);
  }
  if (choice.empty()) return std::nullopt;
  return space.at(choice[rng.below(choice.size())]);
}

class Run {
 public:
  Run(std::uint64_t seed, bool untouched) : rng_(seed), untouched_(untouched) {}

  int run() {
    std::size_t turn = 0;
    for (const Shape& shape : kShapes) {
      for (const MappingInfo& mapping : mappings()) one(shape, kValues[turn++ % std::size(kValues)], mapping);
    }
    turn = 0;
    for (const MappingInfo& mapping : mappings()) {
      const std::size_t n = turn++;
      one(kShapes[n % std::size(kShapes)], kStates[n % std::size(kStates)], mapping);
      one(kShapes[(n + 2) % std::size(kShapes)], kStates[(n + 1) % std::size(kStates)], mapping);
    }
    std::fprintf(stderr, "done: %zu cases, %zu mappings, %zu wrong\n", cases_, seen_.size(), failed_);
    const auto possible = std::count_if(mappings().begin(), mappings().end(),
                                        [&](const MappingInfo& row) { return has_mapping(target_, row); });
    return failed_ > 0 || static_cast<std::ptrdiff_t>(seen_.size()) < possible ? 1 : 0;
  }

 private:
  void one(const Shape& shape, const Values& values, const MappingInfo& mapping) {
    const Task task =
        make_task(task_of(shape.shape, shape.axes, "cpu", values.op, values.dtype, values.out).op, target_);
    if (reject_mapping(task, mapping.block, mapping.grid)) return;
    SpaceFilter filter;
    filter.block = mapping.block;
    filter.grid = mapping.grid;
    const std::optional<Schedule> schedule = draw(SearchSpace(task, filter), rng_, untouched_);
    if (!schedule) return;
    seen_.insert(std::string(mapping.name));
    ++cases_;
    failed_ += run_case(device_, task, *schedule, untouched_) ? 0 : 1;
  }

  Device device_;
  const Target target_ = load_target("cpu");
  Rng rng_;
  const bool untouched_;
  std::set<std::string> seen_;
  std::size_t cases_ = 0, failed_ = 0;
};

}  // namespace
}  // namespace redtune

int main(int argc, char** argv) {
  try {
    const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
    return redtune::Run(seed, argc > 2 && std::string(argv[2]) == "untouched").run();
  } catch (const redtune::NoDevice& absent) {
    std::fprintf(stderr, "%s\n", absent.what());
    return 77;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "failed: %s\n", error.what());
  }
  return 1;
}
