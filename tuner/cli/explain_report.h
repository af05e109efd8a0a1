// An explanation in words and for programs.
#pragma once

#include <string>

#include "support/json.h"
#include "tuner/explaining.h"

namespace redtune {

std::string explain_text(const RunExplanation& e);
Json explain_json(const RunExplanation& e);

}  // namespace redtune
