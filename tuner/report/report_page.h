// The report as one HTML file that needs nothing else: style, script, chart library and data are in it.
#pragma once

#include <string>

#include "tuner/report/report_data.h"

namespace redtune {

/// About 230 kB and 300 bytes a trial.
std::string report_page(const Report& report);

}  // namespace redtune
