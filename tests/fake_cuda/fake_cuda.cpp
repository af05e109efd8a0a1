// A CUDA driver without a GPU, for fault tests. It executes no kernel: it writes the sums over the rows of a
// matrix, or goes wrong in the way that the kernel's text is planned to (fake_plan.h). Only tests load it.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fake_cuda/fake_plan.h"
#include "tests/fake_cuda/fake_state.h"

namespace {

using redtune::fake_setting;
using redtune::FakeFault;
using Address = unsigned long long;

constexpr int kOutOfMemory = 2, kNoDevice = 100, kNoBinary = 209, kNotFound = 500, kIllegalAddress = 700,
              kOutOfResources = 701;

struct Module {
  std::string text;
  FakeFault fault = FakeFault::kNone;
};

struct Function {
  Module* module;
  std::string entry;
  int launches = 0;
};

struct State {
  std::vector<std::function<void()>> queue;
  const std::uint32_t* wait_word = nullptr;
  std::uint32_t wait_value = 0;
  std::uint64_t clock = 1'000'000'000;
  std::int64_t allocated = 0;
  std::map<Address, std::int64_t> sizes;
  Module* loaded = nullptr;
  const float* input = nullptr;
  bool broken = false, endless = false;
  std::vector<std::unique_ptr<Function>> functions;
} state;

std::int64_t rows() { return fake_setting("rows", 64); }
std::int64_t columns() { return fake_setting("columns", 1024); }
std::int64_t memory() { return fake_setting("memory", std::int64_t{1} << 30); }

void wait_for_gate() {
  while (state.wait_word != nullptr &&
         std::atomic_ref<std::uint32_t>(*const_cast<std::uint32_t*>(state.wait_word)) < state.wait_value)
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  state.wait_word = nullptr;
}

int run_queue() {
  wait_for_gate();
  for (const auto& work : std::exchange(state.queue, {})) work();
  while (state.endless) std::this_thread::sleep_for(std::chrono::seconds(1));
  return state.broken ? kIllegalAddress : 0;
}

// Number of arguments of a kernel, read from its head; two where the image is not text.
std::size_t arguments_of(const std::string& text, const std::string& entry) {
  std::size_t at = text.find("RT_KERNEL(" + entry);
  if (at != std::string::npos) at = text.find(")(", at);
  if (at == std::string::npos) at = text.find(" " + entry + "(");
  if (at == std::string::npos) return 2;
  const std::size_t open = text.find('(', at + 1), close = text.find(')', open);
  return static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(open),
                                             text.begin() + static_cast<std::ptrdiff_t>(close), ',')) +
         1;
}

void write_sums(float* out, FakeFault fault) {
  if (fault == FakeFault::kEarlyReturn) return;
  const std::int64_t count = rows() - (fault == FakeFault::kSkipLast ? 1 : 0);
  for (std::int64_t r = 0; r < count; ++r) {
    float sum = 0;
    for (std::int64_t c = 0; c < columns(); ++c) sum += state.input[r * columns() + c];
    out[r] = fault == FakeFault::kNan ? std::numeric_limits<float>::quiet_NaN() : sum;
  }
  if (fault == FakeFault::kOutOfBounds) out[rows()] = 1;
}

void execute(const Function& function, const std::vector<Address>& arguments, std::uint32_t correlation) {
  const FakeFault fault = function.module->fault;
  const std::uint64_t start = state.clock, end = start + redtune::planned_nanoseconds(function.module->text);
  state.clock = end + 1000;
  switch (fault) {
    case FakeFault::kEndless:
      state.endless = true;
      return;
    case FakeFault::kEndlessLater:
      state.endless = function.launches > 2;
      break;
    case FakeFault::kNullWrite:
      state.broken = true;
      return;
    case FakeFault::kDriverCrash:
      std::signal(SIGSEGV, SIG_DFL);
      std::raise(SIGSEGV);
      return;
    default:
      break;
  }
  const auto floats = [&](std::size_t i) { return reinterpret_cast<float*>(arguments[i]); };
  if (function.entry == "rt_fill") {
    std::fill_n(floats(0), rows(), 0.0f);
  } else if (function.entry == "rt_final") {
    write_sums(floats(1), fault);
  } else {
    state.input = floats(0);
    const bool partials =
        arguments.size() == 2 && function.module->text.find("RT_KERNEL(rt_final") != std::string::npos;
    if (!partials) write_sums(floats(1), fault);
  }
  if (fault == FakeFault::kDroppedRecord) return;
  const bool zero = fault == FakeFault::kZeroRecord, reversed = fault == FakeFault::kReversedRecord;
  redtune::fake::record_activity(true, correlation,
                                 zero       ? 0
                                 : reversed ? end
                                            : start,
                                 zero       ? 0
                                 : reversed ? start
                                            : end);
}

}  // namespace

extern "C" {

int cuGetErrorName(int code, const char** name) {
  static const std::map<int, const char*> names{{kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
                                                {kNoBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                {kNotFound, "CUDA_ERROR_NOT_FOUND"},
                                                {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                {kOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"}};
  const auto found = names.find(code);
  *name = found == names.end() ? "CUDA_ERROR_UNKNOWN" : found->second;
  return 0;
}

int cuInit(unsigned) { return fake_setting("devices", 1) > 0 ? 0 : kNoDevice; }

int cuDriverGetVersion(int* version) {
  *version = 99090;
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(fake_setting("devices", 1));
  return 0;
}

int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}

int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "fake device of the tests, not a GPU", static_cast<std::size_t>(size));
  return 0;
}

int cuDeviceGetUuid(unsigned char* bytes, int device) {
  for (int i = 0; i < 16; ++i) bytes[i] = static_cast<unsigned char>(16 * device + i);
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = static_cast<std::size_t>(memory());
  return 0;
}

int cuDeviceGetAttribute(int* value, int which, int) {
  static const std::map<int, int> values{
      {1, 1024}, {5, 2147483647}, {6, 65535}, {8, 49152}, {10, 32}, {13, 1000},  {16, 4},      {36, 1000},
      {37, 512}, {38, 1 << 20},   {39, 2048}, {75, 9},    {76, 0},  {82, 65536}, {95, 1}, {97, 232448}, {106, 32}};
  const auto found = values.find(which);
  *value = found == values.end() ? 0 : found->second;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &state;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void*) { return 0; }

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = static_cast<std::size_t>(memory());
  *free = static_cast<std::size_t>(memory() - state.allocated);
  return 0;
}

int cuMemAlloc_v2(Address* address, std::size_t bytes) {
  if (state.broken) return kIllegalAddress;
  const bool planned = state.loaded != nullptr && state.loaded->fault == FakeFault::kOutOfMemory;
  if (planned || state.allocated + static_cast<std::int64_t>(bytes) > memory()) return kOutOfMemory;
  *address = reinterpret_cast<Address>(std::malloc(bytes));
  state.allocated += static_cast<std::int64_t>(bytes);
  state.sizes[*address] = static_cast<std::int64_t>(bytes);
  return 0;
}

int cuMemFree_v2(Address address) {
  state.allocated -= state.sizes[address];
  state.sizes.erase(address);
  std::free(reinterpret_cast<void*>(address));
  return 0;
}

int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return 0;
}

int cuMemFreeHost(void* memory) {
  std::free(memory);
  return 0;
}

int cuMemHostGetDevicePointer_v2(Address* address, void* memory, unsigned) {
  *address = reinterpret_cast<Address>(memory);
  return 0;
}

int cuMemcpyHtoD_v2(Address to, const void* from, std::size_t bytes) {
  if (state.broken) return kIllegalAddress;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}

int cuMemcpyDtoH_v2(void* to, Address from, std::size_t bytes) {
  if (state.broken) return kIllegalAddress;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}

int cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, void*) {
  if (state.broken) return kIllegalAddress;
  state.queue.push_back([=] {
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    redtune::fake::record_activity(false, 0xffffffff, state.clock, state.clock + 5000);
    state.clock += 6000;
  });
  return 0;
}

int cuModuleLoadData(void** handle, const void* image) {
  if (state.broken) return kIllegalAddress;
  // A real cubin is no text: its name table is enough, and it has no faults.
  const char* const bytes = static_cast<const char*>(image);
  const bool elf = std::memcmp(bytes, "\177ELF", 4) == 0;
  auto* const module = new Module;
  if (!elf) {
    module->text = bytes;
    module->fault = redtune::planned_fault(module->text);
  }
  if (module->fault == FakeFault::kBadImage) {
    delete module;
    return kNoBinary;
  }
  state.loaded = module;
  *handle = module;
  return 0;
}

int cuModuleUnload(void* handle) {
  auto* const module = static_cast<Module*>(handle);
  if (state.loaded == module) state.loaded = nullptr;
  std::erase_if(state.functions, [&](const auto& function) { return function->module == module; });
  delete module;
  return 0;
}

int cuModuleGetFunction(void** handle, void* from, const char* entry) {
  auto* const module = static_cast<Module*>(from);
  if (!module->text.empty() && module->text.find(entry) == std::string::npos) return kNotFound;
  state.functions.push_back(std::make_unique<Function>(Function{module, entry}));
  *handle = state.functions.back().get();
  return 0;
}

int cuFuncGetAttribute(int* value, int which, void* handle) {
  const bool small = static_cast<Function*>(handle)->module->fault == FakeFault::kSmallBlock;
  *value = which == 0 ? (small ? 1 : 1024) : which == 4 ? (small ? 255 : 32) : 0;
  return 0;
}

int cuFuncSetAttribute(void*, int, int) { return 0; }

int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, std::size_t) {
  *blocks = static_cast<int>(fake_setting("resident", 8));
  return 0;
}

}  // extern "C"

namespace {

int launch(void* handle, unsigned shared, void** parameters, std::uint32_t driver_function) {
  if (state.broken) return kIllegalAddress;
  auto* const function = static_cast<Function*>(handle);
  if (function->module->fault == FakeFault::kOutOfResources || shared > 232448) return kOutOfResources;
  if (fake_setting("serial", 0) != 0) wait_for_gate();
  ++function->launches;
  std::vector<Address> arguments;
  for (std::size_t i = 0; i < arguments_of(function->module->text, function->entry); ++i)
    arguments.push_back(*static_cast<Address*>(parameters[i]));
  const std::uint32_t correlation = redtune::fake::tell_launch(driver_function);
  state.queue.push_back([=] { execute(*function, arguments, correlation); });
  return 0;
}

}  // namespace

extern "C" {

int cuLaunchKernel(void* handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                   void*, void** parameters, void**) {
  return launch(handle, shared, parameters, 307);
}

int cuLaunchCooperativeKernel(void* handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned shared, void*, void** parameters) {
  return launch(handle, shared, parameters, 477);
}

int cuStreamCreate(void** stream, unsigned) {
  *stream = &state;
  return 0;
}
int cuStreamDestroy_v2(void*) { return 0; }
int cuStreamSynchronize(void*) { return run_queue(); }

int cuStreamWaitValue32_v2(void*, Address word, std::uint32_t value, unsigned) {
  state.wait_word = reinterpret_cast<const std::uint32_t*>(word);
  state.wait_value = value;
  return 0;
}

int cuEventCreate(void** event, unsigned) {
  *event = new std::uint64_t(0);
  return 0;
}

int cuEventDestroy_v2(void* event) {
  delete static_cast<std::uint64_t*>(event);
  return 0;
}

int cuEventRecord(void* event, void*) {
  state.queue.push_back([=] { *static_cast<std::uint64_t*>(event) = state.clock; });
  return 0;
}

int cuEventElapsedTime(float* milliseconds, void* start, void* end) {
  *milliseconds =
      static_cast<float>(*static_cast<std::uint64_t*>(end) - *static_cast<std::uint64_t*>(start)) * 1e-6f;
  return 0;
}

}  // extern "C"
