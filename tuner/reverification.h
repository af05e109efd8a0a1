// Whether a stored config still holds on a device: the same kernel, the right numbers, no slower than its
// interval says.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "configs/config_store.h"
#include "logs/outcome.h"
#include "measure/device.h"

namespace redtune {

enum class Standing : std::uint8_t {
  kHolds,
  kFaster,  // clearly: its interval lies below the stored one
  kSlower,  // clearly, in every round
  kWrong,   // the answer fails the check
  kFailed,  // it does not run, or gives no time
  kStale,   // this redtune makes another kernel of the schedule, or none: what is stored cannot be checked
};
std::string_view name(Standing standing);  // "holds", "faster", "slower", "wrong", "failed", "stale"
/// Good enough for a gate: holds or faster.
bool is_good(Standing standing);

struct ConfigCheck {
  Standing standing = Standing::kHolds;
  double seconds = 0, low_seconds = 0, high_seconds = 0;  // of the best round; 0 without a time
  std::string detail;
};

/// Judges rounds of measuring. Slower: in every round the whole interval lies above the stored one by more
/// than `tolerance` (0.1: a tenth); one bad round may be the machine's. A round that failed decides.
ConfigCheck judge(const Config& config, const std::vector<Outcome>& rounds, double tolerance);

/// Measures until a round is good, at most `rounds` times. `measure` gives one round's outcome.
ConfigCheck recheck(const Config& config, double tolerance, int rounds,
                    const std::function<Outcome()>& measure);

/// Why the config cannot be checked by this redtune on the device; "" when it can. Costs a code generation.
std::string why_stale(const Config& config, const DeviceInfo& device);

}  // namespace redtune
