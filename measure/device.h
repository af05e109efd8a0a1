// Devices that are present: listing them, and the evaluator that measures on one through a worker process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "measure/evaluator.h"
#include "space/target.h"

namespace redtune {

struct DeviceInfo {
  std::string id;      // what --device takes: "cpu", "opencl:1", "cuda:0"
  std::string name;    // the device's own name, with UUID on CUDA
  std::string driver;  // version text
  Target target;       // filled from what the device reports
  std::string clock = "opencl_events";  // what times come from: "cupti", "cuda_events", "opencl_events"
  Json facts = Json::object();          // more that a log should tell: "uuid", "nvrtc", "clock_note", ...
};

/// Every device of this machine, best first (CUDA before OpenCL). Never throws; `notes` gets a line for each kind
/// that is absent and why. Runs in a child process: a broken driver cannot take the tool down.
std::vector<DeviceInfo> list_devices(std::vector<std::string>* notes = nullptr);

/// The device called `id` (a UUID names a CUDA device too), or the best one for "" and "best". Throws NoDevice with the
/// remedy, UserError for an unknown id (naming those present).
DeviceInfo pick_device(const std::string& id);

struct MeasureOptions {
  bool cold = true;
  int min_samples = 5, max_samples = 40;
  double target_spread = 0.02;         // stop sampling when the relative interval of the median is this narrow
  double max_seconds_per_trial = 2.0;  // of sampling
  double deadline_floor_seconds = 5, deadline_factor = 100;  // launch deadline: max(floor, factor * best)
  double compile_deadline_seconds = 60;
  std::uint64_t data_seed = 1;
  int compile_jobs = 0;  // 0: all cores
  std::string worker_fault;  // test builds: passed to the worker, see measure/fault.h
};

/// Starts workers for `task` on `device`. Throws NoDevice when none starts. The evaluator owns the processes; all
/// are gone when it is destroyed.
std::unique_ptr<Evaluator> make_device_evaluator(const DeviceInfo& device, const Task& task,
                                                 const MeasureOptions& options);

/// One launch of `program` on given input storage (bytes), without timing: what `run` prints. The input is asked
/// for once the device and the memory are known to hold it (else UserError).
struct RunResult {
  Outcome outcome;                   // kTimed when it ran and was correct
  std::vector<unsigned char> output; // bytes of the output tensor, row-major
};
RunResult run_once(const DeviceInfo& device, const Task& task, const Candidate& candidate,
                   const std::function<std::vector<unsigned char>()>& make_input,
                   const MeasureOptions& options);

}  // namespace redtune
