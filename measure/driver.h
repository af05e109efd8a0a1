// A device as its worker process sees it. Nothing of this runs in the tool's own process.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "codegen/program.h"
#include "logs/outcome.h"
#include "measure/input_arena.h"
#include "measure/sampling.h"
#include "space/target.h"

namespace redtune {

/// What is left of the worker when a candidate has failed. kLost: the device's context is beyond repair, every later
/// call would fail.
enum class WorkerAfter : std::uint8_t { kUsable, kLost };

/// What became of a candidate that a driver could not build or launch. Caught by the worker, which replies
/// with it.
class CandidateFailure : public std::runtime_error {
 public:
  CandidateFailure(OutcomeKind failed_as, const std::string& detail, std::string full_log = "",
                   WorkerAfter after = WorkerAfter::kUsable)
      : std::runtime_error(detail), kind(failed_as), log(std::move(full_log)), worker(after) {}
  OutcomeKind kind;
  std::string log;  // the compiler's whole log
  WorkerAfter worker;
};

/// What a worker wants of a device.
struct DeviceUse {
  std::string id;
  std::string clock;          // DeviceInfo::clock: this one or none
  bool compile_only = false;  // load and prime are all that will be asked
};

/// What the device itself allows, where a target holds what is sensible.
struct DeviceLimits {
  std::int64_t memory_bytes = 0;  // of the device
  std::int64_t buffer_bytes = 0;  // of one buffer
  std::int64_t block_threads = 0;
  std::int64_t shared_bytes = 0;  // per block
};

/// One program at a time. Every call may throw CandidateFailure.
class Driver {
 public:
  virtual ~Driver() = default;

  virtual DeviceLimits limits() const = 0;

  /// The copies that kernels read. `arena` outlives the driver.
  virtual void set_input(const unsigned char* arena, const ArenaLayout& layout) = 0;

  /// Compiles `program` and makes its buffers, contents undefined, each with kGuardBytes behind it.
  virtual void load(const Program& program, const Target& target) = 0;

  /// Has done whatever the device puts off until a first launch, at little cost and without the whole work.
  /// False when the device is still busy with it: this process is then of no further use.
  virtual bool prime() = 0;

  /// Writes or reads a part of a buffer that is not an input; the guard belongs to the buffer.
  virtual void fill(std::size_t buffer, std::int64_t offset, std::int64_t bytes, unsigned char value) = 0;
  virtual void read(std::size_t buffer, std::int64_t offset, std::span<unsigned char> into) = 0;

  /// One repetition on that copy of the input, to its end. Times of its launches in order, by the device's
  /// clock.
  virtual std::vector<LaunchTime> launch(std::int64_t copy) = 0;
};

}  // namespace redtune
