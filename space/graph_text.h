// Key and title of the general form. Internal to space/.
#pragma once

#include <string>

#include "space/operator.h"

namespace redtune {

/// "graph(sum,sum f16[32,64,56,56];0123456789abcdef)": the reductions, the largest input, and a hash of
/// everything that changes the answer.
std::string graph_key(const Operator& op);
std::string graph_title(const Operator& op);

}  // namespace redtune
