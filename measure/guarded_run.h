// One run of a program on poisoned memory: what it does not write shows, and what it writes behind a buffer
// too.
#pragma once

#include <span>

#include "measure/driver.h"
#include "measure/fault.h"

namespace redtune {

/// Poisons outputs, scratch and guards, zeroes counters, runs the loaded `program` exactly once on the given
/// copy of the input, and copies its output (a merged program's: its outputs, one after the other) to
/// `output`. Throws CandidateFailure (wrong result) naming the buffer when a guard changed or a counter is
/// not zero again.
void guarded_run(Driver& driver, const Program& program, std::span<unsigned char> output, const Fault& fault,
                 std::int64_t number, std::int64_t copy = 0);

/// Throws CandidateFailure as guarded_run does; for use after timing.
void check_guards(Driver& driver, const Program& program);

}  // namespace redtune
