// Errors in four kinds: a bug (InternalError), bad input (UserError), a device that is gone (DeviceLost), and
// a bad candidate, which is never thrown: it is an outcome (logs/outcome.h) or a rejection (space/rejection.h).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace redtune {

/// Exit codes of every verb. `main` is the only place that maps exceptions to them.
enum class ExitCode : int {
  kDone = 0,
  kInternal = 1,
  kUsage = 2,
  kNoValidSchedule = 3,
  kNoDevice = 4,
  kStoppedEarly = 5,
};

/// Bad input. The message names file, field or option, and the remedy. Exit code 2; nothing was written.
class UserError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A needed device, driver or library is absent. The message says what is missing and how to get it. Exit 4.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The device can no longer be used. Thrown after the log is flushed. Exit 4.
class DeviceLost : public NoDevice {
 public:
  using NoDevice::NoDevice;
};

/// Everything was tried and nothing was valid. The message counts the reasons. Exit 3.
class NoValidSchedule : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A bug in redtune. Exit 1.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

[[noreturn]] void throw_internal(const char* file, int line, const std::string& what);

/// The word of `known` closest to `word` by edit distance, or "" when none is near (distance > 1/2 length).
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// "unknown KIND 'word'; did you mean 'x'? known: a, b, c"
std::string unknown_word_message(std::string_view kind, std::string_view word, const std::vector<std::string>& known);

}  // namespace redtune

/// Checks what only a bug can break.
#define RT_CHECK(condition, what)                                             \
  do {                                                                        \
    if (!(condition)) ::redtune::throw_internal(__FILE__, __LINE__, (what)); \
  } while (0)
