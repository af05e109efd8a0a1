#include "codegen/cubin_info.h"

#include <elf.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <optional>

namespace redtune {
namespace {

/// The number that stands before `unit` in `line`: "Used 32 registers, 1024 bytes smem".
std::int64_t number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

// Attributes of .nv.info: one byte form, one byte name, two bytes of value or size.
constexpr unsigned char kFormSized = 4;
constexpr unsigned char kAttributeFrameSize = 0x11;
constexpr unsigned char kAttributeRegisterCount = 0x2f;
// From sm_90 on the driver keeps this much of each block's shared memory for itself, and the section counts
// it.
constexpr std::int64_t kReservedSharedBytes = 1024;

/// Bounds-checked reading of a 64-bit ELF file in memory.
class Elf {
 public:
  explicit Elf(std::span<const char> bytes) : bytes_(bytes) {
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
      return;
    for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
      if (!section) {
        sections_.clear();
        return;
      }
      sections_.push_back(*section);
    }
    if (header->e_shstrndx < sections_.size()) names_ = sections_[header->e_shstrndx].sh_offset;
  }

  template <typename T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }
  std::string_view string(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const char* begin = bytes_.data() + offset;
    return {begin, ::strnlen(begin, bytes_.size() - offset)};
  }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string_view name(const Elf64_Shdr& section) const { return string(names_ + section.sh_name); }
  const Elf64_Shdr* find(std::string_view wanted) const {
    for (const Elf64_Shdr& section : sections_) {
      if (name(section) == wanted) return &section;
    }
    return nullptr;
  }
  /// Name of symbol `index`, "" when there is none.
  std::string symbol(std::uint32_t index) const {
    const Elf64_Shdr* table = find(".symtab");
    if (table == nullptr || table->sh_link >= sections_.size()) return "";
    const auto symbol = at<Elf64_Sym>(table->sh_offset + std::uint64_t{index} * sizeof(Elf64_Sym));
    return symbol ? std::string(string(sections_[table->sh_link].sh_offset + symbol->st_name)) : "";
  }

 private:
  std::span<const char> bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::uint64_t names_ = 0;
};

/// Values of one attribute of .nv.info, by kernel.
std::map<std::string, std::uint32_t> attribute(const Elf& elf, unsigned char wanted) {
  std::map<std::string, std::uint32_t> values;
  const Elf64_Shdr* info = elf.find(".nv.info");
  if (info == nullptr) return values;
  for (std::uint64_t at = info->sh_offset; at + 4 <= info->sh_offset + info->sh_size;) {
    const auto form = elf.at<unsigned char>(at), name = elf.at<unsigned char>(at + 1);
    const auto size = elf.at<std::uint16_t>(at + 2);
    if (!form || !name || !size) break;
    if (*form == kFormSized && *name == wanted && *size == 8) {
      const auto symbol = elf.at<std::uint32_t>(at + 4), value = elf.at<std::uint32_t>(at + 8);
      if (symbol && value) values[elf.symbol(*symbol)] = *value;
    }
    at += 4 + (*form == kFormSized ? *size : 0u);
  }
  return values;
}

}  // namespace

std::vector<KernelResources> resources_of_log(std::string_view log) {
  constexpr std::string_view kEntry = "Compiling entry function '";
  std::vector<KernelResources> kernels;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    const std::size_t entry = line.find(kEntry);
    if (entry != std::string_view::npos) {
      const std::string_view rest = line.substr(entry + kEntry.size());
      kernels.emplace_back().entry = rest.substr(0, rest.find('\''));
    }
    if (kernels.empty()) continue;
    KernelResources& kernel = kernels.back();
    if (line.find(" bytes stack frame") != std::string_view::npos) {
      kernel.stack_bytes = number_before(line, " bytes stack frame");
      kernel.spill_store_bytes = number_before(line, " bytes spill stores");
      kernel.spill_load_bytes = number_before(line, " bytes spill loads");
    }
    if (line.find("Used ") != std::string_view::npos) {
      kernel.registers = static_cast<int>(number_before(line, " registers"));
      kernel.shared_bytes = number_before(line, " bytes smem");
    }
  }
  // Cut off in the middle: no numbers are better than zeros.
  std::erase_if(kernels, [](const KernelResources& k) { return k.registers == 0; });
  return kernels;
}

std::vector<KernelResources> resources_of_cubin(std::span<const char> cubin) {
  const Elf elf(cubin);
  const std::map<std::string, std::uint32_t> registers = attribute(elf, kAttributeRegisterCount);
  std::map<std::string, std::uint32_t> frames = attribute(elf, kAttributeFrameSize);
  const bool reserved = elf.find(".nv.shared.reserved.0") != nullptr;
  std::vector<KernelResources> kernels;
  for (const auto& [entry, count] : registers) {
    if (elf.find(".nv.constant0." + entry) == nullptr)
      continue;  // a device function: kernels have parameters
    KernelResources kernel;
    kernel.entry = entry;
    kernel.registers = static_cast<int>(count);
    kernel.stack_bytes = frames[entry];
    if (const Elf64_Shdr* shared = elf.find(".nv.shared." + entry)) {
      kernel.shared_bytes =
          static_cast<std::int64_t>(shared->sh_size) - (reserved ? kReservedSharedBytes : 0);
    }
    kernels.push_back(kernel);
  }
  return kernels;
}

}  // namespace redtune
