// What a call complained of, for comparing the whole message.
#pragma once

#include <string>

#include "support/error.h"

namespace redtune {

/// The message of the UserError (or whichever is asked for) that `call` throws; "no error" when it throws none.
template <typename Error = UserError, typename Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace redtune
