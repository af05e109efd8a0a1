// What a compiled kernel needs: registers, shared and local memory, spills. Read from the assembler's log, or
// from the binary itself where the log is empty (a compiler's own cache keeps no log).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redtune {

struct KernelResources {
  std::string entry;
  int registers = 0;
  std::int64_t shared_bytes = 0;  // static, without what the hardware reserves per block
  std::int64_t stack_bytes = 0;   // local memory per thread
  /// Bytes of spill instructions. 0 when the numbers come from the binary, which does not tell them.
  std::int64_t spill_store_bytes = 0, spill_load_bytes = 0;
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

/// From the lines that `--ptxas-options=-v` prints. Lines that it does not know are skipped; nothing there:
/// empty.
std::vector<KernelResources> resources_of_log(std::string_view log);

/// From a cubin's ELF sections. Empty when it is no such file or is cut short.
std::vector<KernelResources> resources_of_cubin(std::span<const char> cubin);

}  // namespace redtune
