// Memory that the tool and its workers share: an anonymous file without a name, gone with its last user.
#pragma once

#include <cstdint>
#include <string>

namespace redtune {

/// Move-only. The owner creates it; a worker opens it by the owner's path, for reading only when it must not
/// be changed: a kernel that writes there then dies instead of spoiling the data of those that come later.
class SharedMemory {
 public:
  enum class Access { kRead, kReadWrite };

  SharedMemory() = default;
  /// `bytes` of zeros, mapped writable. Throws UserError with needed bytes and the system's reason.
  static SharedMemory create(const std::string& name, std::int64_t bytes);
  /// Maps what another process owns. `populate`: every page is present on return, so that no first touch is
  /// timed.
  static SharedMemory open(const std::string& path, std::int64_t bytes, Access access, bool populate);

  ~SharedMemory();
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  unsigned char* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  /// Where another process of the same user finds it, for as long as the owner lives.
  const std::string& path() const { return path_; }

 private:
  static SharedMemory map(int fd, std::int64_t bytes, int protection, int flags, std::string path);
  void forget() noexcept;

  int fd_ = -1;
  unsigned char* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::string path_;
};

}  // namespace redtune
