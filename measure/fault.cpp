#include "measure/fault.h"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <utility>

#include "support/error.h"

namespace redtune {
namespace {

constexpr std::array<std::pair<std::string_view, FaultKind>, 13> kFaults{{
    {"start", FaultKind::kStart},
    {"compile_hang", FaultKind::kCompileHang},
    {"compile_crash", FaultKind::kCompileCrash},
    {"hang", FaultKind::kHang},
    {"timing_hang", FaultKind::kTimingHang},
    {"crash", FaultKind::kCrash},
    {"early_return", FaultKind::kEarlyReturn},
    {"skip_last", FaultKind::kSkipLast},
    {"nan", FaultKind::kNan},
    {"out_of_bounds", FaultKind::kOutOfBounds},
    {"zero_time", FaultKind::kZeroTime},
    {"reversed_time", FaultKind::kReversedTime},
    {"zero_time_once", FaultKind::kZeroTimeOnce},
}};

FaultKind parse_kind(std::string_view word) {
  std::vector<std::string> known;
  for (const auto& [text, kind] : kFaults) {
    if (text == word) return kind;
    known.emplace_back(text);
  }
  throw UserError(unknown_word_message("worker fault", word, known));
}

}  // namespace

Fault parse_fault(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t at = text.find('@');
  Fault fault{parse_kind(text.substr(0, at)), 0};
  const std::string_view number = at == std::string_view::npos ? "*" : text.substr(at + 1);
  if (number == "*") return fault;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), fault.number);
  if (code != std::errc() || end != number.data() + number.size() || fault.number < 1) {
    throw UserError("worker fault '" + std::string(text) + "': must end in @ and a candidate's number or *");
  }
  return fault;
}

Fault fault_from_environment() {
#ifdef REDTUNE_FAULTS
  const char* const text = std::getenv("REDTUNE_WORKER_FAULT");
  return parse_fault(text == nullptr ? "" : text);
#else
  return {};
#endif
}

void hang() {
  for (;;) ::pause();
}

void falsify(const Fault& fault, std::int64_t candidate, std::int64_t repetition,
             std::vector<LaunchTime>& times) {
  const bool zero = fault.hits(FaultKind::kZeroTime, candidate) ||
                    (fault.hits(FaultKind::kZeroTimeOnce, candidate) && repetition <= 1);
  for (LaunchTime& time : times) {
    if (zero) time = {};
    if (fault.hits(FaultKind::kReversedTime, candidate))
      std::swap(time.start_nanoseconds, time.end_nanoseconds);
  }
}

}  // namespace redtune
