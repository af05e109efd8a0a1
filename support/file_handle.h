// Owner of a file descriptor.
#pragma once

#include <unistd.h>

#include "support/unique_handle.h"

namespace redtune {

struct FileTraits {
  using handle = int;
  static int invalid() { return -1; }
  static void close(int fd) noexcept { ::close(fd); }
};
using FileHandle = UniqueHandle<FileTraits>;

}  // namespace redtune
