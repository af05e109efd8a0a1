// The evaluator that asks a real device. Made by make_device_evaluator (measure/device.h); this header is for
// its tests.
#pragma once

#include <chrono>
#include <deque>
#include <set>

#include "measure/compile_pool.h"
#include "measure/measuring_session.h"

namespace redtune {

/// Where compiling and measuring would share the cores, a batch is compiled on all of them first and then
/// measured alone; elsewhere candidates are measured as soon as they are compiled.
class DeviceEvaluator : public Evaluator {
 public:
  DeviceEvaluator(const DeviceInfo& device, const Task& task, const MeasureOptions& options);

  void evaluate(std::span<const Candidate> batch, const Callbacks& callbacks) override;
  void set_best(double seconds) override { session_.set_best(seconds); }
  const TimeSplit& split() const override { return split_; }

 private:
  struct Batch;
  void submit(Batch& batch);
  void collect(Batch& batch);
  bool wait_for_compilers(Batch& batch, bool for_all);
  void measure(Batch& batch, std::size_t index);

  MeasuringSession session_;
  CompilePool pool_;
  bool overlap_;
  std::int64_t candidates_ = 0;       // so far, in the whole run
  std::set<std::uint64_t> compiled_;  // hashes of programs that need not go through the pool again
  TimeSplit split_;
};

}  // namespace redtune
