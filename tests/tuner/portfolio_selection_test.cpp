#include "tuner/portfolio/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "support/error.h"
#include "support/rng.h"

namespace redtune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNone = kCannotServe;

RegretMatrix random_matrix(Rng& rng, std::size_t shapes, std::size_t candidates) {
  RegretMatrix matrix(shapes, std::vector<double>(candidates));
  for (auto& row : matrix) {
    for (double& regret : row)
      regret = rng.below(5) == 0 ? kNone : static_cast<double>(rng.below(1000)) / 1000;
    row[rng.below(candidates)] = 0;
  }
  return matrix;
}

TEST(PortfolioSelection, OneKernelLosesLeastOnTheWorstShape) {
  // The first is best on two shapes and terrible on the third.
  const Selection chosen = select_portfolio({{0, 0.2}, {0, 0.2}, {0.9, 0.2}}, 1);
  EXPECT_THAT(chosen.members, ElementsAre(1));
  EXPECT_DOUBLE_EQ(chosen.worst, 0.2);
  EXPECT_DOUBLE_EQ(chosen.mean, 0.2);
  EXPECT_TRUE(chosen.exhaustive);
}

TEST(PortfolioSelection, OfEqualWorstTheBetterMean) {
  const Selection chosen = select_portfolio({{0.3, 0.3, 0.3}, {0.2, 0, 0.1}}, 1);
  EXPECT_THAT(chosen.members, ElementsAre(1));
}

TEST(PortfolioSelection, TwoKernelsShareTheShapes) {
  const Selection chosen = select_portfolio({{0.1, 0, 0.5}, {0.1, 0.5, 0}, {0.1, 0.5, 0}}, 2);
  EXPECT_THAT(chosen.members, ElementsAre(1, 2));
  EXPECT_THAT(chosen.server, ElementsAre(1, 2, 2));
  EXPECT_DOUBLE_EQ(chosen.worst, 0);
}

TEST(PortfolioSelection, MoreKernelsThanAreOfUseAreNotTaken) {
  EXPECT_THAT(select_portfolio({{0, 0.001, 0.2}, {0, 0, 0}}, 3).members, ElementsAre(0));
  EXPECT_THAT(select_portfolio({{0}}, 9).members, ElementsAre(0));
}

TEST(PortfolioSelection, WhatTimesCannotTellApartGoesToTheSimpler) {
  EXPECT_THAT(select_portfolio({{0.2, 0.101, 0.1}}, 1).members, ElementsAre(1));
  EXPECT_THAT(select_portfolio({{0.2, 0.2}, {0.2, 0.2}}, 1).members, ElementsAre(0));
}

TEST(PortfolioSelection, ServingMoreShapesComesBeforeServingThemWell) {
  const Selection chosen = select_portfolio({{0, 0.8}, {kNone, 0.8}}, 1);
  EXPECT_THAT(chosen.members, ElementsAre(1));
  EXPECT_EQ(chosen.uncovered, 0u);
}

TEST(PortfolioSelection, ShapesThatNothingServesAreSaid) {
  const Selection chosen = select_portfolio({{0, kNone}, {kNone, kNone}, {kNone, 0.1}}, 2);
  EXPECT_THAT(chosen.members, ElementsAre(0, 1));
  EXPECT_EQ(chosen.uncovered, 1u);
  EXPECT_FALSE(chosen.server[1]);
  EXPECT_DOUBLE_EQ(chosen.worst, 0.1);
  EXPECT_DOUBLE_EQ(chosen.mean, 0.05);
  EXPECT_THAT(select_portfolio({{kNone}}, 1).members, IsEmpty());
  EXPECT_THAT(select_portfolio({}, 1).members, IsEmpty());
  EXPECT_THAT(select_portfolio({{}, {}}, 2).server, ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THROW(select_portfolio({{0}}, 0), InternalError);
}

TEST(PortfolioSelection, GreedyIsNeverFarAndOftenEqual) {
  Rng rng(7);
  int equal = 0;
  constexpr int kCases = 100;
  for (int i = 0; i < kCases; ++i) {
    const RegretMatrix matrix = random_matrix(rng, 6, 9);
    const Selection all = select_portfolio(matrix, 3), greedy = select_portfolio(matrix, 3, 0);
    EXPECT_TRUE(all.exhaustive);
    EXPECT_FALSE(greedy.exhaustive);
    EXPECT_LE(greedy.members.size(), 3u);
    EXPECT_LE(all.uncovered, greedy.uncovered);
    if (all.uncovered == greedy.uncovered) {
      EXPECT_LE(all.worst, greedy.worst + 0.005);
      EXPECT_LE(greedy.worst, all.worst + 0.3);
    }
    if (all.members == greedy.members) ++equal;
  }
  EXPECT_GE(equal, kCases / 2);
}

// Against every set, enumerated in another way.
TEST(PortfolioSelection, NoSetIsBetter) {
  Rng rng(11);
  for (int i = 0; i < 50; ++i) {
    const RegretMatrix matrix = random_matrix(rng, 5, 7);
    const Selection chosen = select_portfolio(matrix, 2);
    for (std::size_t a = 0; a < 7; ++a) {
      for (std::size_t b = a; b < 7; ++b) {
        std::size_t uncovered = 0;
        double worst = 0;
        for (const auto& row : matrix) {
          const double least = std::min(row[a], row[b]);
          if (std::isinf(least))
            ++uncovered;
          else
            worst = std::max(worst, least);
        }
        EXPECT_GE(std::tuple(uncovered, std::round(worst / 0.005)),
                  std::tuple(chosen.uncovered, std::round(chosen.worst / 0.005)));
      }
    }
  }
}

TEST(PortfolioSelection, TheOrderOfShapesDoesNotMatter) {
  Rng rng(3);
  for (int i = 0; i < 20; ++i) {
    RegretMatrix matrix = random_matrix(rng, 6, 8);
    const auto members = select_portfolio(matrix, 3).members;
    std::reverse(matrix.begin(), matrix.end());
    EXPECT_EQ(select_portfolio(matrix, 3).members, members);
  }
}

}  // namespace
}  // namespace redtune
