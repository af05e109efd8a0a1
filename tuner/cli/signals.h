// SIGINT, SIGTERM and SIGHUP ask a run to end; a second one ends the program at once.
#pragma once

#include <atomic>

namespace redtune {

/// Installs the handlers; true from the first signal on.
const std::atomic<bool>& stop_on_signals();

}  // namespace redtune
