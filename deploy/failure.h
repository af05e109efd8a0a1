// How the inside of the library says which status a call ends with; turned into a value at the C API.
#pragma once

#include <stdexcept>
#include <string>

#include "deploy/include/redtune/deploy.h"

namespace redtune::deploy {

class Failure : public std::runtime_error {
 public:
  Failure(redtune_status ends_with, const std::string& message)
      : std::runtime_error(message), status(ends_with) {}
  redtune_status status;
};

[[noreturn]] inline void refuse(const std::string& message) { throw Failure(REDTUNE_BAD_INPUT, message); }

}  // namespace redtune::deploy
