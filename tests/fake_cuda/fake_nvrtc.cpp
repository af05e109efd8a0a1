// The part of NVRTC that redtune uses, for the fake CUDA device of the tests: the "binary" is the text.
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/fake_cuda/fake_plan.h"

namespace {

constexpr int kCompilation = 6;

struct Program {
  std::string text, log;
};

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(int) { return "an error of the fake NVRTC"; }

// A version that no real one has: what the fake makes is never taken for its.
int nvrtcVersion(int* major, int* minor) {
  *major = 99;
  *minor = 9;
  return 0;
}

int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return 0;
}

int nvrtcGetSupportedArchs(int* architectures) {
  architectures[0] = 90;
  return 0;
}

int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char* const*,
                       const char* const*) {
  *program = new Program{text, ""};
  return 0;
}

int nvrtcDestroyProgram(void** program) {
  delete static_cast<Program*>(*program);
  return 0;
}

int nvrtcCompileProgram(void* handle, int, const char* const*) {
  auto* const program = static_cast<Program*>(handle);
  const redtune::FakeFault fault = redtune::planned_fault(program->text);
  if (fault == redtune::FakeFault::kCompileCrash) std::abort();
  if (fault != redtune::FakeFault::kCompileError) return 0;
  program->log = "kernel.cu(7): error: the fake compiler does not like this kernel";
  return kCompilation;
}

int nvrtcGetProgramLogSize(void* program, std::size_t* size) {
  *size = static_cast<Program*>(program)->log.size() + 1;
  return 0;
}

int nvrtcGetProgramLog(void* program, char* log) {
  std::strcpy(log, static_cast<Program*>(program)->log.c_str());
  return 0;
}

int nvrtcGetPTXSize(void* program, std::size_t* size) {
  *size = static_cast<Program*>(program)->text.size() + 1;
  return 0;
}

int nvrtcGetPTX(void* program, char* text) {
  std::strcpy(text, static_cast<Program*>(program)->text.c_str());
  return 0;
}

int nvrtcGetCUBINSize(void* program, std::size_t* size) { return nvrtcGetPTXSize(program, size); }
int nvrtcGetCUBIN(void* program, char* text) { return nvrtcGetPTX(program, text); }

}  // extern "C"
