#include "tuner/cli/verify_options.h"

#include <CLI/CLI.hpp>

#include "measure/parallel.h"
#include "support/error.h"

namespace redtune {

void VerifyArguments::declare(CLI::App& app) {
  app.add_option("--device", device_, "device to run on (default: the best)");
  app.add_option("--seed", seed_, "seed of schedules and data (default 1)");
  app.add_option("--jobs", jobs_, "worker processes (default: one per core)")->check(CLI::Range(1, 1024));
  app.add_flag(
      "--oclgrind", oclgrind_,
      "run under Oclgrind: bad accesses and divergent barriers are found too, and small tasks go faster");
  app.add_flag("--races", races_, "with --oclgrind: look for data races as well (slow)");
  app.add_flag("--no-optimize", no_optimize_, "PoCL: compile without optimization, twice as fast");
}

VerifyOptions VerifyArguments::options() const {
  if (races_ && !oclgrind_) throw UserError("--races needs --oclgrind");
  VerifyOptions options;
  options.data_seed = seed_;
  options.jobs = jobs_;
  options.optimize = !no_optimize_;
  options.watch = races_ ? Watch::kRaces : oclgrind_ ? Watch::kAccesses : Watch::kNone;
  return options;
}

int VerifyArguments::jobs() const { return jobs_ > 0 ? jobs_ : host_cores(); }

DeviceInfo VerifyArguments::pick() const {
  if (oclgrind_ && device_.empty()) return pick_device("cpu");
  return pick_device(device_);
}

std::string VerifyArguments::device_text(const DeviceInfo& device) const {
  return device.name + (oclgrind_ ? ", under Oclgrind" : "") + (races_ ? " with races" : "") +
         (no_optimize_ ? ", kernels not optimized" : "");
}

}  // namespace redtune
