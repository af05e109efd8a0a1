// What a device can never run, told before anything is compiled.
#pragma once

#include <cstdint>
#include <optional>

#include "codegen/program.h"
#include "logs/outcome.h"
#include "measure/driver.h"

namespace redtune {

/// A rejected outcome with numbers; nullopt when the device may run `program`. `input_bytes`, `output_bytes`:
/// what lies in shared memory for it.
std::optional<Outcome> refuse_program(const Program& program, const DeviceLimits& limits,
                                      std::int64_t input_bytes, std::int64_t output_bytes);

}  // namespace redtune
