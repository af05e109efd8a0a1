// The search on the spaces that redtune ships: whole spaces of reductions, measured once (logs/samples).
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "tuner/replay.h"
#include "tuner/training.h"

namespace redtune {
namespace {

const std::string kFolder = REDTUNE_SOURCE_DIR "/logs/samples";

std::vector<std::string> sample_files() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == ".gz") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

#define NEEDS_SAMPLES()                                                                 \
  const std::vector<std::string> files = sample_files();                                \
  if (files.empty()) GTEST_SKIP() << "no recorded spaces in " << kFolder << "; scripts/record_spaces makes them"

TEST(Samples, AreWholeSpacesOfEightTasks) {
  NEEDS_SAMPLES();
  EXPECT_GE(files.size(), 8u);
  std::set<std::string> tasks;
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) {
    bytes += std::filesystem::file_size(file);
    for (const RecordedSpace& space : read_recorded_spaces(file)) {
      tasks.insert(space.name);
      EXPECT_GE(space.points.size(), 300u) << file;
      EXPECT_LE(space.points.size(), 3000u) << file;
      // A wrong or failing kernel is a bug of redtune, not a property of a CPU.
      EXPECT_EQ(space.failures(), 0u) << file;
    }
  }
  EXPECT_EQ(tasks.size(), files.size());
  EXPECT_LT(bytes, 1'000'000u);
}

TEST(Samples, TeachTheModel) {
  NEEDS_SAMPLES();
  std::vector<std::string> warnings;
  const std::vector<TaskSamples> samples = samples_of_logs(files, warnings);
  EXPECT_TRUE(warnings.empty()) << warnings.front();
  EXPECT_EQ(samples.size(), files.size());
}

// Far from what is measured, so that only a real loss fails.
TEST(Samples, TheDefaultStrategyBeatsRandom) {
  NEEDS_SAMPLES();
  ReplayOptions options;
  options.repeats = 4;
  std::vector<ReplayResult> ours, random;
  for (const std::string& file : files) {
    const ReplaySpace space(read_recorded_spaces(file).at(0));
    ours.push_back(replay(space, strategies().front(), options));
    random.push_back(replay(space, find_strategy("random"), options));
  }
  EXPECT_LT(together(ours).ratios[1], together(random).ratios[1]);
  EXPECT_GT(together(ours).score, 0.1);
}

}  // namespace
}  // namespace redtune
