// Many programs compiled at once, on all cores, with the text of one made while others compile.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "codegen/kernel_cache.h"
#include "codegen/nvrtc.h"
#include "codegen/program.h"

namespace redtune {

struct BatchOptions {
  NvrtcOptions compile{};
  int threads = 0;               // 0: one per core
  KernelCache* cache = nullptr;  // nullptr: everything is compiled
  std::function<bool()> stop{};  // asked before each program; true: the rest stays undone
};

/// One compiled program; the pointers are valid during the callback.
struct BatchItem {
  std::size_t index = 0;
  const Program* program = nullptr;
  const NvrtcResult* result = nullptr;
  double generate_seconds = 0;
};

struct BatchSummary {
  std::size_t compiled = 0, failed = 0, timed_out = 0;  // timed out ones are also failed
  std::size_t skipped = 0;                              // the generator had nothing
  std::size_t from_cache = 0;
  int threads = 0;
  double wall_seconds = 0;
  double generate_seconds = 0, compile_seconds = 0;  // summed over threads
  std::vector<double> seconds;                       // of each compilation that ran
  std::vector<int> registers;  // most of any kernel of a program, one per compiled program
  std::size_t spilling = 0;    // programs with a kernel that spills
  std::map<std::string, std::size_t>
      failures;  // fatal line, places and numbers of lines left out -> programs

  std::size_t finished() const { return compiled + failed; }
  double programs_per_second() const {
    return wall_seconds > 0 ? static_cast<double>(finished()) / wall_seconds : 0;
  }
};

/// Makes the program of one index, in a worker thread, so it must be thread-safe. nullopt: nothing to
/// compile.
using ProgramGenerator = std::function<std::optional<Program>(std::size_t)>;

/// Generates and compiles programs 0 to count - 1 (prelude added). Calls `done` once for each that was
/// compiled or failed, in any order, one call at a time, from a worker thread. A program that does not
/// compile is a result; what the generator or `done` throws ends the batch and is thrown again here. Throws
/// NoDevice without NVRTC and UserError for an architecture it does not know, both before anything starts.
BatchSummary compile_batch(std::size_t count, const ProgramGenerator& generator, const BatchOptions& options,
                           const std::function<void(const BatchItem&)>& done);

/// The same through a given compiler.
BatchSummary compile_batch(Nvrtc& nvrtc, std::size_t count, const ProgramGenerator& generator,
                           const BatchOptions& options, const std::function<void(const BatchItem&)>& done);

/// The table that people read: counts, rate, registers, spills, time in generator and compiler, failures by
/// kind.
std::string format_summary(const BatchSummary& summary);

}  // namespace redtune
