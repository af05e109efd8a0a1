// A short way for PoCL to link its kernels.
#pragma once

#include <string>

namespace redtune {

/// PoCL links each kernel by `ld` as a library of its own, against libm, libc and libgcc. Reading their symbols takes
/// longer than compiling a small kernel, and the process that loads it has them anyway. Writes an `ld` into
/// `directory`, which must exist, that hands the object to the `ld` of PATH without libraries.
/// Returns the environment that makes a process take it ("PATH=..."); "" where there is no `ld`.
std::string short_linker(const std::string& directory);

}  // namespace redtune
