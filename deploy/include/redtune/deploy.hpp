// redtune::deploy for C++17 and newer: owners around redtune/deploy.h, all inline. Errors are values here too; nothing
// throws but std::bad_alloc from std::string.
#pragma once

#include <redtune/deploy.h>

#include <memory>
#include <string>
#include <utility>

namespace redtune::deploy {

struct Error {
  redtune_status status = REDTUNE_OK;
  std::string message;
};

/// A value or an error. `value` must not be asked of an error.
template <typename T>
class Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}
  explicit operator bool() const { return error_.status == REDTUNE_OK; }
  T& value() { return value_; }
  const T& value() const { return value_; }
  T& operator*() { return value_; }
  T* operator->() { return &value_; }
  const Error& error() const { return error_; }

 private:
  T value_{};
  Error error_;
};

namespace detail {
template <auto Close>
struct Closer {
  template <typename T>
  void operator()(T* handle) const {
    Close(handle);
  }
};
inline Error failure(redtune_status status) { return {status, status == REDTUNE_OK ? "" : redtune_error()}; }
}  // namespace detail

/// What to compute, from JSON as in operator files.
class Operator {
 public:
  Operator() = default;
  static Result<Operator> parse(const std::string& json) {
    redtune_operator* op = nullptr;
    if (const auto status = redtune_operator_parse(json.c_str(), &op)) return detail::failure(status);
    Operator result;
    result.handle_.reset(op);
    return result;
  }
  std::string key() const { return redtune_operator_key(get()); }
  std::size_t input_bytes() const { return redtune_operator_input_bytes(get()); }
  std::size_t output_bytes() const { return redtune_operator_output_bytes(get()); }
  redtune_operator* get() const { return handle_.get(); }

 private:
  std::unique_ptr<redtune_operator, detail::Closer<redtune_operator_free>> handle_;
};

/// Ready to run on one device. May be shared by threads.
class Kernel {
 public:
  Kernel() = default;
  explicit Kernel(redtune_kernel* kernel) : handle_(kernel) {}
  redtune_answer answer() const {
    redtune_answer answer{};
    redtune_kernel_answer(get(), &answer);
    return answer;
  }
  Error launch(struct _cl_command_queue* queue, struct _cl_mem* input, struct _cl_mem* output,
               struct _cl_event** done = nullptr) {
    return detail::failure(redtune_opencl_launch(get(), queue, input, output, 0, nullptr, done));
  }
  Error launch(struct CUstream_st* stream, std::uint64_t input, std::uint64_t output) {
    return detail::failure(redtune_cuda_launch(get(), stream, input, output));
  }
  redtune_kernel* get() const { return handle_.get(); }

 private:
  std::unique_ptr<redtune_kernel, detail::Closer<redtune_kernel_release>> handle_;
};

/// Loaded configs.
class Store {
 public:
  Store() = default;
  static Result<Store> open(const std::string& directory) {
    redtune_store* store = nullptr;
    if (const auto status = redtune_store_open(directory.c_str(), &store)) return detail::failure(status);
    Store result;
    result.handle_.reset(store);
    return result;
  }
  std::size_t size() const { return redtune_store_size(get()); }
  std::string problems() const { return redtune_store_problems(get()); }
  /// What the store knows of an operator on a device of that name, and how good it is; needs no device.
  Result<redtune_answer> find(const Operator& op, const std::string& device,
                              redtune_grade lowest = REDTUNE_DEFAULT) const {
    redtune_answer answer{};
    if (const auto status = redtune_find(get(), op.get(), device.c_str(), lowest, &answer))
      return detail::failure(status);
    return answer;
  }
  Result<Kernel> opencl_kernel(const Operator& op, struct _cl_context* context, struct _cl_device_id* device,
                               redtune_grade lowest = REDTUNE_EXACT, const char* cache = nullptr) const {
    redtune_kernel* kernel = nullptr;
    if (const auto status = redtune_opencl_kernel(get(), op.get(), context, device, lowest, cache, &kernel))
      return detail::failure(status);
    return Kernel(kernel);
  }
  /// For the device of the current context.
  Result<Kernel> cuda_kernel(const Operator& op, redtune_grade lowest = REDTUNE_EXACT,
                             const char* cache = nullptr) const {
    redtune_kernel* kernel = nullptr;
    if (const auto status = redtune_cuda_kernel(get(), op.get(), lowest, cache, &kernel))
      return detail::failure(status);
    return Kernel(kernel);
  }
  redtune_store* get() const { return handle_.get(); }

 private:
  std::unique_ptr<redtune_store, detail::Closer<redtune_store_close>> handle_;
};

}  // namespace redtune::deploy
