#include "measure/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

[[noreturn]] void fail(const std::string& what, std::int64_t bytes, int code) {
  throw UserError(what + " of " + format_bytes(static_cast<double>(bytes)) + ": " + std::strerror(code));
}

// mmap refuses a length of 0; one byte costs a page that nobody touches.
std::size_t mapped_length(std::int64_t bytes) {
  return static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
}

}  // namespace

SharedMemory SharedMemory::map(int fd, std::int64_t bytes, int protection, int flags, std::string path) {
  SharedMemory memory;
  memory.fd_ = fd;
  void* const at = ::mmap(nullptr, mapped_length(bytes), protection, MAP_SHARED | flags, fd, 0);
  if (at == MAP_FAILED) fail("cannot map shared memory", bytes, errno);
  memory.data_ = static_cast<unsigned char*>(at);
  memory.bytes_ = bytes;
  memory.path_ = std::move(path);
  return memory;
}

SharedMemory SharedMemory::create(const std::string& name, std::int64_t bytes) {
  const int fd = ::memfd_create(name.c_str(), MFD_CLOEXEC);
  if (fd < 0) fail("cannot create shared memory", bytes, errno);
  if (::ftruncate(fd, static_cast<off_t>(mapped_length(bytes))) != 0) {
    const int code = errno;
    ::close(fd);
    fail("cannot reserve shared memory", bytes, code);
  }
  // Through /proc rather than by inheritance: every other child of this process stays without it.
  const std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd);
  return map(fd, bytes, PROT_READ | PROT_WRITE, 0, path);
}

SharedMemory SharedMemory::open(const std::string& path, std::int64_t bytes, Access access, bool populate) {
  const bool writable = access == Access::kReadWrite;
  const int fd = ::open(path.c_str(), (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (fd < 0) fail("cannot open shared memory " + path, bytes, errno);
  return map(fd, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, populate ? MAP_POPULATE : 0, path);
}

SharedMemory::~SharedMemory() { forget(); }

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      path_(std::move(other.path_)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  if (this == &other) return *this;
  forget();
  fd_ = std::exchange(other.fd_, -1);
  data_ = std::exchange(other.data_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  path_ = std::move(other.path_);
  return *this;
}

void SharedMemory::forget() noexcept {
  if (data_ != nullptr) ::munmap(data_, mapped_length(bytes_));
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace redtune
