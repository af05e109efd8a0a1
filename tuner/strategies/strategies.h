// Makers of the search strategies, for the table in strategies.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "tuner/search_strategy.h"

namespace redtune {

/// Every point in index order.
std::unique_ptr<SearchStrategy> make_exhaustive(const DiscreteSpace& space, std::uint64_t seed);

/// Every point once, in a seeded uniform order.
std::unique_ptr<SearchStrategy> make_random(const DiscreteSpace& space, std::uint64_t seed);

/// A walk over neighbours that cools down; see annealing.cpp.
std::unique_ptr<SearchStrategy> make_annealing(const DiscreteSpace& space, std::uint64_t seed);

/// A population of the best, crossed and moved; see evolutionary.cpp.
std::unique_ptr<SearchStrategy> make_evolutionary(const DiscreteSpace& space, std::uint64_t seed);

/// Expected improvement under a Gaussian process; see bayes.cpp.
std::unique_ptr<SearchStrategy> make_bayes(const DiscreteSpace& space, std::uint64_t seed);

/// Gradient-boosted trees over the features of the whole space, trained each round; see model.cpp.
std::unique_ptr<SearchStrategy> make_model(const DiscreteSpace& space, std::uint64_t seed);

}  // namespace redtune
