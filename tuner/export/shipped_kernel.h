// What an export takes along: a config with the whole text of its kernel and, on CUDA, its images.
#pragma once

#include <string>
#include <vector>

#include "codegen/cubin_info.h"
#include "configs/config_store.h"

namespace redtune {

/// A cubin for one architecture.
struct ShippedImage {
  int compute_capability = 0;  // 90: sm_90
  std::string bytes;
  std::vector<KernelResources> kernels;
};

struct ShippedKernel {
  Config config;
  std::string text;  // prelude included, as a compiler takes it
  KernelLanguage language = KernelLanguage::kOpenCl;
  std::string options;  // for an OpenCL compiler
  std::vector<ShippedImage> images;

  /// A name for files and, with '_' for '-', for C: that of the operator ("sum-f32-4-8-axes-1-f32").
  std::string name() const;
};

/// Of a config in `store`, with the text that lies there. Throws UserError when it has none (an older redtune wrote it).
ShippedKernel shipped_from(const std::string& store, const Config& config);

/// Of a schedule on a target, generated now: nobody measured it.
ShippedKernel shipped_from(const Task& task, const Schedule& schedule);

/// "sm_90" -> 90; 0 for what names no CUDA architecture.
int capability_of(const std::string& target);

/// Compiles the text for each architecture. Throws UserError for a kernel that is not CUDA's or does not compile, and
/// NoDevice without NVRTC.
void add_images(ShippedKernel& kernel, const std::vector<int>& compute_capabilities);

/// What the kernel is and how it is launched, as lines of text: for the head of a source.
std::vector<std::string> description_of(const ShippedKernel& kernel);

}  // namespace redtune
