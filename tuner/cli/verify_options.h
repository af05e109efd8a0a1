// How schedules are checked: options that `verify` and `fuzz` share.
#pragma once

#include <string>

#include "measure/verifier.h"

namespace CLI {
class App;
}

namespace redtune {

class VerifyArguments {
 public:
  void declare(CLI::App& app);
  VerifyOptions options() const;
  /// Throws NoDevice.
  DeviceInfo pick() const;
  std::uint64_t seed() const { return seed_; }
  /// Worker processes side by side.
  int jobs() const;
  bool optimize() const { return !no_optimize_; }
  /// "cpu: AMD ..., under Oclgrind", for reports.
  std::string device_text(const DeviceInfo& device) const;

 private:
  std::string device_;
  std::uint64_t seed_ = 1;
  int jobs_ = 0;
  bool oclgrind_ = false, races_ = false, no_optimize_ = false;
};

}  // namespace redtune
