// What a schedule becomes: kernel text with its launches and buffers. Everything a device needs to run it and
// nothing about how it was made. Travels as JSON to workers and into configs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "space/launch.h"
#include "support/json.h"

namespace redtune {

/// Launches run in order on one stream; together they are one repetition: nothing else must be reset.
struct Program {
  std::string text;  // without prelude
  std::vector<BufferSpec> buffers;
  std::vector<KernelLaunch> launches;
  friend bool operator==(const Program&, const Program&) = default;
};

/// Several programs over the same inputs as one: compilers take less time for one text than for many. Inputs
/// are shared by name; every other buffer and every entry gets "_N" behind its name, N counted from `first`.
/// Outputs and launches keep their order. Macros that a text defines end with it; other names must not meet.
Program merge(std::span<const Program> programs, std::size_t first = 0);

Json to_json(const Program& program);
/// Throws UserError naming `origin` and field.
Program parse_program(const Json& json, const std::string& origin);

}  // namespace redtune
