// The tuning loop on a real device with real kernels.
#include "codegen/codegen.h"
#include "support/hash.h"
#include "tuner/tuning.h"

namespace redtune {

GeneratedProgram generate_program(const Task& task, const Schedule& schedule) {
  GeneratedProgram result;
  result.program = generate(task, schedule);
  result.hash = hex64(hash64(full_text(result.program, task.target.kind)));
  return result;
}

TuningParts device_parts(const DeviceInfo& device, const MeasureOptions& options) {
  TuningParts parts;
  parts.make_evaluator = [&device, options](const Task& task) { return make_device_evaluator(device, task, options); };
  parts.generate = generate_program;
  return parts;
}

TuneResult tune(const Operator& op, const DeviceInfo& device, const TuneOptions& options,
                const std::function<void(const Progress&)>& progress, const std::atomic<bool>& stop,
                const std::function<void(const TuneStart&)>& started) {
  return tune_with(device_parts(device, options.measure), op, device, options, progress, stop, started);
}

}  // namespace redtune
