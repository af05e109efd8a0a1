// Loops over all cores of the host, for passes over whole inputs and outputs.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/integers.h"

namespace redtune {

inline int host_cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

/// Calls body(i) once for each i in [0, count), on all cores, in no particular order. `body` must not throw.
template <typename Body>
void parallel_for(std::int64_t count, const Body& body) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t i = next++; i < count; i = next++) body(i);
  };
  std::vector<std::thread> threads;
  for (std::int64_t i = 1; i < std::min<std::int64_t>(count, host_cores()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

/// Calls body(begin, end) for pieces of about `grain` of [0, count).
template <typename Body>
void parallel_pieces(std::int64_t count, std::int64_t grain, const Body& body) {
  parallel_for(ceil_div(count, grain),
               [&](std::int64_t piece) { body(piece * grain, std::min(count, (piece + 1) * grain)); });
}

}  // namespace redtune
