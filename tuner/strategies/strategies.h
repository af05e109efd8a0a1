// Makers of the search strategies, for the table in strategies.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "tuner/search_strategy.h"

namespace redtune {

/// Every schedule in index order.
std::unique_ptr<SearchStrategy> make_exhaustive(const SearchSpace& space, std::uint64_t seed);

/// Every schedule once, in a seeded uniform order.
std::unique_ptr<SearchStrategy> make_random(const SearchSpace& space, std::uint64_t seed);

/// A seeded sample over all mappings, then moves from the best few, ordered by a small surrogate; see
/// local_search.cpp.
std::unique_ptr<SearchStrategy> make_local_search(const SearchSpace& space, std::uint64_t seed);

}  // namespace redtune
