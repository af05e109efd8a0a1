// The part of CUPTI that redtune uses, for the fake CUDA device of the tests. It writes records as CUPTI lays
// them out.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/fake_cuda/fake_plan.h"
#include "tests/fake_cuda/fake_state.h"

namespace {

using redtune::fake_setting;

constexpr int kMaxLimitReached = 12, kPrivileges = 35, kSubscribers = 39;
constexpr std::uint32_t kMemset = 2, kConcurrentKernel = 10;
constexpr std::size_t kRecordBytes = 160;

using Callback = void (*)(void*, int, std::uint32_t, const void*);
using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Complete = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

struct State {
  Callback callback = nullptr;
  void* user = nullptr;
  Request request = nullptr;
  Complete complete = nullptr;
  bool kernels = false, memsets = false;
  std::uint32_t correlation = 0;
  std::vector<std::array<std::uint8_t, kRecordBytes>> records;
} state;

template <typename T>
void put(std::uint8_t* record, std::size_t offset, T value) {
  std::memcpy(record + offset, &value, sizeof value);
}

}  // namespace

namespace redtune::fake {

std::uint32_t tell_launch(std::uint32_t function) {
  const std::uint32_t id = ++state.correlation;
  if (state.callback == nullptr) return id;
  struct {
    std::uint32_t site;
    const void* unused[5];
    std::uint32_t context;
    std::uint64_t* data;
    std::uint32_t correlation;
  } info{0, {}, 1, nullptr, id};
  state.callback(state.user, 1, function, &info);
  info.site = 1;
  state.callback(state.user, 1, function, &info);
  return id;
}

void record_activity(bool kernel, std::uint32_t correlation, std::uint64_t start, std::uint64_t end) {
  if ((kernel ? !state.kernels : !state.memsets) || fake_setting("silent", 0) != 0) return;
  std::array<std::uint8_t, kRecordBytes> record{};
  put(record.data(), 0, kernel ? kConcurrentKernel : kMemset);
  put(record.data(), 16, start);
  put(record.data(), 24, end);
  put(record.data(), kernel ? 92 : 44, correlation);
  state.records.push_back(record);
}

}  // namespace redtune::fake

extern "C" {

int cuptiGetVersion(std::uint32_t* version) {
  *version = 9999;
  return 0;
}

int cuptiGetResultString(int code, const char** text) {
  *text = code == kSubscribers  ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
          : code == kPrivileges ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
                                : "CUPTI_ERROR_UNKNOWN";
  return 0;
}

int cuptiSubscribe(void** subscriber, Callback callback, void* user) {
  if (fake_setting("taken", 0) != 0 || state.callback != nullptr) return kSubscribers;
  *subscriber = &state;
  state.callback = callback;
  state.user = user;
  return 0;
}

int cuptiUnsubscribe(void*) {
  state.callback = nullptr;
  return 0;
}

int cuptiEnableCallback(std::uint32_t, void*, int, std::uint32_t) { return 0; }

int cuptiActivityEnable(int kind) {
  if (fake_setting("forbidden", 0) != 0) return kPrivileges;
  (kind == static_cast<int>(kMemset) ? state.memsets : state.kernels) = true;
  return 0;
}

int cuptiActivityDisable(int kind) {
  (kind == static_cast<int>(kMemset) ? state.memsets : state.kernels) = false;
  return 0;
}

int cuptiActivityRegisterCallbacks(Request request, Complete complete) {
  state.request = request;
  state.complete = complete;
  return 0;
}

int cuptiActivityFlushAll(std::uint32_t) {
  std::size_t next = 0;
  while (next < state.records.size()) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, used = 0;
    state.request(&buffer, &size, &most);
    for (; next < state.records.size() && used + kRecordBytes <= size; ++next, used += kRecordBytes)
      std::memcpy(buffer + used, state.records[next].data(), kRecordBytes);
    state.complete(nullptr, 0, buffer, size, used);
  }
  state.records.clear();
  return 0;
}

int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, void** record) {
  const std::size_t at =
      *record == nullptr
          ? 0
          : static_cast<std::size_t>(static_cast<std::uint8_t*>(*record) - buffer) + kRecordBytes;
  if (at >= valid) return kMaxLimitReached;
  *record = buffer + at;
  return 0;
}

}  // extern "C"
