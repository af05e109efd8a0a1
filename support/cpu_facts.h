// What the operating system says about the processor and the memory, where an OpenCL driver says nothing or
// nonsense.
#pragma once

#include <cstdint>
#include <string>

namespace redtune {

/// "AMD EPYC 9654 96-Core Processor"; "CPU" when the system does not tell.
std::string cpu_model();

/// Size of the largest cache of core 0; 0 when the system does not tell.
std::int64_t largest_cache_bytes();

/// Processes that ran or wanted to, on average over the last minute; -1 when the system does not tell.
double host_load();

/// How the system sets the clock of core 0: "performance", "powersave", ...; "unknown" when it does not tell.
std::string clock_governor();

/// Memory that can be had without swapping; a very large number when the system does not tell.
std::int64_t available_memory_bytes();

}  // namespace redtune
