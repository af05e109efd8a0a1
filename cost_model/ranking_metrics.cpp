#include "cost_model/ranking_metrics.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/error.h"

namespace redtune {

double pairwise_accuracy(std::span<const float> predicted, std::span<const double> seconds) {
  RT_CHECK(predicted.size() == seconds.size(), "a prediction for each time");
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (seconds[i] == seconds[j]) continue;
      ++pairs;
      if (predicted[i] == predicted[j])
        right += 0.5;
      else
        right += (predicted[i] < predicted[j]) == (seconds[i] < seconds[j]) ? 1 : 0;
    }
  }
  return pairs == 0 ? 1 : right / pairs;
}

double peak_at(std::size_t k, std::span<const float> predicted, std::span<const double> seconds) {
  RT_CHECK(predicted.size() == seconds.size() && !seconds.empty() && k > 0, "a prediction for each time");
  std::vector<std::size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return predicted[a] < predicted[b]; });
  double best = seconds[order[0]];
  for (std::size_t i = 1; i < std::min(k, order.size()); ++i) best = std::min(best, seconds[order[i]]);
  return *std::min_element(seconds.begin(), seconds.end()) / best;
}

}  // namespace redtune
