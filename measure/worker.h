// The worker process: obeys the requests of measure/protocol.h.
#pragma once

#include <string>
#include <vector>

namespace redtune {

/// Body of redtune-worker. Returns its exit code.
int worker_main(const std::vector<std::string>& arguments);

}  // namespace redtune
