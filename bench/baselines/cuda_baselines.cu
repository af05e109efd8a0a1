// redtune-baseline-cuda: CUB and cuDNN for `redtune bench`. Speaks what bench/baselines/baseline_main.cpp tells, on the
// first device that CUDA_VISIBLE_DEVICES leaves. Built by nvcc alone; -DHAVE_CUPTI and -DHAVE_CUDNN where they are.
//
// Times: CUPTI's kernel and memset records of one call, start of the first to end of the last, else CUDA events. Cold: a
// memset of the size of the L2 cache runs before each call, outside of the times. The input is ones: no value of a
// reduction takes longer than another, and the answer is known.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#ifdef HAVE_CUPTI
#include <cupti.h>
#endif
#ifdef HAVE_CUDNN
#include <cudnn.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

// Determinism as an argument came with CCCL 3.1.
#if CUB_VERSION >= 300100
#define HAVE_DETERMINISM 1
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>
#include <cuda/std/__execution/env.h>
#endif

namespace {

using Json = nlohmann::json;

constexpr int kMostAxes = 8;

void check(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(code));
}

struct Problem {
  std::string op, dtype, out;
  std::vector<long long> sizes;
  std::vector<bool> reduced;
  long long outputs = 1, length = 1;
};

Problem problem_of(const Json& op) {
  Problem p;
  p.op = op.at("op");
  p.dtype = op.value("dtype", "f32");
  p.out = op.value("out", p.dtype);
  if (op.contains("strides")) throw std::runtime_error("it takes dense row-major input only");
  p.sizes = op.at("shape").get<std::vector<long long>>();
  p.reduced.assign(p.sizes.size(), !op.contains("axes"));
  for (const int axis : op.value("axes", std::vector<int>{})) p.reduced.at(static_cast<std::size_t>(axis)) = true;
  if (p.sizes.empty() || p.sizes.size() > kMostAxes) throw std::runtime_error("it takes 1 to 8 axes");
  for (std::size_t a = 0; a < p.sizes.size(); ++a) (p.reduced[a] ? p.length : p.outputs) *= p.sizes[a];
  return p;
}

template <typename T>
struct DeviceArray {
  explicit DeviceArray(std::size_t count) { check(cudaMalloc(&data, std::max<std::size_t>(count, 1) * sizeof(T)), "cudaMalloc"); }
  ~DeviceArray() { cudaFree(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data = nullptr;
};

/// One prepared reduction: `call` enqueues it, `value` is the first output after it.
struct Contestant {
  virtual ~Contestant() = default;
  virtual void call() = 0;
  virtual double first_output() = 0;
  std::string version, implementation;
};

// Element i of the input as CUB wants to see it: all of one output behind each other.
template <typename T, typename Acc>
struct Gather {
  const T* data;
  int axes;
  long long size[kMostAxes], stride[kMostAxes];  // innermost first: reduced axes, then kept ones
  __host__ __device__ Acc operator()(long long i) const {
    long long at = 0;
    for (int a = 0; a < axes; ++a) {
      at += i % size[a] * stride[a];
      i /= size[a];
    }
    return static_cast<Acc>(data[at]);
  }
};

template <typename T, typename Acc>
struct Widen {
  __host__ __device__ Acc operator()(T x) const { return static_cast<Acc>(x); }
};

struct Times {
  long long length;
  __host__ __device__ long long operator()(long long i) const { return i * length; }
};

struct Maximum {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
struct Minimum {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const { return a < b ? a : b; }
};
struct Plus {
  template <typename T>
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T, typename Acc>
class Cub : public Contestant {
 public:
  Cub(const Problem& p, const std::string& mode)
      : problem_(p), mode_(mode), input_(static_cast<std::size_t>(p.outputs * p.length)),
        output_(static_cast<std::size_t>(p.outputs)) {
    version = "CUB " + std::to_string(CUB_MAJOR_VERSION) + "." + std::to_string(CUB_MINOR_VERSION) + "." +
              std::to_string(CUB_SUBMINOR_VERSION);
    const std::vector<T> ones(static_cast<std::size_t>(p.outputs * p.length), static_cast<T>(1.0f));
    check(cudaMemcpy(input_.data, ones.data(), ones.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    describe();
    run();  // asks for the bytes that it needs
    scratch_ = std::make_unique<DeviceArray<char>>(bytes_);
  }

  void call() override { check(run(), "CUB"); }
  double first_output() override {
    Acc value{};
    check(cudaMemcpy(&value, output_.data, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return static_cast<double>(value);
  }

 private:
  void describe() {
    std::vector<long long> strides(problem_.sizes.size(), 1);
    for (std::size_t a = problem_.sizes.size() - 1; a > 0; --a) strides[a - 1] = strides[a] * problem_.sizes[a];
    gather_.data = input_.data;
    gather_.axes = 0;
    for (const bool kept : {false, true}) {
      for (std::size_t a = problem_.sizes.size(); a-- > 0;) {
        if (problem_.reduced[a] == kept) continue;
        gather_.size[gather_.axes] = problem_.sizes[a];
        gather_.stride[gather_.axes++] = strides[a];
      }
    }
    for (std::size_t a = 1; a < problem_.sizes.size(); ++a) {
      contiguous_ = contiguous_ && (problem_.reduced[a] || !problem_.reduced[a - 1]);
    }
    if (problem_.outputs == 1) {
      implementation = "DeviceReduce";
    } else {
      implementation = contiguous_ ? "DeviceSegmentedReduce" : "DeviceSegmentedReduce, gathering";
    }
    if (problem_.outputs != 1 && mode_ != "cub") throw std::runtime_error("its segmented reduction has one mode");
#ifndef HAVE_DETERMINISM
    if (mode_ != "cub") throw std::runtime_error(version + " has no determinism argument; CCCL 3.1 has");
#endif
  }

  template <typename Op>
  cudaError_t run_as(Op op, Acc start) {
    const auto widened = thrust::make_transform_iterator(input_.data, Widen<T, Acc>{});
    if (problem_.outputs == 1) return run_one(widened, op, start);
    const auto first = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), Times{problem_.length});
    void* const scratch = scratch_ ? scratch_->data : nullptr;
    if (contiguous_) {
      return cub::DeviceSegmentedReduce::Reduce(scratch, bytes_, widened, output_.data, problem_.outputs, first, first + 1,
                                                op, start);
    }
    const auto gathered = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), gather_);
    return cub::DeviceSegmentedReduce::Reduce(scratch, bytes_, gathered, output_.data, problem_.outputs, first, first + 1,
                                              op, start);
  }

  template <typename Iterator, typename Op>
  cudaError_t run_one(Iterator in, Op op, Acc start) {
#ifdef HAVE_DETERMINISM
    namespace determinism = cuda::execution::determinism;
    if (mode_ == "cub_not_guaranteed") {
      return cub::DeviceReduce::Reduce(in, output_.data, problem_.length, op, start,
                                       cuda::execution::require(determinism::not_guaranteed));
    }
    if (mode_ == "cub_gpu_to_gpu") {
      return cub::DeviceReduce::Reduce(in, output_.data, problem_.length, op, start,
                                       cuda::execution::require(determinism::gpu_to_gpu));
    }
#endif
    return cub::DeviceReduce::Reduce(scratch_ ? scratch_->data : nullptr, bytes_, in, output_.data, problem_.length, op,
                                     start);
  }

  cudaError_t run() {
    if (problem_.op == "sum") return run_as(Plus{}, Acc{0});
    if (problem_.op == "max") return run_as(Maximum{}, std::numeric_limits<Acc>::lowest());
    return run_as(Minimum{}, std::numeric_limits<Acc>::max());
  }

  Problem problem_;
  std::string mode_;
  DeviceArray<T> input_;
  DeviceArray<Acc> output_;
  Gather<T, Acc> gather_{};
  bool contiguous_ = true;
  std::size_t bytes_ = 0;
  std::unique_ptr<DeviceArray<char>> scratch_;
};

std::unique_ptr<Contestant> make_cub(const Problem& p, const std::string& mode) {
  if (p.op != "sum" && p.op != "max" && p.op != "min") throw std::runtime_error("it is built for sum, max and min only");
  const bool sum = p.op == "sum";
  if (p.dtype == "f32") return std::make_unique<Cub<float, float>>(p, mode);
  if (p.dtype == "f64") return std::make_unique<Cub<double, double>>(p, mode);
  if (p.dtype == "f16") return std::make_unique<Cub<__half, float>>(p, mode);
  if (p.dtype == "i32" && !sum) return std::make_unique<Cub<int, int>>(p, mode);
  if (p.dtype == "i32") return std::make_unique<Cub<int, long long>>(p, mode);
  if (p.dtype == "i64") return std::make_unique<Cub<long long, long long>>(p, mode);
  if (p.dtype == "i8" && sum) return std::make_unique<Cub<signed char, long long>>(p, mode);
  throw std::runtime_error("it is not built for " + p.dtype);
}

#ifdef HAVE_CUDNN
void check(cudnnStatus_t code, const char* what) {
  if (code != CUDNN_STATUS_SUCCESS) throw std::runtime_error(std::string(what) + ": " + cudnnGetErrorString(code));
}

class Cudnn : public Contestant {
 public:
  explicit Cudnn(const Problem& p) : input_(static_cast<std::size_t>(p.outputs * p.length)), output_(static_cast<std::size_t>(p.outputs)) {
    if (p.dtype != "f32" || p.out != "f32") throw std::runtime_error("it is built for f32 only");
    cudnnReduceTensorOp_t op = CUDNN_REDUCE_TENSOR_ADD;
    if (p.op == "max") op = CUDNN_REDUCE_TENSOR_MAX;
    else if (p.op == "min") op = CUDNN_REDUCE_TENSOR_MIN;
    else if (p.op == "mean") op = CUDNN_REDUCE_TENSOR_AVG;
    else if (p.op != "sum") throw std::runtime_error("it has no reduction " + p.op);
    version = "cuDNN " + std::to_string(cudnnGetVersion());
    implementation = "cudnnReduceTensor";
    const std::vector<float> ones(static_cast<std::size_t>(p.outputs * p.length), 1.0f);
    check(cudaMemcpy(input_.data, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudnnCreate(&handle_), "cudnnCreate");
    check(cudnnCreateTensorDescriptor(&from_), "cudnnCreateTensorDescriptor");
    check(cudnnCreateTensorDescriptor(&to_), "cudnnCreateTensorDescriptor");
    check(cudnnCreateReduceTensorDescriptor(&reduce_), "cudnnCreateReduceTensorDescriptor");
    check(cudnnSetReduceTensorDescriptor(reduce_, op, CUDNN_DATA_FLOAT, CUDNN_PROPAGATE_NAN,
                                         CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES), "cudnnSetReduceTensorDescriptor");
    // It wants at least four axes.
    std::vector<int> from, to;
    for (std::size_t a = p.sizes.size(); a < 4; ++a) {
      from.push_back(1);
      to.push_back(1);
    }
    for (std::size_t a = 0; a < p.sizes.size(); ++a) {
      from.push_back(static_cast<int>(p.sizes[a]));
      to.push_back(p.reduced[a] ? 1 : static_cast<int>(p.sizes[a]));
    }
    describe(from_, from);
    describe(to_, to);
    check(cudnnGetReductionWorkspaceSize(handle_, reduce_, from_, to_, &bytes_), "cudnnGetReductionWorkspaceSize");
    scratch_ = std::make_unique<DeviceArray<char>>(bytes_);
  }
  ~Cudnn() override {
    if (reduce_ != nullptr) cudnnDestroyReduceTensorDescriptor(reduce_);
    if (to_ != nullptr) cudnnDestroyTensorDescriptor(to_);
    if (from_ != nullptr) cudnnDestroyTensorDescriptor(from_);
    if (handle_ != nullptr) cudnnDestroy(handle_);
  }

  void call() override {
    const float one = 1, zero = 0;
    check(cudnnReduceTensor(handle_, reduce_, nullptr, 0, scratch_->data, bytes_, &one, from_, input_.data, &zero, to_, output_.data),
          "cudnnReduceTensor");
  }
  double first_output() override {
    float value = 0;
    check(cudaMemcpy(&value, output_.data, sizeof value, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }

 private:
  static void describe(cudnnTensorDescriptor_t descriptor, const std::vector<int>& sizes) {
    std::vector<int> strides(sizes.size(), 1);
    for (std::size_t a = sizes.size() - 1; a > 0; --a) strides[a - 1] = strides[a] * sizes[a];
    check(cudnnSetTensorNdDescriptor(descriptor, CUDNN_DATA_FLOAT, static_cast<int>(sizes.size()), sizes.data(), strides.data()),
          "cudnnSetTensorNdDescriptor");
  }

  DeviceArray<float> input_, output_;
  cudnnHandle_t handle_ = nullptr;
  cudnnTensorDescriptor_t from_ = nullptr, to_ = nullptr;
  cudnnReduceTensorDescriptor_t reduce_ = nullptr;
  std::size_t bytes_ = 0;
  std::unique_ptr<DeviceArray<char>> scratch_;
};
#endif

#ifdef HAVE_CUPTI
std::uint64_t first_start = 0, last_end = 0;

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  constexpr std::size_t kBytes = 64 * 1024;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBytes));
  *size = kBytes;
  *most = 0;
}

void span(std::uint64_t start, std::uint64_t end) {
  if (first_start == 0 || start < first_start) first_start = start;
  last_end = std::max(last_end, end);
}

void complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
      span(kernel->start, kernel->end);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      const auto* memset = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
      span(memset->start, memset->end);
    }
  }
  std::free(buffer);
}
#endif

class Server {
 public:
  Server() {
#ifdef HAVE_CUPTI
    cupti_ = cuptiActivityRegisterCallbacks(request, complete) == CUPTI_SUCCESS &&
             cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS &&
             cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET) == CUPTI_SUCCESS;
#endif
  }

  Json answer(const std::string& line) {
    try {
      const Json request = Json::parse(line);
      if (request.at("do") == "open") return open(request);
      if (request.at("do") == "sample") return sample(request.at("count"));
      throw std::runtime_error("unknown request");
    } catch (const std::exception& error) {
      return {{"is", "failed"}, {"detail", error.what()}};
    }
  }

 private:
  Json open(const Json& request) {
    contestant_.reset();
    const Problem problem = problem_of(request.at("operator"));
    const std::string name = request.at("baseline");
    if (name.rfind("cub", 0) == 0) {
      contestant_ = make_cub(problem, name);
    } else {
#ifdef HAVE_CUDNN
      contestant_ = std::make_unique<Cudnn>(problem);
#else
      throw std::runtime_error("built without cuDNN");
#endif
    }
    contestant_->call();
    check(cudaDeviceSynchronize(), "the first call");
    const double expected = problem.op == "sum" ? static_cast<double>(problem.length) : 1.0;
    const double value = contestant_->first_output();
    if (std::fabs(value - expected) > 1e-3 * expected) {
      throw std::runtime_error("wrong result: " + std::to_string(value) + ", expected " + std::to_string(expected));
    }
    cudaDeviceProp device{};
    check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    flush_bytes_ = request.value("cold", true) ? static_cast<std::size_t>(device.l2CacheSize) : 0;
    flush_ = std::make_unique<DeviceArray<char>>(flush_bytes_);
    return {{"is", "done"}, {"version", contestant_->version}, {"implementation", contestant_->implementation},
            {"reference", false}, {"clock", cupti_ ? "cupti" : "cuda_events"}};
  }

  Json sample(int count) {
    if (!contestant_) throw std::runtime_error("sample comes before open");
    std::vector<double> seconds;
    for (int i = 0; i <= count; ++i) {
      const double one = seconds_of_call();
      if (i > 0) seconds.push_back(one);  // the first is a warm-up
    }
    return {{"is", "done"}, {"seconds", seconds}, {"preempted", 0}};
  }

  double seconds_of_call() {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    if (flush_bytes_ > 0) check(cudaMemsetAsync(flush_->data, 0, flush_bytes_), "cudaMemsetAsync");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
#ifdef HAVE_CUPTI
    cuptiActivityFlushAll(0);
    first_start = last_end = 0;
#endif
    check(cudaEventRecord(begin), "cudaEventRecord");
    contestant_->call();
    check(cudaEventRecord(end), "cudaEventRecord");
    check(cudaDeviceSynchronize(), "a timed call");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
    double seconds = milliseconds * 1e-3;
#ifdef HAVE_CUPTI
    if (cupti_) {
      cuptiActivityFlushAll(0);
      if (last_end <= first_start) throw std::runtime_error("CUPTI recorded no kernel");
      seconds = static_cast<double>(last_end - first_start) * 1e-9;
    }
#endif
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return seconds;
  }

  bool cupti_ = false;
  std::unique_ptr<Contestant> contestant_;
  std::size_t flush_bytes_ = 0;
  std::unique_ptr<DeviceArray<char>> flush_;
};

}  // namespace

int main() {
  Server server;
  for (std::string line; std::getline(std::cin, line);) std::cout << server.answer(line).dump() << std::endl;
  return 0;
}
