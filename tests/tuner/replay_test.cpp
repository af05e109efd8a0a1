#include "tuner/replay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <set>

namespace redtune {
namespace {

// 16 x 8 x 4 sizes with a valley inside, a penalty for one word, and failures in a corner.
RecordedSpace valley() {
  RecordedSpace space;
  space.name = "valley";
  space.objective = "time";
  space.parameters = {{"x", {}}, {"y", {}}, {"tile", {1, 2, 4, 8}}, {"mode", {"a", "b"}}};
  for (int i = 1; i <= 16; ++i) space.parameters[0].values.push_back(16 * i);
  for (int i = 0; i < 8; ++i) space.parameters[1].values.push_back(1 << i);
  for (std::uint16_t x = 0; x < 16; ++x) {
    for (std::uint16_t y = 0; y < 8; ++y) {
      for (std::uint16_t tile = 0; tile < 4; ++tile) {
        for (std::uint16_t mode = 0; mode < 2; ++mode) {
          RecordedPoint point{{x, y, tile, mode}, 0, 1, ""};
          if (x + y > 19) {
            point.failure = "too large";
          } else {
            point.value = std::exp(0.05 * std::pow(x - 6.7, 2) + 0.1 * std::pow(y - 2.6, 2) +
                                   0.3 * std::abs(tile - 1.7) + 0.8 * mode);
          }
          space.points.push_back(point);
        }
      }
    }
  }
  return space;
}

TEST(Replay, RandomScoresZero) {
  ReplayOptions options;
  options.repeats = 2000;
  const ReplayResult result = replay(ReplaySpace(valley()), find_strategy("random"), options);
  EXPECT_NEAR(result.score, 0, 0.05);
  EXPECT_LT(result.score_published, result.score);
}

TEST(Replay, AnOrderDependsOnItsSeedAlone) {
  const ReplaySpace space(valley());
  for (const StrategyEntry& entry : strategies()) {
    const auto first = replay_once(space, entry, 3, 1);
    replay_once(space, entry, 4, 1);
    EXPECT_EQ(replay_once(space, entry, 3, 1), first) << entry.name;
    EXPECT_EQ(std::set<std::size_t>(first.begin(), first.end()).size(), first.size()) << entry.name;
  }
}

TEST(Replay, ThreadsAndBatchesChangeNoSeed) {
  const ReplaySpace space(valley());
  ReplayOptions one, many;
  one.repeats = many.repeats = 6;
  one.threads = 1;
  many.threads = 3;
  const ReplayResult a = replay(space, find_strategy("evolutionary"), one);
  const ReplayResult b = replay(space, find_strategy("evolutionary"), many);
  EXPECT_EQ(a.curve, b.curve);
  EXPECT_EQ(a.ratios, b.ratios);
}

TEST(Replay, EveryLearningStrategyBeatsRandom) {
  const ReplaySpace space(valley());
  ReplayOptions options;
  options.repeats = 20;
  const double random = replay(space, find_strategy("random"), options).ratios[1];
  for (const char* name : {"bayes", "model", "evolutionary", "annealing"}) {
    EXPECT_LT(replay(space, find_strategy(name), options).ratios[1], random) << name;
  }
}

TEST(Replay, RatiosFallAndTogetherIsTheirMean) {
  ReplayOptions options;
  options.repeats = 5;
  const ReplayResult result = replay(ReplaySpace(valley()), find_strategy("bayes"), options);
  for (std::size_t k = 1; k < kRatioPoints.size(); ++k) EXPECT_LE(result.ratios[k], result.ratios[k - 1]);
  const ReplayResult all = together({result, result});
  EXPECT_DOUBLE_EQ(all.score, result.score);
  EXPECT_NEAR(all.ratios[0], result.ratios[0], 1e-12);
}

// What the default reaches on spaces recorded by others on GPUs: far less than measured, so that only a real
// loss fails.
TEST(Replay, TheDefaultHoldsItsScoreOnPublishedSpaces) {
  const std::string folder = REDTUNE_SOURCE_DIR "/../shared/data/hub/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recorded spaces in " << folder;
  ReplayOptions options;
  options.repeats = 4;
  for (const char* file : {"convolution_milo_A4000.json.gz", "convolution_milo_MI250X.json.gz"}) {
    const ReplaySpace space(read_recorded_spaces(folder + file).at(0));
    EXPECT_GT(replay(space, strategies().front(), options).score, 0.3) << file;
  }
}

}  // namespace
}  // namespace redtune
