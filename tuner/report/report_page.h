// The report as one HTML file that needs nothing else: style, script, chart library and data are in it.
#pragma once

#include <string>

#include "tuner/report/report_data.h"

namespace redtune {

/// The chart library is 200 kB of it; a trial is some 400 bytes.
std::string report_page(const Report& report);

}  // namespace redtune
