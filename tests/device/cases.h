// Small cases on which reductions are known to go wrong, each with the answer that it must have. Two steps per row: the
// reference gives that very answer, and a schedule of every mapping agrees with the reference on that input.
//
// Rows that need gigabytes are skipped: REDTUNE_LARGE_CASES=1 runs these where the memory allows it.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "measure/device.h"
#include "measure/verifier.h"

namespace redtune::cases {

inline constexpr double kInf = HUGE_VAL;
inline const double kNan = std::nan("");

/// Element `i` of the storage.
using Fill = double (*)(std::int64_t i);
inline double ones(std::int64_t) { return 1; }
inline double index(std::int64_t i) { return static_cast<double>(i); }
inline double fives(std::int64_t) { return 5; }

struct Row {
  const char* name;         // what goes wrong where it is wrong; "large: " in front: it needs gigabytes
  const char* json;         // the operator; "data" may be in it
  Fill fill;                // values where "data" is missing
  std::vector<double> out;  // one value: every output is it
  Fill out_at = nullptr;    // output i, where `out` would be long
  std::vector<std::int64_t> shape = {};  // of the output, where that is the question
};

/// Neighbouring rows of one operator: their inputs go through the same kernels.
using Group = std::span<const Row>;
std::vector<Group> groups_of(const std::vector<Row>& rows);
std::string test_name(const testing::TestParamInfo<Group>& info);

/// The first device; nullptr (and the test is skipped) where there is none.
const DeviceInfo* device();

std::vector<unsigned char> input_of(const Operator& op, Fill fill);

/// Runs the schedules on the input and compares with the reference. Kernels are compiled without optimization.
void expect_agreement(const Task& task, const std::vector<Schedule>& schedules, const std::vector<VerifyInput>& inputs);

class Cases : public testing::TestWithParam<Group> {};

}  // namespace redtune::cases
