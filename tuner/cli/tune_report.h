// What `tune` prints at its end.
#pragma once

#include <string>

#include "support/json.h"
#include "tuner/tuning.h"

namespace redtune {

/// Device, operator, space, log: printed when a run starts.
std::string tune_header(const TuneStart& start, const DeviceInfo& device);

/// Table, failures, files, time split.
std::string tune_report(const TuneResult& result);

/// The same for programs, one object.
Json tune_json(const TuneResult& result);

}  // namespace redtune
