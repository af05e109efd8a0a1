// The C API: values in, values out. What is thrown inside ends here as a status and a message.
#include "deploy/include/redtune/deploy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>

#include "configs/config_index.h"
#include "deploy/cuda_kernel.h"
#include "deploy/failure.h"
#include "deploy/host.h"
#include "deploy/lookup.h"
#include "deploy/opencl_kernel.h"
#include "support/error.h"
#include "support/text.h"
#include "support/version.h"

struct redtune_store {
  redtune::ConfigIndex index;
  std::string problems;
};

struct redtune_operator {
  redtune::Operator op;
  std::string key, output_dtype;
};

struct redtune_kernel {
  redtune::Answer answer;
  std::unique_ptr<redtune::deploy::OpenClKernel> opencl;  // one of the two
  std::unique_ptr<redtune::deploy::CudaKernel> cuda;
};

struct redtune_host {
  explicit redtune_host(const std::string& device) : host(device) {}
  redtune::deploy::Host host;
};

namespace redtune::deploy {
namespace {

// A fixed buffer: keeping a message must not fail for want of memory.
thread_local char last_error[1024] = "";

redtune_status keep(redtune_status status, const char* message) noexcept {
  std::strncpy(last_error, message, sizeof last_error - 1);
  return status;
}

template <typename Body>
redtune_status guarded(Body&& body) noexcept {
  try {
    body();
    return REDTUNE_OK;
  } catch (const Failure& failure) {
    return keep(failure.status, failure.what());
  } catch (const UserError& error) {
    return keep(REDTUNE_BAD_INPUT, error.what());
  } catch (const NoDevice& error) {
    return keep(REDTUNE_NO_DEVICE, error.what());
  } catch (const std::bad_alloc&) {
    return keep(REDTUNE_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& error) {
    return keep(REDTUNE_INTERNAL, error.what());
  } catch (...) {
    return keep(REDTUNE_INTERNAL, "unknown exception");
  }
}

template <typename Pointer>
void need(Pointer pointer, const char* what) {
  if (pointer == nullptr) refuse(std::string("argument '") + what + "' is a null pointer");
}

template <std::size_t N>
void copy_text(char (&into)[N], std::string_view text) {
  const std::size_t size = std::min(text.size(), N - 1);
  std::memcpy(into, text.data(), size);
  into[size] = '\0';
}

Grade grade_of(redtune_grade grade) {
  if (grade < REDTUNE_EXACT || grade > REDTUNE_DEFAULT) refuse("argument 'lowest' is no grade");
  return static_cast<Grade>(grade);
}

void write_answer(const Answer& from, redtune_answer* into) {
  redtune_answer answer{};
  answer.grade = static_cast<redtune_grade>(from.grade);
  answer.distance = from.distance;
  answer.regret = from.regret.value_or(std::numeric_limits<double>::quiet_NaN());
  answer.regret_samples = from.regret_samples;
  answer.worst_regret = from.worst_regret.value_or(std::numeric_limits<double>::quiet_NaN());
  copy_text(answer.note, from.note);
  if (from.config) {
    const Config& config = *from.config;
    answer.has_kernel = from.same_function && config.kernel ? 1 : 0;
    answer.seconds = config.seconds;
    answer.low_seconds = config.low_seconds;
    answer.high_seconds = config.high_seconds;
    answer.default_seconds = config.default_seconds;
    answer.run_to_run = config.determinism == Determinism::kRunToRun ? 1 : 0;
    copy_text(answer.schedule, config.schedule.text());
    copy_text(answer.device, config.device);
    copy_text(answer.key, config.op.key());
  }
  *into = answer;
}

}  // namespace
}  // namespace redtune::deploy

using namespace redtune;
using namespace redtune::deploy;

extern "C" {

const char* redtune_version(void) { return kVersion; }

const char* redtune_error(void) { return last_error; }

redtune_status redtune_store_open(const char* directory, redtune_store** store) {
  return guarded([&] {
    need(directory, "directory");
    need(store, "store");
    *store = nullptr;
    ConfigIndex index = ConfigIndex::load(directory);
    std::string problems = join(index.problems(), "\n");
    *store = new redtune_store{std::move(index), std::move(problems)};
  });
}

void redtune_store_close(redtune_store* store) { delete store; }

size_t redtune_store_size(const redtune_store* store) { return store == nullptr ? 0 : store->index.size(); }

const char* redtune_store_problems(const redtune_store* store) {
  return store == nullptr ? "" : store->problems.c_str();
}

redtune_status redtune_operator_parse(const char* json, redtune_operator** op) {
  return guarded([&] {
    need(json, "json");
    need(op, "op");
    *op = nullptr;
    auto parsed = std::make_unique<redtune_operator>();
    parsed->op = parse_operator(parse_json(json, "operator"), "operator");
    if (parsed->op.graph) {
      throw UserError("operator: fused statements (the general form) are not deployed; give op, shape, axes, dtype");
    }
    parsed->op.data.reset();
    parsed->key = parsed->op.key();
    parsed->output_dtype = name(parsed->op.output().dtype);
    *op = parsed.release();
  });
}

void redtune_operator_free(redtune_operator* op) { delete op; }

const char* redtune_operator_key(const redtune_operator* op) { return op == nullptr ? "" : op->key.c_str(); }

size_t redtune_operator_input_bytes(const redtune_operator* op) {
  if (op == nullptr) return 0;
  const Tensor& input = op->op.input();
  return static_cast<size_t>(input.storage_elements() * bytes_of(input.dtype));
}

size_t redtune_operator_output_bytes(const redtune_operator* op) {
  if (op == nullptr) return 0;
  const Tensor& output = op->op.output();
  return static_cast<size_t>(output.elements() * bytes_of(output.dtype));
}

const char* redtune_operator_output_dtype(const redtune_operator* op) {
  return op == nullptr ? "" : op->output_dtype.c_str();
}

size_t redtune_operator_output_shape(const redtune_operator* op, int64_t* shape, size_t capacity) {
  if (op == nullptr) return 0;
  const std::vector<std::int64_t>& sizes = op->op.output().shape;
  for (size_t i = 0; shape != nullptr && i < std::min(capacity, sizes.size()); ++i) shape[i] = sizes[i];
  return sizes.size();
}

redtune_status redtune_find(const redtune_store* store, const redtune_operator* op, const char* device,
                            redtune_grade lowest, redtune_answer* answer) {
  return guarded([&] {
    need(store, "store");
    need(op, "op");
    need(device, "device");
    need(answer, "answer");
    LookupOptions options;
    options.lowest = grade_of(lowest);
    const Answer found = store->index.find(op->op, op->key, device, options);
    if (found.grade > options.lowest) {
      throw Failure(REDTUNE_NOT_FOUND, store->index.directory() + ": nothing of the grade '" +
                                           std::string(name(options.lowest)) + "' or better for " + op->key +
                                           " on " + device);
    }
    write_answer(found, answer);
  });
}

void redtune_kernel_release(redtune_kernel* kernel) { delete kernel; }

redtune_status redtune_kernel_answer(const redtune_kernel* kernel, redtune_answer* answer) {
  return guarded([&] {
    need(kernel, "kernel");
    need(answer, "answer");
    write_answer(kernel->answer, answer);
  });
}

int redtune_kernel_was_cached(const redtune_kernel* kernel) {
  if (kernel == nullptr) return 0;
  return (kernel->opencl ? kernel->opencl->was_cached() : kernel->cuda->was_cached()) ? 1 : 0;
}

redtune_status redtune_opencl_device_name(struct _cl_device_id* device, char* name, size_t capacity) {
  return guarded([&] {
    need(device, "device");
    need(name, "name");
    const std::string text = device_name_of(device);
    if (text.size() >= capacity)
      refuse("argument 'capacity': " + std::to_string(text.size() + 1) + " is needed");
    std::memcpy(name, text.c_str(), text.size() + 1);
  });
}

redtune_status redtune_opencl_kernel(const redtune_store* store, const redtune_operator* op,
                                     struct _cl_context* context, struct _cl_device_id* device,
                                     redtune_grade lowest, const char* cache_directory,
                                     redtune_kernel** kernel) {
  return guarded([&] {
    need(store, "store");
    need(op, "op");
    need(context, "context");
    need(device, "device");
    need(kernel, "kernel");
    *kernel = nullptr;
    auto made = std::make_unique<redtune_kernel>();
    made->answer = find_opencl(store->index, op->op, op->key, device, grade_of(lowest));
    made->opencl = std::make_unique<OpenClKernel>(context, device, store->index.directory(),
                                                  *made->answer.config, BinaryCache(cache_directory));
    *kernel = made.release();
  });
}

redtune_status redtune_opencl_launch(redtune_kernel* kernel, struct _cl_command_queue* queue,
                                     struct _cl_mem* input, struct _cl_mem* output, uint32_t wait_count,
                                     struct _cl_event* const* wait, struct _cl_event** done) {
  return guarded([&] {
    need(kernel, "kernel");
    if (!kernel->opencl) refuse("the kernel is one of CUDA");
    kernel->opencl->launch(queue, input, output, wait_count, wait, done);
  });
}

redtune_status redtune_cuda_kernel(const redtune_store* store, const redtune_operator* op,
                                   redtune_grade lowest, const char* cache_directory,
                                   redtune_kernel** kernel) {
  return guarded([&] {
    need(store, "store");
    need(op, "op");
    need(kernel, "kernel");
    *kernel = nullptr;
    auto made = std::make_unique<redtune_kernel>();
    const CudaPlace place = current_cuda_place();
    made->answer = find_cuda(store->index, op->op, op->key, place, grade_of(lowest));
    made->cuda = std::make_unique<CudaKernel>(place, store->index.directory(), *made->answer.config,
                                              BinaryCache(cache_directory));
    *kernel = made.release();
  });
}

redtune_status redtune_cuda_launch(redtune_kernel* kernel, struct CUstream_st* stream, uint64_t input,
                                   uint64_t output) {
  return guarded([&] {
    need(kernel, "kernel");
    if (!kernel->cuda) refuse("the kernel is one of OpenCL");
    kernel->cuda->launch(stream, input, output);
  });
}

redtune_status redtune_host_open(const char* device, redtune_host** host) {
  return guarded([&] {
    need(host, "host");
    *host = nullptr;
    *host = new redtune_host(device == nullptr ? "" : device);
  });
}

void redtune_host_close(redtune_host* host) { delete host; }

const char* redtune_host_device(const redtune_host* host) {
  return host == nullptr ? "" : host->host.name().c_str();
}

redtune_status redtune_host_run(redtune_host* host, const redtune_store* store, const redtune_operator* op,
                                redtune_grade lowest, const void* input, size_t input_bytes, void* output,
                                size_t output_bytes, redtune_answer* answer) {
  return guarded([&] {
    need(host, "host");
    need(store, "store");
    need(op, "op");
    const auto check = [](const void* data, size_t bytes, size_t needed, const char* what) {
      if (bytes < needed || (data == nullptr && needed > 0)) {
        refuse(std::string("the ") + what + " has " + std::to_string(data == nullptr ? 0 : bytes) +
               " bytes, the operator needs " + std::to_string(needed));
      }
    };
    const size_t in = redtune_operator_input_bytes(op), out = redtune_operator_output_bytes(op);
    check(input, input_bytes, in, "input");
    check(output, output_bytes, out, "output");
    Answer found;
    const auto kernel = host->host.kernel(store->index, op->op, op->key, grade_of(lowest), found);
    host->host.run(*kernel, {static_cast<const unsigned char*>(input), in},
                   {static_cast<unsigned char*>(output), out});
    if (answer != nullptr) write_answer(found, answer);
  });
}

}  // extern "C"
