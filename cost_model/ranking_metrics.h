// How well predictions rank schedules: the two numbers that the field reports (TenSet, Ansor).
#pragma once

#include <cstddef>
#include <span>

namespace redtune {

/// Share of pairs that are put in the right order, ties of the truth left out; 0.5 is guessing. Both: smaller
/// is better. 1 when there is no pair. O(n^2).
double pairwise_accuracy(std::span<const float> predicted, std::span<const double> seconds);

/// Best seconds / best seconds among the k with the smallest predictions: 1 when the best is among them. Not
/// empty.
double peak_at(std::size_t k, std::span<const float> predicted, std::span<const double> seconds);

}  // namespace redtune
