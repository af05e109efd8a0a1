// The published JSON Schema of config files, in the program: whatever is read or written fits it.
#pragma once

#include <string>
#include <string_view>

#include "support/json.h"

namespace redtune {

/// The text of configs/config.schema.json.
std::string_view config_schema_text();

/// Whether this build checks against the schema (valijson was found); the strict parser works in any case.
bool has_schema_check();

/// The first thing in which `json` does not fit the schema, with its place; "" when it does, or in a build without the
/// check.
std::string schema_complaint(const Json& json);

}  // namespace redtune
