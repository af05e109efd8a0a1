#include "codegen/nvrtc.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "codegen/nvrtc_library.h"
#include "support/error.h"
#include "support/text.h"
#include "support/unique_handle.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;

/// Options that only newer versions have; a version that refuses one is asked again without it.
constexpr std::array<const char*, 2> kOptional = {
    // Leaves out declarations of textures and of the device runtime: 5 to 8 ms of each compilation.
    "--minimal",
    // With a driver present NVRTC keeps a cache of its own, which would answer without a log and make compile
    // times
    // meaningless. KernelCache is the cache.
    "--no-cache",
};

struct Deadline {
  Clock::time_point end;
  std::atomic<bool> passed{false};  // once cancelled the answer must stay the same
};

int ask_deadline(void* payload, void*) {
  auto* deadline = static_cast<Deadline*>(payload);
  if (Clock::now() >= deadline->end) deadline->passed = true;
  return deadline->passed ? 1 : 0;
}

class Compilation {
 public:
  Compilation(const NvrtcFunctions& call, const std::string& text) : call_(call) {
    const int code = call_.CreateProgram(&program_, text.c_str(), "kernel.cu", 0, nullptr, nullptr);
    RT_CHECK(code == kNvrtcSuccess,
             std::string("NVRTC does not create a program: ") + call_.GetErrorString(code));
  }
  ~Compilation() { call_.DestroyProgram(&program_); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  void set_deadline(Deadline& deadline) {
    if (call_.SetFlowCallback != nullptr) call_.SetFlowCallback(program_, &ask_deadline, &deadline);
  }
  int run(const std::vector<std::string>& options) {
    std::vector<const char*> arguments;
    for (const std::string& option : options) arguments.push_back(option.c_str());
    return call_.CompileProgram(program_, static_cast<int>(arguments.size()), arguments.data());
  }
  std::string log() const {
    const std::vector<char> bytes = fetch(call_.GetProgramLogSize, call_.GetProgramLog);
    std::string text(bytes.begin(), bytes.end());
    while (!text.empty() && text.back() == '\0') text.pop_back();  // the size counts it
    return text;
  }
  std::vector<char> image(bool ptx) const {
    if (!ptx) return fetch(call_.GetCUBINSize, call_.GetCUBIN);
    std::vector<char> text = fetch(call_.GetPTXSize, call_.GetPTX);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }

 private:
  std::vector<char> fetch(int (*size)(_nvrtcProgram*, std::size_t*),
                          int (*get)(_nvrtcProgram*, char*)) const {
    std::size_t bytes = 0;
    if (size(program_, &bytes) != kNvrtcSuccess || bytes == 0) return {};
    std::vector<char> data(bytes);
    if (get(program_, data.data()) != kNvrtcSuccess) return {};
    return data;
  }

  const NvrtcFunctions& call_;
  _nvrtcProgram* program_ = nullptr;
};

std::int64_t spilled_bytes(const NvrtcResult& result) {
  std::int64_t bytes = 0;
  for (const KernelResources& kernel : result.kernels) bytes += kernel.spill_store_bytes + kernel.spill_load_bytes;
  return bytes;
}

std::string architecture_list(const std::vector<int>& architectures) {
  std::vector<std::string> names;
  for (int a : architectures) names.push_back("sm_" + std::to_string(a));
  return join(names, ", ");
}

[[noreturn]] void throw_builtins_missing(const NvrtcLibrary& library, const std::string& log) {
  const std::string name =
      "libnvrtc-builtins.so." + std::to_string(library.major) + "." + std::to_string(library.minor);
  const std::size_t slash = library.path.rfind('/');
  throw NoDevice("NVRTC cannot open " + name + " (" + fatal_line(log) + "); it looks beside itself (" +
                 (slash == std::string::npos ? "the loader's directory of " + library.path
                                             : library.path.substr(0, slash)) +
                 ") and on the loader's path. Put the file there, or add its directory to LD_LIBRARY_PATH");
}

}  // namespace

const KernelResources* NvrtcResult::find(std::string_view entry) const {
  const auto found = std::ranges::find(kernels, entry, &KernelResources::entry);
  return found != kernels.end() ? &*found : nullptr;
}

std::string fatal_line(std::string_view log) {
  std::string first;
  for (const std::string& raw : split(log, '\n')) {
    const std::string line = trim(raw);
    // "k.cu(3): error: x", "ptxas error   : x", "ptxas fatal   : x", "catastrophic error: x"
    for (const std::string_view word : {"error", "fatal", "ERROR"}) {
      const std::size_t at = line.find(word);
      if (at == std::string::npos) continue;
      const std::size_t next = line.find_first_not_of(' ', at + word.size());
      if (word == "ERROR" || (next != std::string::npos && line[next] == ':')) return line;
    }
    if (first.empty()) first = line;
  }
  return first;
}

Nvrtc& Nvrtc::instance() {
  // Never destroyed: threads may still compile while the process leaves main.
  static Nvrtc* nvrtc = [] {
    const char* override_path = std::getenv("REDTUNE_NVRTC");
    return new Nvrtc(open_nvrtc(nvrtc_candidates(override_path != nullptr ? override_path : "")));
  }();
  return *nvrtc;
}

Nvrtc::Nvrtc(std::unique_ptr<NvrtcLibrary> library)
    : library_(std::move(library)), dropped_(kOptional.size()) {
  int count = 0;
  if (library_->call.GetNumSupportedArchs(&count) != kNvrtcSuccess || count <= 0) return;
  architectures_.resize(static_cast<std::size_t>(count));
  if (library_->call.GetSupportedArchs(architectures_.data()) != kNvrtcSuccess) architectures_.clear();
  std::ranges::sort(architectures_);
}

Nvrtc::~Nvrtc() = default;

std::string Nvrtc::version() const {
  return std::to_string(library_->major) + "." + std::to_string(library_->minor);
}

const std::string& Nvrtc::path() const { return library_->path; }

int Nvrtc::newest_usable(int compute_capability) const {
  const auto above = std::ranges::upper_bound(architectures_, compute_capability);
  return above == architectures_.begin() ? 0 : *std::prev(above);
}

void Nvrtc::require_architecture(int compute_capability) const {
  // Without a list the compiler itself has to complain.
  if (architectures_.empty() || std::ranges::binary_search(architectures_, compute_capability)) return;
  std::string message =
      "NVRTC " + version() + " does not know the architecture sm_" + std::to_string(compute_capability);
  if (compute_capability > architectures_.back()) {
    message += ", which is newer than it; a newer NVRTC is needed, or PTX for compute_" +
               std::to_string(newest_usable(compute_capability));
  } else if (compute_capability < architectures_.front()) {
    message += ", which is older than what it still supports; an older NVRTC is needed";
  }
  throw UserError(message + ". It knows " + architecture_list(architectures_));
}

std::vector<std::string> Nvrtc::command_line(const NvrtcOptions& options) const {
  std::vector<std::string> line = {std::string("--gpu-architecture=") + (options.ptx ? "compute_" : "sm_") +
                                       std::to_string(options.compute_capability),
                                   "--std=c++17"};
  if (!options.ptx) line.push_back("--ptxas-options=-v");
  for (std::size_t i = 0; i < kOptional.size(); ++i) {
    if (!dropped_[i]) line.push_back(kOptional[i]);
  }
  line.insert(line.end(), options.extra.begin(), options.extra.end());
  return line;
}

bool Nvrtc::drop_unknown_option(std::string_view log) {
  for (std::size_t i = 0; i < kOptional.size(); ++i) {
    if (log.find(kOptional[i]) != std::string_view::npos && !dropped_[i].exchange(true)) return true;
  }
  return false;
}

NvrtcResult Nvrtc::compile(const std::string& text, const NvrtcOptions& options) {
  constexpr const char* kResident = "RT_RESIDENT";
  NvrtcResult result = compile_once(text, options);
  if (spilled_bytes(result) == 0 || text.find(kResident) == std::string::npos) return result;
  NvrtcOptions roomy = options;
  roomy.extra.push_back("--define-macro=" + std::string(kResident) + "=1");
  NvrtcResult second = compile_once(text, roomy);
  second.seconds += result.seconds;
  return second.ok && spilled_bytes(second) < spilled_bytes(result) ? second : result;
}

NvrtcResult Nvrtc::compile_once(const std::string& text, const NvrtcOptions& options) {
  require_architecture(options.compute_capability);
  const Clock::time_point start = Clock::now();
  const auto seconds = std::chrono::duration<double>(options.deadline_seconds);
  Deadline deadline{start + std::chrono::duration_cast<Clock::duration>(seconds)};

  NvrtcResult result;
  const std::vector<std::string> line = command_line(options);
  Compilation compilation(library_->call, text);
  if (options.deadline_seconds > 0) compilation.set_deadline(deadline);
  const int code = compilation.run(line);
  result.log = compilation.log();
  // Another thread may have dropped the option since `line` was made: then asking again is enough.
  if (code == kNvrtcInvalidOption && (drop_unknown_option(result.log) || line != command_line(options))) {
    return compile_once(text, options);
  }
  if (code == kNvrtcBuiltinOperationFailure) throw_builtins_missing(*library_, result.log);

  result.ok = code == kNvrtcSuccess;
  result.timed_out = deadline.passed && !result.ok;
  if (result.ok) result.image = compilation.image(options.ptx);
  if (result.ok && !options.ptx) {
    result.kernels = resources_of_log(result.log);
    if (result.kernels.empty()) result.kernels = resources_of_cubin(result.image);
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (result.timed_out) {
    result.error = "compilation stopped after " + format_seconds(result.seconds) + " (limit " +
                   format_seconds(options.deadline_seconds) + ")";
  } else if (!result.ok) {
    result.error = fatal_line(result.log);
    if (result.error.empty()) result.error = library_->call.GetErrorString(code);
  }
  return result;
}

}  // namespace redtune
