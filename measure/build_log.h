// Logs of compilers, made short for people.
#pragma once

#include <string>

namespace redtune {

/// The line that says why compiling failed: the first with "error" in it, else the first that is not blank;
/// paths of the compiler's temporary files are cut off. "" for a blank log.
std::string fatal_line(const std::string& log);

}  // namespace redtune
