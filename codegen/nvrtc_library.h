// The NVRTC library, opened at run time: the build needs no CUDA toolkit and the tool starts without one.
// Nothing outside codegen/nvrtc*.cpp should need this header.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct _nvrtcProgram;  // NVRTC's own name for what its handle points to

namespace redtune {

/// Return codes that are acted on; the others are only reported.
enum NvrtcCode : int {
  kNvrtcSuccess = 0,
  kNvrtcInvalidOption = 5,
  kNvrtcCompilation = 6,
  kNvrtcBuiltinOperationFailure = 7,
  kNvrtcCancelled = 16,
};

/// The functions used, by their names without "nvrtc". The enum results are ints. Checked against nvrtc.h
/// where the build finds it.
struct NvrtcFunctions {
  const char* (*GetErrorString)(int);
  int (*Version)(int*, int*);
  int (*GetNumSupportedArchs)(int*);
  int (*GetSupportedArchs)(int*);
  int (*CreateProgram)(_nvrtcProgram**, const char*, const char*, int, const char* const*,
                       const char* const*);
  int (*DestroyProgram)(_nvrtcProgram**);
  int (*CompileProgram)(_nvrtcProgram*, int, const char* const*);
  int (*GetProgramLogSize)(_nvrtcProgram*, std::size_t*);
  int (*GetProgramLog)(_nvrtcProgram*, char*);
  int (*GetPTXSize)(_nvrtcProgram*, std::size_t*);
  int (*GetPTX)(_nvrtcProgram*, char*);
  int (*GetCUBINSize)(_nvrtcProgram*, std::size_t*);
  int (*GetCUBIN)(_nvrtcProgram*, char*);
  /// Null before NVRTC 12.8: compilations then cannot be stopped.
  int (*SetFlowCallback)(_nvrtcProgram*, int (*)(void*, void*), void*);
};

struct NvrtcLibrary {
  std::string path;  // what was opened
  int major = 0, minor = 0;
  std::vector<std::string> searched;  // names and paths tried, in order, up to `path`
  NvrtcFunctions call{};
};

/// Where NVRTC is looked for: only `override_path` (a file) when it is not empty; otherwise the known names
/// on the loader's path, then the toolkit directories that CUDA_HOME and CUDA_PATH name, then
/// /usr/local/cuda.
std::vector<std::string> nvrtc_candidates(const std::string& override_path);

/// Opens the first candidate that loads and has the needed functions; it stays open until the process ends.
/// Throws NoDevice naming every place tried, the loader's reason for the first, and the remedy.
std::unique_ptr<NvrtcLibrary> open_nvrtc(const std::vector<std::string>& candidates);

}  // namespace redtune
