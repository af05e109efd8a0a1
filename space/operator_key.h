// The key of an operator read back, and as a file name: what indexes of stored results need, without JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "space/operator.h"

namespace redtune {

/// The inverse of Operator::key(): an operator with that key; what a key does not tell (name, keepdims, data) is at its
/// default. Nothing when the text is no key. Costs about a microsecond: it checks the spelling, not the sense, of which
/// whoever wrote the key took care.
std::optional<Operator> parse_operator_key(std::string_view key);

/// A name for files: "sum(f32[4,8];axes=1)" -> "sum-f32-4-8-axes-1"; long ones are cut and end in a hash.
std::string operator_slug(const Operator& op);

}  // namespace redtune
