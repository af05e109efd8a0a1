// Every schedule of small tasks of every form computes the right answer on the CPU device: all mappings, vector widths,
// tails, splits and walks that the space holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

#include "codegen/codegen.h"
#include "measure/device.h"
#include "space/search_space.h"
#include "support/hash.h"
#include "support/rng.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

struct Case {
  const char* shape;
  const char* axes;
  const char* op;
  const char* dtype;
  const char* out;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.op << " " << c.dtype << " " << c.shape << " over " << c.axes;
}

/// How many schedules a case runs: all of a small space; of a larger one a seeded sample with every mapping in it, or
/// with `most` of them, which `turn` rotates. REDTUNE_EXHAUSTIVE=1 runs all of all.
std::vector<Schedule> schedules_of(const SearchSpace& space, std::size_t limit, std::size_t most, std::size_t turn) {
  std::vector<Schedule> chosen;
  if (const char* all = std::getenv("REDTUNE_EXHAUSTIVE"); all && *all == '1') limit = space.size();
  if (space.size() <= limit) {
    for (std::size_t i = 0; i < space.size(); ++i) chosen.push_back(space.at(i));
    return chosen;
  }
  std::map<std::string, std::vector<Schedule>> by_mapping;
  for (std::size_t i = 0; i < space.size(); ++i) by_mapping[space.at(i).mapping()].push_back(space.at(i));
  Rng rng(7 + turn);
  std::size_t place = turn * most;
  for (auto& [mapping, all] : by_mapping) {
    if (place++ % by_mapping.size() >= most) continue;
    for (std::size_t i = 0; i < std::max<std::size_t>(1, limit / by_mapping.size()); ++i) chosen.push_back(all[rng.below(all.size())]);
  }
  return chosen;
}

constexpr std::size_t kAllMappings = 1000;

void expect_right_answers(const Case& c, std::size_t most_mappings, std::size_t turn) {
  DeviceInfo device;
  try {
    device = pick_device("cpu");
  } catch (const std::exception& e) {
    GTEST_SKIP() << "no OpenCL device for the CPU: " << e.what();
  }
  device.target.last_level_cache_bytes = 1 << 20;  // times do not matter here
  const Task base = task_of(c.shape, c.axes, "cpu", c.op, c.dtype, c.out);
  const Task task = make_task(base.op, device.target);
  const SearchSpace space(task);
  std::vector<Candidate> batch;
  for (const Schedule& s : schedules_of(space, 12, most_mappings, turn)) batch.push_back({s, generate(task, s)});

  MeasureOptions options;
  options.min_samples = options.max_samples = 1;
  const auto evaluator = make_device_evaluator(device, task, options);
  std::size_t answered = 0;
  Evaluator::Callbacks callbacks;
  callbacks.starting = [](std::size_t) {};
  callbacks.stop = [] { return false; };
  callbacks.done = [&](std::size_t i, const Outcome& outcome) {
    ++answered;
    EXPECT_TRUE(outcome.timed()) << c << "\n"
                                 << batch[i].schedule.text() << "\n"
                                 << name(outcome.kind) << ": " << outcome.detail << "\n"
                                 << batch[i].program.text;
  };
  evaluator->evaluate(batch, callbacks);
  EXPECT_EQ(answered, batch.size());
}

class Schedules : public testing::TestWithParam<Case> {};
TEST_P(Schedules, ComputeTheRightAnswer) { expect_right_answers(GetParam(), kAllMappings, 0); }

/// A few mappings of each: what an operator adds is the same text in all of them.
class OperatorSchedules : public testing::TestWithParam<Case> {};
TEST_P(OperatorSchedules, ComputeTheRightAnswer) {
  const std::string label = std::string(GetParam().op) + GetParam().dtype + GetParam().shape;
  expect_right_answers(GetParam(), 3, hash64(label) % 20);
}

// Every operator in a row and a column form, every element type at least twice. Extents leave tails.
INSTANTIATE_TEST_SUITE_P(EveryOperator, OperatorSchedules,
                         testing::Values(Case{"5x43", "1", "any", "f32", ""},
                                         Case{"43x21", "0", "any", "u8", "i32"},
                                         Case{"3x5x37", "0,2", "all", "i64", "i32"},
                                         Case{"4x37x9", "1", "all", "bool", ""},
                                         Case{"3x5x37", "0,2", "mean", "f32", ""},
                                         Case{"37x21", "0", "mean", "bf16", "f32"},
                                         Case{"4x67", "1", "mean", "i8", ""},
                                         Case{"3x5x37", "0,2", "argmax", "f32", ""},
                                         Case{"4x3x8x9", "1,3", "argmin", "i8", ""},
                                         Case{"3x23x18", "1", "argmax", "f64", "i32"},
                                         Case{"3x7x5x12", "0,2", "argmin", "f16", ""},
                                         Case{"5x41", "1", "argmax", "i64", ""},
                                         Case{"3x5x37", "0,2", "l2norm", "bf16", "f32"},
                                         Case{"43x21", "0", "l2norm", "f64", ""},
                                         Case{"5x43", "1", "logsumexp", "f32", ""},
                                         Case{"4x37x9", "1", "logsumexp", "f16", "f32"},
                                         Case{"3x5x37", "0,2", "var", "f32", ""},
                                         Case{"43x21", "0", "var", "u8", ""},
                                         Case{"5x67", "1", "std", "f16", ""},
                                         Case{"4x37x12", "1", "std", "f32", ""},
                                         Case{"5x67", "1", "max", "u8", ""},
                                         Case{"43x33", "0", "min", "bool", ""}));

INSTANTIATE_TEST_SUITE_P(EveryForm, Schedules,
                         testing::Values(Case{"131", "0", "sum", "f32", ""},       // R
                                         Case{"77", "0", "max", "f64", ""},
                                         Case{"5x43", "1", "sum", "f16", "f32"},   // PR
                                         Case{"33x49", "1", "min", "f32", ""},
                                         Case{"43x37", "0", "sum", "i32", ""},     // RP
                                         Case{"9x80", "0", "prod", "f32", ""},
                                         Case{"3x5x37", "0,2", "sum", "bf16", "f32"},  // RPR
                                         Case{"6x7x33", "0,2", "max", "i64", ""},
                                         Case{"3x23x18", "1", "sum", "f64", ""},   // PRP
                                         Case{"4x9x40", "1", "min", "i32", ""},
                                         Case{"4x3x8x9", "1,3", "sum", "f32", ""},  // PRPR
                                         Case{"2x9x5x20", "0,2", "max", "f16", ""}));

}  // namespace
}  // namespace redtune
