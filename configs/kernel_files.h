// Kernel texts and compiled images beside the configs that use them: DIR/kernels/. With them a config store is a bundle:
// a program that loads it needs no code generator.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/json.h"

namespace redtune {

enum class KernelLanguage : std::uint8_t { kOpenCl, kCuda };
std::string_view name(KernelLanguage language);  // "opencl", "cuda"

/// A compiled form of the text for one architecture.
struct KernelImage {
  std::string architecture;  // "sm_90" for a cubin, "compute_90" for PTX
  std::string format;        // "cubin", "ptx" (without a terminating zero)
  std::string file;          // below the store: "kernels/0123456789abcdef.sm_90.cubin"
  std::string hash;          // hex64(hash64(bytes))
  friend bool operator==(const KernelImage&, const KernelImage&) = default;
};

/// Where the whole text of a program lies, prelude included.
struct KernelFile {
  KernelLanguage language = KernelLanguage::kOpenCl;
  std::string file;     // below the store: "kernels/0123456789abcdef.cl"; the name is the hash of the text
  std::string options;  // for an OpenCL compiler; "" for CUDA, where the loader names the architecture
  std::vector<KernelImage> images;
  friend bool operator==(const KernelFile&, const KernelFile&) = default;
};

Json to_json(const KernelFile& kernel);
/// Throws UserError naming file and field. Names that lead out of the store are refused.
KernelFile parse_kernel_file(JsonObject json);

/// Writes DIR/kernels/HASH.cl or .cu unless it is there. Atomic; any number of processes may write at once.
KernelFile write_kernel_text(const std::string& store, std::string_view text, KernelLanguage language,
                             const std::string& options);
/// Writes the bytes beside the text and adds them to `kernel.images`, in place of one of the same architecture.
void write_kernel_image(const std::string& store, KernelFile& kernel, const std::string& architecture,
                        const std::string& format, std::string_view bytes);

/// The text; throws UserError when it is missing or is not what the name says.
std::string read_kernel_text(const std::string& store, const KernelFile& kernel);
/// The bytes of an image; throws UserError when they are missing or damaged.
std::string read_kernel_image(const std::string& store, const KernelImage& image);

}  // namespace redtune
