#include "tuner/export/c_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

// Every "@" of the templates is the prefix. The loops over kernels and buffers are written out by C itself, over tables.
constexpr const char* kTables = R"(
typedef struct {
  const char *entry;
  unsigned grid[3], block[3], dynamic_shared_bytes, arguments;
  unsigned char argument[8]; /* places in @_buffer_bytes */
} @_launch_t;

)";

constexpr const char* kCuda = R"(
/* One loaded kernel with the memory that it works in. An object serves one stream at a time. */
typedef struct {
  CUmodule module;
  CUfunction kernel[@_LAUNCHES + 1];
  CUdeviceptr own[@_BUFFERS]; /* scratch and counters; 0 for input and output */
} @_t;

static inline CUresult @_unload(@_t *self) {
  int i;
  CUresult result = CUDA_SUCCESS;
  for (i = 0; i < @_BUFFERS; ++i) {
    if (self->own[i]) cuMemFree(self->own[i]);
    self->own[i] = 0;
  }
  if (self->module) result = cuModuleUnload(self->module);
  self->module = 0;
  return result;
}

/* Into the current context. CUDA_ERROR_NO_BINARY_FOR_GPU: the header has no image for this device. */
static inline CUresult @_load(@_t *self) {
  CUdevice device;
  CUresult result;
  int major = 0, minor = 0, i, best = -1;
  memset(self, 0, sizeof *self);
  if ((result = cuCtxGetDevice(&device)) != CUDA_SUCCESS) return result;
  if ((result = cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)) != CUDA_SUCCESS ||
      (result = cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)) != CUDA_SUCCESS)
    return result;
  /* A cubin runs on devices of its own major version that are not older. */
  for (i = 0; i < @_IMAGES; ++i) {
    if (@_image_capability[i] / 10 == major && @_image_capability[i] % 10 <= minor &&
        (best < 0 || @_image_capability[i] > @_image_capability[best]))
      best = i;
  }
  if (best < 0) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  if ((result = cuModuleLoadData(&self->module, @_image[best])) != CUDA_SUCCESS) return result;
  for (i = 0; i < @_LAUNCHES && result == CUDA_SUCCESS; ++i) {
    result = cuModuleGetFunction(&self->kernel[i], self->module, @_launches[i].entry);
    if (result == CUDA_SUCCESS && @_launches[i].dynamic_shared_bytes > 48 * 1024)
      result = cuFuncSetAttribute(self->kernel[i], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  (int)@_launches[i].dynamic_shared_bytes);
  }
  for (i = 2; i < @_BUFFERS && result == CUDA_SUCCESS; ++i) {
    result = cuMemAlloc(&self->own[i], @_buffer_bytes[i]);
    if (result == CUDA_SUCCESS) result = cuMemsetD8(self->own[i], 0, @_buffer_bytes[i]);
  }
  if (result != CUDA_SUCCESS) @_unload(self);
  return result;
}

/* Enqueues one computation. `input` (@_buffer_bytes[0] bytes, aligned to 16) and `output` (@_buffer_bytes[1]) are device
   memory. */
static inline CUresult @_run(const @_t *self, CUdeviceptr input, CUdeviceptr output, CUstream stream) {
  CUdeviceptr value[@_BUFFERS];
  int i;
  unsigned a;
  for (i = 0; i < @_BUFFERS; ++i) value[i] = i == 0 ? input : i == 1 ? output : self->own[i];
  for (i = 0; i < @_LAUNCHES; ++i) {
    const @_launch_t *l = &@_launches[i];
    void *arguments[8];
    CUresult result;
    for (a = 0; a < l->arguments; ++a) arguments[a] = &value[l->argument[a]];
    result = cuLaunchKernel(self->kernel[i], l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
                            l->dynamic_shared_bytes, stream, arguments, NULL);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
)";

constexpr const char* kOpenCl = R"(
/* One compiled kernel with the memory that it works in. An object serves one queue and one thread at a time. */
typedef struct {
  cl_program program;
  cl_kernel kernel[@_LAUNCHES + 1];
  cl_mem own[@_BUFFERS]; /* scratch and counters; NULL for input and output */
} @_t;

static inline void @_unload(@_t *self) {
  int i;
  for (i = 0; i < @_BUFFERS; ++i)
    if (self->own[i]) clReleaseMemObject(self->own[i]);
  for (i = 0; i < @_LAUNCHES; ++i)
    if (self->kernel[i]) clReleaseKernel(self->kernel[i]);
  if (self->program) clReleaseProgram(self->program);
  memset(self, 0, sizeof *self);
}

/* Compiles for `device` and fills the counters through `queue`; waits for that. */
static inline cl_int @_load(@_t *self, cl_context context, cl_device_id device, cl_command_queue queue) {
  cl_int result;
  int i;
  const cl_uint zero = 0;
  memset(self, 0, sizeof *self);
  self->program = clCreateProgramWithSource(context, @_LINES, (const char **)@_source, NULL, &result);
  if (result != CL_SUCCESS) return result;
  result = clBuildProgram(self->program, 1, &device, @_OPTIONS, NULL, NULL);
  for (i = 0; i < @_LAUNCHES && result == CL_SUCCESS; ++i)
    self->kernel[i] = clCreateKernel(self->program, @_launches[i].entry, &result);
  for (i = 2; i < @_BUFFERS && result == CL_SUCCESS; ++i) {
    /* A multiple of the pattern. */
    const size_t bytes = (@_buffer_bytes[i] + 3) / 4 * 4;
    self->own[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &result);
    if (result == CL_SUCCESS)
      result = clEnqueueFillBuffer(queue, self->own[i], &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
  }
  if (result == CL_SUCCESS) result = clFinish(queue);
  if (result != CL_SUCCESS) @_unload(self);
  return result;
}

/* Enqueues one computation on an in-order queue. `input` has @_buffer_bytes[0] bytes, `output` @_buffer_bytes[1]. */
static inline cl_int @_run(const @_t *self, cl_mem input, cl_mem output, cl_command_queue queue) {
  int i;
  unsigned a, d;
  for (i = 0; i < @_LAUNCHES; ++i) {
    const @_launch_t *l = &@_launches[i];
    size_t global[3], local[3];
    cl_int result;
    for (a = 0; a < l->arguments; ++a) {
      const unsigned place = l->argument[a];
      const cl_mem memory = place == 0 ? input : place == 1 ? output : self->own[place];
      result = clSetKernelArg(self->kernel[i], a, sizeof memory, &memory);
      if (result != CL_SUCCESS) return result;
    }
    for (d = 0; d < 3; ++d) {
      local[d] = l->block[d];
      global[d] = (size_t)l->grid[d] * l->block[d];
    }
    result = clEnqueueNDRangeKernel(queue, self->kernel[i], 3, NULL, global, local, 0, NULL, NULL);
    if (result != CL_SUCCESS) return result;
  }
  return CL_SUCCESS;
}
)";

std::string with_prefix(std::string_view text, const std::string& prefix) {
  std::string result;
  for (char c : text) result += c == '@' ? prefix : std::string(1, c);
  return result;
}

std::string bytes_text(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text += fmt::format("{}{},", i % 24 == 0 ? "\n  " : "", static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
  }
  return text + "\n";
}

std::string quoted_line(std::string_view line) {
  std::string text = "  \"";
  for (char c : line) {
    if (c == '"' || c == '\\' || c == '?') text += '\\';
    text += c;
  }
  return text + "\\n\"";
}

std::string launches_table(const Config& config) {
  std::string rows;
  for (const KernelLaunch& l : config.launches) {
    RT_CHECK(l.arguments.size() <= 8, "a kernel with more arguments than the header holds");
    rows += fmt::format("  {{\"{}\", {{{}, {}, {}}}, {{{}, {}, {}}}, {}, {}, {{{}}}}},\n", l.entry, l.grid[0], l.grid[1],
                        l.grid[2], l.block[0], l.block[1], l.block[2], l.dynamic_shared_bytes, l.arguments.size(),
                        fmt::join(l.arguments, ", "));
  }
  // C knows no empty table.
  if (rows.empty()) rows = "  {\"\", {0, 0, 0}, {0, 0, 0}, 0, 0, {0}},\n";
  return "static const @_launch_t @_launches[] = {\n" + rows + "};\n";
}

std::string images_text(const ShippedKernel& kernel) {
  RT_CHECK(!kernel.images.empty(), "a header without an image");
  std::string text, capabilities, names;
  for (const ShippedImage& image : kernel.images) {
    text += fmt::format("static const unsigned char @_sm_{}[] = {{{}}};\n", image.compute_capability,
                        bytes_text(image.bytes));
    capabilities += fmt::format("{}{}", capabilities.empty() ? "" : ", ", image.compute_capability);
    names += fmt::format("{}@_sm_{}", names.empty() ? "" : ", ", image.compute_capability);
  }
  return text + "static const int @_image_capability[] = {" + capabilities + "};\n" +
         "static const unsigned char *const @_image[] = {" + names + "};\n" +
         fmt::format("#define @_IMAGES {}\n", kernel.images.size());
}

std::string source_text(const ShippedKernel& kernel) {
  std::string lines;
  std::vector<std::string> all = split(kernel.text, '\n');
  if (!all.empty() && all.back().empty()) all.pop_back();
  for (const std::string& line : all) lines += quoted_line(line) + ",\n";
  return "static const char *const @_source[] = {\n" + lines + "};\n" + fmt::format("#define @_LINES {}\n", all.size()) +
         "#define @_OPTIONS \"" + kernel.options + "\"\n";
}

}  // namespace

std::string c_prefix(const ShippedKernel& kernel) {
  std::string prefix = "redtune_" + kernel.name();
  std::replace(prefix.begin(), prefix.end(), '-', '_');
  return prefix;
}

std::string c_header(const ShippedKernel& kernel) {
  const Config& config = kernel.config;
  RT_CHECK(config.buffers.size() >= 2 && config.buffers[0].kind == BufferKind::kInput &&
               config.buffers[1].kind == BufferKind::kOutput,
           "a program whose first buffers are not input and output");
  const bool cuda = kernel.language == KernelLanguage::kCuda;
  const std::string prefix = c_prefix(kernel);
  std::string guard = prefix + "_H";
  for (char& c : guard) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  std::string text = "/*\n";
  for (const std::string& line : description_of(kernel)) text += line.empty() ? " *\n" : " * " + line + "\n";
  text += " *\n * Use: one @_load, any number of @_run, one @_unload. Each gives 0 when it worked.\n */\n";
  text += "#ifndef " + guard + "\n#define " + guard + "\n\n" + (cuda ? "#include <cuda.h>\n" : "#include <CL/cl.h>\n");
  text += "#include <stddef.h>\n#include <string.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  text += fmt::format("\n#define @_LAUNCHES {}\n#define @_BUFFERS {}\n", config.launches.size(), config.buffers.size());
  text += kTables;
  text += launches_table(config);
  std::vector<std::string> bytes;
  for (const BufferSpec& buffer : config.buffers) bytes.push_back(std::to_string(buffer.bytes()));
  text += "/* Input, output, then what an object owns. */\nstatic const size_t @_buffer_bytes[] = {" + join(bytes, ", ") +
          "};\n";
  text += cuda ? images_text(kernel) : source_text(kernel);
  text += cuda ? kCuda : kOpenCl;
  text += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  // The kernel's own text has no "@": CUDA and OpenCL know no such character.
  return with_prefix(text, prefix);
}

}  // namespace redtune
