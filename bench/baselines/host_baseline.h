// Other programs' reductions on the CPU, to stand beside tuned schedules: a table of them, and one of them
// with its input, checked and ready to be timed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure/input_arena.h"
#include "space/task.h"

namespace redtune {

/// One reduction of one operator, prepared.
class HostBaseline {
 public:
  virtual ~HostBaseline() = default;
  /// Which of its own implementations was chosen: "jit:avx512", "loop over rows".
  virtual std::string implementation() const = 0;
  /// An implementation that its makers offer for correctness, not for speed: no one to win against.
  virtual bool is_reference() const { return false; }
  /// Reduces one copy of the input to `out`; returns when it is done.
  virtual void compute(const unsigned char* in, unsigned char* out) = 0;
};

struct HostBaselineEntry {
  std::string_view name;
  /// "OpenMP 4.5, GCC 12.2.0".
  std::string (*version)();
  /// Throws UserError with the reason when it has nothing for this operator.
  std::unique_ptr<HostBaseline> (*make)(const Task& task, int threads);
};

/// The one list, in host_baseline.cpp: openmp, and onednn where the build found it.
std::span<const HostBaselineEntry> host_baselines();
/// Throws UserError with the nearest known name, or naming the package when the build left it out.
const HostBaselineEntry& find_host_baseline(std::string_view name);

std::unique_ptr<HostBaseline> make_openmp_baseline(const Task& task, int threads);
std::string openmp_version();
std::unique_ptr<HostBaseline> make_onednn_baseline(const Task& task, int threads);
std::string onednn_version();

/// A baseline with copies of the input as schedules are measured on (measure/input_arena.h), its answer
/// checked against the reference.
class HostContestant {
 public:
  /// Runs it once. Throws UserError when it has nothing for the operator or when its answer is wrong.
  HostContestant(const HostBaselineEntry& entry, const Task& task, std::uint64_t seed, bool cold,
                 int threads);

  /// Wall seconds of one call on input that has left the caches (or, hot, on the same), with all threads
  /// awake.
  double sample();
  /// Whether another program ran on these cores in the midst of the last sample.
  bool preempted() const { return preempted_; }
  const HostBaseline& baseline() const { return *baseline_; }

 private:
  std::unique_ptr<HostBaseline> baseline_;
  int threads_;
  std::vector<unsigned char> out_;
  ArenaLayout layout_;
  SharedMemory arena_;
  std::int64_t turn_ = 0;
  bool preempted_ = false;
};

/// Until the threads of the last call have stopped spinning for more work: the device measures on the same
/// cores.
void wait_for_sleeping_team();

}  // namespace redtune
