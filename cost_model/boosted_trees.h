// Gradient-boosted trees by XGBoost's C interface: the only file pair that knows it. Without XGBoost in the
// build every call but `available` throws UserError with the remedy.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redtune {

enum class Objective : std::uint8_t {
  kRegression,  // squared error of the label
  kRanking,     // pairwise inside each group: larger labels first
};
std::string_view name(Objective objective);  // "regression", "ranking"
/// Throws UserError with the nearest known word.
Objective parse_objective(std::string_view word);

struct TreeOptions {
  Objective objective = Objective::kRegression;
  int rounds = 60;
  int depth = 6;
  double rate = 0.2;
  double row_share = 0.8, column_share = 0.8;  // drawn per tree
  double leaf_weight = 1;                      // least weight of a leaf
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores
};

class BoostedTrees {
 public:
  static bool available();

  explicit BoostedTrees(const TreeOptions& options);
  ~BoostedTrees();
  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;

  /// `rows`: row-major, labels.size() x columns. `groups`: sizes of consecutive groups of rows, for ranking.
  /// `keep_going(round)` is asked after each round when given: false ends the training.
  template <typename KeepGoing>
  void train(std::span<const float> rows, std::size_t columns, std::span<const float> labels,
             std::span<const unsigned> groups, const KeepGoing& keep_going) {
    start(rows, columns, labels, groups);
    for (int round = 0; round < options_.rounds; ++round) {
      boost(round);
      if (!keep_going(round)) break;
    }
  }
  void train(std::span<const float> rows, std::size_t columns, std::span<const float> labels,
             std::span<const unsigned> groups) {
    train(rows, columns, labels, groups, [](int) { return true; });
  }

  /// One value per row. `rounds`: of the first so many trees; 0: all.
  std::vector<float> predict(std::span<const float> rows, std::size_t columns, int rounds = 0) const;

  /// Opaque bytes of XGBoost's own; `load` must only be given what `save` made.
  std::string save() const;
  static BoostedTrees load(const std::string& bytes);

 private:
  struct Handles;
  void start(std::span<const float> rows, std::size_t columns, std::span<const float> labels,
             std::span<const unsigned> groups);
  void boost(int round);
  TreeOptions options_;
  std::unique_ptr<Handles> handles_;
};

}  // namespace redtune
