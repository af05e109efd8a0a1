// The verbs `doctor` and `version`.
#include <dlfcn.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>
#include <memory>

#include "codegen/nvrtc.h"
#include "measure/cuda_library.h"
#include "measure/cupti_library.h"
#include "measure/device.h"
#include "support/error.h"
#include "support/files.h"
#include "support/text.h"
#include "support/version.h"
#include "tuner/cli/verbs.h"

// isl's header stays in space/; its version is one plain C function of the library that space/ links.
extern "C" const char* isl_version(void);

namespace redtune {
namespace {

struct Finding {
  std::string what, state, detail;  // state: "ok", "missing", "warning"
};

// Opened and left open: closing a driver library is not safe in all of them.
void* open_first(const std::vector<std::string>& names, std::string& opened) {
  for (const std::string& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      opened = name;
      return handle;
    }
  }
  return nullptr;
}

Finding driver() {
  try {
    const CudaLibrary& library = cuda_library();
    return {"CUDA driver", "ok", library.version_text() + " (" + library.path + ")"};
  } catch (const NoDevice& error) {
    return {"CUDA driver", "missing", error.what()};
  }
}

Finding nvrtc() {
  try {
    const Nvrtc& compiler = Nvrtc::instance();
    std::vector<std::string> architectures;
    for (int number : compiler.supported_architectures())
      architectures.push_back("sm_" + std::to_string(number));
    return {"NVRTC", "ok", compiler.version() + " (" + compiler.path() + "): " + join(architectures, " ")};
  } catch (const std::exception& error) {
    return {"NVRTC", "missing", error.what()};
  }
}

Finding cupti() {
  try {
    const CuptiLibrary& library = cupti_library();
    return {"CUPTI", "ok", fmt::format("API {} ({})", library.version, library.path)};
  } catch (const NoDevice& error) {
    return {"CUPTI", "missing", error.what()};
  }
}

Finding counters() {
  const std::string what = "GPU counters";
  const std::string path = "/proc/driver/nvidia/params";
  if (!std::filesystem::exists(path)) return {what, "missing", "no NVIDIA kernel driver (" + path + ")"};
  const std::string text = read_file(path);
  const bool restricted = text.find("RmProfilingAdminOnly: 1") != std::string::npos;
  if (!restricted) return {what, "ok", "every user may read them"};
  return {what, "warning",
          "only root may read them (others get ERR_NVGPUCTRPERM); times work, counters do not. Load the nvidia "
          "module with NVreg_RestrictProfilingToAdminUsers=0, or run as root, in a container with "
          "--cap-add=SYS_ADMIN"};
}

std::vector<Finding> devices(const std::string& driver_detail) {
  std::vector<std::string> notes;
  std::vector<Finding> findings;
  for (const DeviceInfo& device : list_devices(&notes)) {
    findings.push_back(
        {"device " + device.id, "ok", device.name +
                                                      (device.name.ends_with(device.driver) ? "" : ", " + device.driver) +
                                                      ", timed by " + device.clock});
  }
  for (std::string note : notes) {
    // The row of the driver tells what is missing, once is enough.
    const auto told = note.find(driver_detail);
    if (told != std::string::npos) note.replace(told, driver_detail.size(), "see CUDA driver");
    findings.push_back({"device", "missing", note});
  }
  return findings;
}

Finding xgboost() {
  std::string name;
  void* library = open_first({"libxgboost.so.0", "libxgboost.so"}, name);
  if (library == nullptr) {
    return {"XGBoost", "missing",
            "optional: the learned cost model; package libxgboost0 (to build: libxgboost-dev)"};
  }
  using Version = void (*)(int*, int*, int*);
  const auto version = reinterpret_cast<Version>(::dlsym(library, "XGBoostVersion"));
  int major = 0, minor = 0, patch = 0;
  if (version != nullptr) version(&major, &minor, &patch);
  return {"XGBoost", "ok", fmt::format("{}.{}.{} ({})", major, minor, patch, name)};
}

Finding data() {
  try {
    return {"data", "ok", data_directory() + ": " + join(known_targets(), " ")};
  } catch (const std::exception& error) {
    return {"data", "missing", error.what()};
  }
}

Finding cache() {
  const std::string directory = user_cache_directory();
  if (directory.empty())
    return {"kernel cache", "warning", "not writable; set XDG_CACHE_HOME to a directory that is"};
  return {"kernel cache", "ok", directory};
}

std::string compiler_text() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

ExitCode run_doctor(bool as_json) {
  std::vector<Finding> findings{{"redtune", "ok", std::string(kVersion) + ", built with " + compiler_text()},
                                {"isl", "ok", trim(isl_version())},
                                data(),
                                cache()};
  const Finding cuda_driver = driver();
  const std::vector<Finding> present = devices(cuda_driver.detail);
  findings.insert(findings.end(), present.begin(), present.end());
  for (const Finding& finding : {cuda_driver, nvrtc(), cupti(), counters(), xgboost()})
    findings.push_back(finding);
  Json json = Json::array();
  for (const Finding& finding : findings) {
    json.push_back({{"what", finding.what}, {"state", finding.state}, {"detail", finding.detail}});
    if (!as_json) std::cout << fmt::format("{:<14} {:<8} {}\n", finding.what, finding.state, finding.detail);
  }
  if (as_json) std::cout << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  return ExitCode::kDone;
}

}  // namespace

VerbAction declare_doctor(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document");
  return [json] { return run_doctor(*json); };
}

VerbAction declare_version(CLI::App&) {
  return [] {
    std::cout << "redtune " << kVersion << "\nisl " << trim(isl_version()) << "\nbuilt with "
              << compiler_text() << "\n";
    return ExitCode::kDone;
  };
}

}  // namespace redtune
