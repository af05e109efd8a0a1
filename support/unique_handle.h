// Owner of a C handle. Traits: `using handle = ...; static handle invalid(); static void close(handle) noexcept;`
#pragma once

#include <utility>

namespace redtune {

template <typename Traits>
class UniqueHandle {
 public:
  using handle = typename Traits::handle;

  UniqueHandle() = default;
  explicit UniqueHandle(handle h) : handle_(h) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueHandle(const UniqueHandle&) = delete;
  UniqueHandle& operator=(const UniqueHandle&) = delete;
  ~UniqueHandle() { reset(); }

  handle get() const { return handle_; }
  handle release() { return std::exchange(handle_, Traits::invalid()); }
  void reset(handle h = Traits::invalid()) {
    if (handle_ != Traits::invalid()) Traits::close(handle_);
    handle_ = h;
  }
  explicit operator bool() const { return handle_ != Traits::invalid(); }

 private:
  handle handle_ = Traits::invalid();
};

}  // namespace redtune
