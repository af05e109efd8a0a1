// What the tool and its workers say to each other: one JSON object a line, requests on the worker's stdin,
// replies on its stdout. The worker answers each request with exactly one reply, after any number of beats.
//
//   {"do": "open", "device": ID, "clock": CLOCK, "compile_only": BOOL}
//                                                    {"is": "done", "limits": {...}}
//   {"do": "input", "target": {...}, "arena": {...}, "output": {...}}
//                                                    {"is": "done"}
//   {"do": "load", "number": N, "program": {...}}    {"is": "done"}         builds, makes the buffers
//   {"do": "prime"}                                  {"is": "done", "idle": false when it must be replaced}
//   {"do": "run", "copy": N}                         {"is": "done"}         one run on that copy of the input
//                                                    (missing: the first); the output lies in shared memory
//   {"do": "time", "rules": {...}}                   {"is": "done", "seconds": [...], "kernel_seconds":
//   [...]}
//
// A candidate that fails:  {"is": "failed", "kind": OUTCOME, "detail": WHY, "log": COMPILER'S LOG}
//                          with "last": true when the worker is of no further use
// While timing goes on:    {"is": "beat"}
// A worker that cannot work: {"is": "failed", "kind": "no_device", "detail": WHY}
//
// Roles: `redtune-worker --list KIND` prints {"is": "devices", "devices": [...], "note": ...} and ends;
// `redtune-worker --serve` obeys until its stdin ends. The worker's stderr is not part of the protocol.
#pragma once

#include <string>

#include "measure/device.h"
#include "measure/driver.h"
#include "measure/input_arena.h"
#include "measure/sampling.h"

namespace redtune {

/// A piece of the owner's memory, as a request names it.
struct MemoryAddress {
  std::string path;
  std::int64_t bytes = 0;
};

Json to_json(const DeviceInfo& device);
DeviceInfo parse_device_info(JsonObject json);

Json to_json(const DeviceLimits& limits);
DeviceLimits parse_device_limits(JsonObject json);

Json to_json(const MemoryAddress& address);
MemoryAddress parse_memory_address(JsonObject json);

Json to_json(const ArenaLayout& layout);
ArenaLayout parse_arena_layout(JsonObject json);

Json to_json(const SamplingRules& rules);
SamplingRules parse_sampling_rules(JsonObject json);

}  // namespace redtune
