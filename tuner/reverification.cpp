#include "tuner/reverification.h"

#include <array>

#include "space/constraints.h"
#include "space/heuristic.h"
#include "support/error.h"
#include "support/text.h"
#include "tuner/tuning.h"

namespace redtune {
namespace {

constexpr std::array<std::string_view, 6> kStandings{"holds", "faster", "slower", "wrong", "failed", "stale"};

bool is_slower(const Config& config, const Outcome& round, double tolerance) {
  return round.low_seconds > config.high_seconds * (1 + tolerance);
}

}  // namespace

std::string_view name(Standing standing) { return kStandings[static_cast<std::size_t>(standing)]; }

bool is_good(Standing standing) { return standing == Standing::kHolds || standing == Standing::kFaster; }

ConfigCheck judge(const Config& config, const std::vector<Outcome>& rounds, double tolerance) {
  RT_CHECK(!rounds.empty(), "a config judged without a measurement");
  ConfigCheck check;
  check.standing = Standing::kSlower;
  for (const Outcome& round : rounds) {
    if (!round.timed()) {
      const bool wrong = round.kind == OutcomeKind::kWrongResult;
      return {wrong ? Standing::kWrong : Standing::kFailed, 0, 0, 0,
              std::string(name(round.kind)) + ": " + round.detail};
    }
    if (check.seconds == 0 || round.median_seconds < check.seconds) {
      check.seconds = round.median_seconds;
      check.low_seconds = round.low_seconds;
      check.high_seconds = round.high_seconds;
    }
    if (!is_slower(config, round, tolerance)) check.standing = Standing::kHolds;
  }
  if (check.standing == Standing::kSlower) {
    check.detail = format_seconds(check.low_seconds) + " to " + format_seconds(check.high_seconds) +
                   " at best, stored are " + format_seconds(config.low_seconds) + " to " +
                   format_seconds(config.high_seconds);
  } else if (check.high_seconds < config.low_seconds * (1 - tolerance)) {
    check.standing = Standing::kFaster;
  }
  return check;
}

ConfigCheck recheck(const Config& config, double tolerance, int rounds,
                    const std::function<Outcome()>& measure) {
  std::vector<Outcome> outcomes;
  for (;;) {
    outcomes.push_back(measure());
    ConfigCheck check = judge(config, outcomes, tolerance);
    if (check.standing != Standing::kSlower || static_cast<int>(outcomes.size()) >= rounds) return check;
  }
}

std::string why_stale(const Config& config, const DeviceInfo& device) {
  const Task task = make_task(config.op, device.target);
  // The default may lie outside the space: it was measured for comparison, and may have won.
  if (!(config.schedule == default_schedule(task))) {
    if (const auto rejection = why_not(task, {}, config.schedule))
      return "the schedule is no longer legal: " + rejection->constraint + ": " + rejection->detail;
  }
  if (generate_program(task, config.schedule).hash != config.program_hash)
    return "this redtune makes another kernel of the schedule; tune again";
  return "";
}

}  // namespace redtune
