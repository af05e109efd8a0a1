// Times of CUB for the sums that scripts/gpu_check tunes, by the same clock and with cold caches: kernels of one call
// from the start of the first to the end of the last, by CUPTI's records; by CUDA events where it is built without
// CUPTI (-DNO_CUPTI) or CUPTI refuses. Built by nvcc alone.
//
// usage: cub_baseline CASE...        CASE: DTYPE:SIZE[,SIZE...], a reduced axis has an r behind its size: f32:8192r,768
// prints one JSON object a line: {"case": ..., "seconds": median, "clock": ..., "method": ...}
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#ifndef NO_CUPTI
#include <cupti.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <string>
#include <vector>

namespace {

constexpr int kSamples = 31, kWarmUps = 3, kMostAxes = 6;

#define CHECK(call)                                                                                     \
  do {                                                                                                  \
    const cudaError_t code = (call);                                                                    \
    if (code != cudaSuccess) {                                                                          \
      std::fprintf(stderr, "cub_baseline: %s: %s\n", #call, cudaGetErrorString(code));                  \
      std::exit(code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ? 4 : 1);              \
    }                                                                                                   \
  } while (0)

struct Case {
  std::string text, dtype;
  std::vector<long long> sizes;
  std::vector<bool> reduced;
};

Case parse(const std::string& text) {
  Case result{text, text.substr(0, text.find(':')), {}, {}};
  std::string rest = text.substr(text.find(':') + 1);
  while (!rest.empty()) {
    char* end = nullptr;
    const long long size = std::strtoll(rest.c_str(), &end, 10);
    const bool reduced = *end == 'r';
    if (size < 1 || (*(end + reduced) != ',' && *(end + reduced) != '\0')) {
      std::fprintf(stderr, "cub_baseline: cannot read '%s'\n", text.c_str());
      std::exit(2);
    }
    result.sizes.push_back(size);
    result.reduced.push_back(reduced);
    rest = end + reduced;
    if (!rest.empty()) rest.erase(0, 1);
  }
  if (result.sizes.empty() || result.sizes.size() > kMostAxes || (result.dtype != "f32" && result.dtype != "f16")) {
    std::fprintf(stderr, "cub_baseline: cannot read '%s'\n", text.c_str());
    std::exit(2);
  }
  return result;
}

// Element i of the input as CUB wants to see it: all of one output behind each other.
template <typename T>
struct Gather {
  const T* data;
  int axes;
  long long size[kMostAxes], stride[kMostAxes];  // innermost first: reduced axes, then kept ones
  __host__ __device__ float operator()(long long i) const {
    long long at = 0;
    for (int a = 0; a < axes; ++a) {
      at += i % size[a] * stride[a];
      i /= size[a];
    }
    return static_cast<float>(data[at]);
  }
};

template <typename T>
struct ToFloat {
  __host__ __device__ float operator()(T x) const { return static_cast<float>(x); }
};

#ifndef NO_CUPTI
std::uint64_t first_start = 0, last_end = 0;

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  constexpr std::size_t kBytes = 64 * 1024;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBytes));
  *size = kBytes;
  *most = 0;
}

void complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel9*>(record);
    if (first_start == 0 || kernel->start < first_start) first_start = kernel->start;
    last_end = std::max<std::uint64_t>(last_end, kernel->end);
  }
  std::free(buffer);
}

bool start_cupti() {
  return cuptiActivityRegisterCallbacks(request, complete) == CUPTI_SUCCESS &&
         cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == CUPTI_SUCCESS;
}
#endif

// Median seconds of `call`, cold.
template <typename Call>
double median_seconds(const Call& call, bool cupti, void* flush, std::size_t flush_bytes) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<double> samples;
  for (int i = 0; i < kWarmUps + kSamples; ++i) {
    if (flush_bytes > 0) CHECK(cudaMemsetAsync(flush, 0, flush_bytes));
    CHECK(cudaDeviceSynchronize());
#ifndef NO_CUPTI
    cuptiActivityFlushAll(0);
    first_start = last_end = 0;
#endif
    CHECK(cudaEventRecord(begin));
    CHECK(call());
    CHECK(cudaEventRecord(end));
    CHECK(cudaDeviceSynchronize());
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    double seconds = milliseconds * 1e-3;
#ifndef NO_CUPTI
    if (cupti) {
      cuptiActivityFlushAll(0);
      seconds = static_cast<double>(last_end - first_start) * 1e-9;
    }
#endif
    if (i >= kWarmUps) samples.push_back(seconds);
  }
  std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
  return samples[kSamples / 2];
}

template <typename T>
void run(const Case& c, bool cupti) {
  const std::size_t rank = c.sizes.size();
  std::vector<long long> strides(rank, 1);
  for (std::size_t a = rank - 1; a > 0; --a) strides[a - 1] = strides[a] * c.sizes[a];
  Gather<T> gather{};
  long long outputs = 1, length = 1;
  for (const bool kept : {false, true}) {
    for (std::size_t a = rank; a-- > 0;) {
      if (c.reduced[a] == kept) continue;
      gather.size[gather.axes] = c.sizes[a];
      gather.stride[gather.axes++] = strides[a];
      (kept ? outputs : length) *= c.sizes[a];
    }
  }
  const long long elements = outputs * length;
  bool contiguous = true;  // kept axes first
  for (std::size_t a = 1; a < rank; ++a) contiguous = contiguous && (c.reduced[a] || !c.reduced[a - 1]);

  T* input = nullptr;
  float* output = nullptr;
  CHECK(cudaMalloc(&input, static_cast<std::size_t>(elements) * sizeof(T)));
  CHECK(cudaMalloc(&output, static_cast<std::size_t>(outputs) * sizeof(float)));
  const std::vector<T> ones(static_cast<std::size_t>(elements), static_cast<T>(1.0f));
  CHECK(cudaMemcpy(input, ones.data(), ones.size() * sizeof(T), cudaMemcpyHostToDevice));
  gather.data = input;
  cudaDeviceProp device{};
  CHECK(cudaGetDeviceProperties(&device, 0));
  void* flush = nullptr;
  const auto flush_bytes = static_cast<std::size_t>(device.l2CacheSize);
  if (flush_bytes > 0) CHECK(cudaMalloc(&flush, flush_bytes));

  const auto plain = thrust::make_transform_iterator(input, ToFloat<T>{});
  const auto gathered = thrust::make_transform_iterator(thrust::counting_iterator<long long>(0), gather);
  void* scratch = nullptr;
  std::size_t scratch_bytes = 0;
  const char* method = "";
  const auto call = [&]() -> cudaError_t {
    if (outputs == 1 && sizeof(T) == sizeof(float)) {
      method = "DeviceReduce::Sum";
      return cub::DeviceReduce::Sum(scratch, scratch_bytes, reinterpret_cast<const float*>(input), output, elements);
    }
    if (outputs == 1) {
      method = "DeviceReduce::Sum, converted to float";
      return cub::DeviceReduce::Sum(scratch, scratch_bytes, plain, output, elements);
    }
    const auto first = thrust::make_transform_iterator(
        thrust::counting_iterator<long long>(0), [length] __host__ __device__(long long i) { return i * length; });
    if (contiguous) {
      method = "DeviceSegmentedReduce::Sum, converted to float";
      return cub::DeviceSegmentedReduce::Sum(scratch, scratch_bytes, plain, output, outputs, first, first + 1);
    }
    method = "DeviceSegmentedReduce::Sum through a gathering iterator";
    return cub::DeviceSegmentedReduce::Sum(scratch, scratch_bytes, gathered, output, outputs, first, first + 1);
  };
  CHECK(call());
  CHECK(cudaMalloc(&scratch, std::max<std::size_t>(scratch_bytes, 1)));
  const double seconds = median_seconds(call, cupti, flush, flush_bytes);

  std::vector<float> sums(static_cast<std::size_t>(outputs));
  CHECK(cudaMemcpy(sums.data(), output, sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (const float sum : sums) {
    if (std::fabs(sum - static_cast<float>(length)) <= 1e-3f * static_cast<float>(length)) continue;
    std::fprintf(stderr, "cub_baseline: %s: sum of %lld ones is %g\n", c.text.c_str(), length, sum);
    std::exit(1);
  }
  std::printf("{\"case\": \"%s\", \"seconds\": %.9f, \"clock\": \"%s\", \"method\": \"%s\"}\n", c.text.c_str(), seconds,
              cupti ? "cupti" : "cuda_events", method);
  CHECK(cudaFree(scratch));
  CHECK(cudaFree(flush));
  CHECK(cudaFree(input));
  CHECK(cudaFree(output));
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<Case> cases;
  for (int i = 1; i < count; ++i) cases.push_back(parse(arguments[i]));
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  CHECK(cudaFree(nullptr));
  bool cupti = false;
#ifndef NO_CUPTI
  cupti = start_cupti();
#endif
  for (const Case& c : cases) {
    if (c.dtype == "f16") {
      run<__half>(c, cupti);
    } else {
      run<float>(c, cupti);
    }
  }
  return 0;
}
