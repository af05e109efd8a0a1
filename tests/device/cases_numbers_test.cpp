// Cases of numbers: NaN, infinities, identities, accumulators, ties, rounding.
#include "tests/device/cases.h"

#include <algorithm>
#include <set>

#include "codegen/codegen.h"
#include "measure/measuring_session.h"
#include "space/search_space.h"
#include "tuner/verification.h"

namespace redtune::cases {
namespace {

// NaN at one position of zeros.
double nan_first(std::int64_t i) { return i == 0 ? kNan : 0; }
double nan_middle(std::int64_t i) { return i == 2048 ? kNan : 0; }
double nan_last(std::int64_t i) { return i == 4096 ? kNan : 0; }
double rows_of_infinity(std::int64_t) { return kInf; }
double rows_of_minus_infinity(std::int64_t) { return -kInf; }
double minus_128(std::int64_t) { return -128; }
double big_then_negative(std::int64_t i) { return i < 4 ? 32000 : -32000; }
double two_to_30(std::int64_t) { return 1073741824; }
double i8_most(std::int64_t) { return 127; }
double i32_most(std::int64_t) { return 2147483647; }
double i32_least(std::int64_t) { return -2147483648.0; }
double i64_least(std::int64_t) { return -0x1p63; }
double zeros(std::int64_t) { return 0; }
double threes(std::int64_t) { return 3; }

const std::vector<Row>& number_rows() {
  static const std::vector<Row> table = {
      {"NaN before the end", R"({"op":"max","shape":[4],"data":["nan","nan","nan",42]})", nullptr, {kNan}},
      {"NaN in the middle", R"({"op":"max","shape":[3],"data":[1,"nan",2]})", nullptr, {kNan}},
      {"min of infinities", R"({"op":"min","shape":[10]})", rows_of_infinity, {kInf}},
      {"max of negative infinities", R"({"op":"max","shape":[10]})", rows_of_minus_infinity, {-kInf}},
      {"argmin of an infinity", R"({"op":"argmin","shape":[1]})", rows_of_infinity, {0}},
      {"mean, f16, sum beyond its range",
       R"({"op":"mean","shape":[200],"dtype":"f16"})",
       [](std::int64_t) { return 600.0; },
       {600}},
      {"bf16 sums grow past 256", R"({"op":"sum","shape":[70000],"dtype":"bf16"})", ones, {70144}},
      {"f16 sums grow past 2048", R"({"op":"sum","shape":[20000],"dtype":"f16"})", ones, {20000}},
      {"f16 sum beyond its range on the way",
       R"({"op":"sum","shape":[8],"dtype":"f16"})",
       big_then_negative,
       {0}},
      {"i32 sum is i64", R"({"op":"sum","shape":[4],"dtype":"i32"})", two_to_30, {4294967296.0}},
      {"i32 sum of 0 to 99999", R"({"op":"sum","shape":[100000],"dtype":"i32"})", index, {4999950000.0}},
      {"i32 sum wraps where i32 is asked for",
       R"({"op":"sum","shape":[100000],"dtype":"i32","out":"i32"})",
       index,
       {704982704}},
      {"i8 sum is wide", R"({"op":"sum","shape":[1000],"dtype":"i8"})", i8_most, {127000}},
      {"i8 keeps its sign", R"({"op":"sum","shape":[3],"dtype":"i8","data":[-1,-2,-128]})", nullptr, {-131}},
      {"max of negatives, i8", R"({"op":"max","shape":[3],"dtype":"i8","data":[-3,-1,-2]})", nullptr, {-1}},
      {"max of negatives, i32", R"({"op":"max","shape":[3],"dtype":"i32","data":[-3,-1,-2]})", nullptr, {-1}},
      {"max of negatives, i64", R"({"op":"max","shape":[3],"dtype":"i64","data":[-3,-1,-2]})", nullptr, {-1}},
      {"max of negatives, f16", R"({"op":"max","shape":[3],"dtype":"f16","data":[-3,-1,-2]})", nullptr, {-1}},
      {"max of negatives, bf16",
       R"({"op":"max","shape":[3],"dtype":"bf16","data":[-3,-1,-2]})",
       nullptr,
       {-1}},
      {"max of negatives, f32", R"({"op":"max","shape":[3],"data":[-3,-1,-2]})", nullptr, {-1}},
      {"max of negatives, f64", R"({"op":"max","shape":[3],"dtype":"f64","data":[-3,-1,-2]})", nullptr, {-1}},
      {"argmax of negatives", R"({"op":"argmax","shape":[3],"dtype":"i8","data":[-3,-1,-2]})", nullptr, {1}},
      {"max of the smallest, i8", R"({"op":"max","shape":[100],"dtype":"i8"})", minus_128, {-128}},
      {"max of the smallest, i64", R"({"op":"max","shape":[5],"dtype":"i64"})", i64_least, {-0x1p63}},
      {"ties", R"({"op":"argmax","shape":[4],"data":[1,5,5,3]})", nullptr, {1}},
      {"ties of a period",
       R"({"op":"argmax","shape":[2000],"dtype":"i32"})",
       [](std::int64_t i) { return static_cast<double>(i % 3); },
       {2}},
      {"ties of all", R"({"op":"argmax","shape":[4096]})", fives, {0}},
      {"first NaN of argmax", R"({"op":"argmax","shape":[4],"data":[1,"nan",2,"nan"]})", nullptr, {1}},
      {"first NaN of argmin", R"({"op":"argmin","shape":[2],"data":["nan",1]})", nullptr, {0}},
      {"NaN beats infinity", R"({"op":"argmax","shape":[2],"data":["inf","nan"]})", nullptr, {1}},
      {"squares are taken once", R"({"op":"l2norm","shape":[4096]})", ones, {64}},
      {"compensated sum of what cancels", R"({"op":"compensated_sum","shape":[4],"data":[1,1e10,1,-1e10]})", nullptr, {2}},
      {"compensated mean, f16", R"({"op":"compensated_mean","shape":[3],"dtype":"f16","data":[1,2,6]})", nullptr, {3}},
      {"variance of 0 to 4095", R"({"op":"var","shape":[4096]})", index, {1398101.25}},
      {"squares beyond the range",
       R"({"op":"l2norm","shape":[2],"dtype":"f16","data":[600,800]})",
       nullptr,
       {1000}},
      {"mean, bf16, ties to even",
       R"({"op":"mean","shape":[2],"dtype":"bf16","data":[1,1.0078125]})",
       nullptr,
       {1}},
      {"first of many is NaN, max f32", R"({"op":"max","shape":[4097],"dtype":"f32"})", nan_first, {kNan}},
      {"middle", R"({"op":"max","shape":[4097],"dtype":"f32"})", nan_middle, {kNan}},
      {"last", R"({"op":"max","shape":[4097],"dtype":"f32"})", nan_last, {kNan}},
      {"first of many is NaN, max f16", R"({"op":"max","shape":[4097],"dtype":"f16"})", nan_first, {kNan}},
      {"middle", R"({"op":"max","shape":[4097],"dtype":"f16"})", nan_middle, {kNan}},
      {"last", R"({"op":"max","shape":[4097],"dtype":"f16"})", nan_last, {kNan}},
      {"first of many is NaN, max bf16", R"({"op":"max","shape":[4097],"dtype":"bf16"})", nan_first, {kNan}},
      {"middle", R"({"op":"max","shape":[4097],"dtype":"bf16"})", nan_middle, {kNan}},
      {"last", R"({"op":"max","shape":[4097],"dtype":"bf16"})", nan_last, {kNan}},
      {"first of many is NaN, max f64", R"({"op":"max","shape":[4097],"dtype":"f64"})", nan_first, {kNan}},
      {"middle", R"({"op":"max","shape":[4097],"dtype":"f64"})", nan_middle, {kNan}},
      {"last", R"({"op":"max","shape":[4097],"dtype":"f64"})", nan_last, {kNan}},
      {"first of many is NaN, min f32", R"({"op":"min","shape":[4097],"dtype":"f32"})", nan_first, {kNan}},
      {"middle", R"({"op":"min","shape":[4097],"dtype":"f32"})", nan_middle, {kNan}},
      {"last", R"({"op":"min","shape":[4097],"dtype":"f32"})", nan_last, {kNan}},
      {"first of many is NaN, min f16", R"({"op":"min","shape":[4097],"dtype":"f16"})", nan_first, {kNan}},
      {"middle", R"({"op":"min","shape":[4097],"dtype":"f16"})", nan_middle, {kNan}},
      {"last", R"({"op":"min","shape":[4097],"dtype":"f16"})", nan_last, {kNan}},
      {"first of many is NaN, min bf16", R"({"op":"min","shape":[4097],"dtype":"bf16"})", nan_first, {kNan}},
      {"middle", R"({"op":"min","shape":[4097],"dtype":"bf16"})", nan_middle, {kNan}},
      {"last", R"({"op":"min","shape":[4097],"dtype":"bf16"})", nan_last, {kNan}},
      {"first of many is NaN, min f64", R"({"op":"min","shape":[4097],"dtype":"f64"})", nan_first, {kNan}},
      {"middle", R"({"op":"min","shape":[4097],"dtype":"f64"})", nan_middle, {kNan}},
      {"last", R"({"op":"min","shape":[4097],"dtype":"f64"})", nan_last, {kNan}},
      {"argmax of negatives, i32",
       R"({"op":"argmax","shape":[3],"dtype":"i32","data":[-3,-1,-2]})",
       nullptr,
       {1}},
      {"argmax of negatives, i64",
       R"({"op":"argmax","shape":[3],"dtype":"i64","data":[-3,-1,-2]})",
       nullptr,
       {1}},
      {"argmax of negatives, f16",
       R"({"op":"argmax","shape":[3],"dtype":"f16","data":[-3,-1,-2]})",
       nullptr,
       {1}},
      {"argmax of negatives, bf16",
       R"({"op":"argmax","shape":[3],"dtype":"bf16","data":[-3,-1,-2]})",
       nullptr,
       {1}},
      {"argmax of negatives, f32",
       R"({"op":"argmax","shape":[3],"dtype":"f32","data":[-3,-1,-2]})",
       nullptr,
       {1}},
      {"argmax of negatives, f64",
       R"({"op":"argmax","shape":[3],"dtype":"f64","data":[-3,-1,-2]})",
       nullptr,
       {1}},
      {"argmax of a negative infinity", R"({"op":"argmax","shape":[1]})", rows_of_minus_infinity, {0}},
      {"argmax of the smallest, i32", R"({"op":"argmax","shape":[3],"dtype":"i32"})", i32_least, {0}},
      {"mean, bf16, counts past 256",
       R"({"op":"mean","shape":[512],"dtype":"bf16"})",
       [](std::int64_t i) { return static_cast<double>(i % 2); },
       {0.5}},
      {"mean of the largest integers", R"({"op":"mean","shape":[2],"dtype":"i32"})", i32_most, {2147483647}},
      {"i32 sum of four 2^30 wraps to 0",
       R"({"op":"sum","shape":[4],"dtype":"i32","out":"i32"})",
       two_to_30,
       {0}},
      {"squares beyond the range, f32",
       R"({"op":"l2norm","shape":[2],"data":[1e30,1e30]})",
       nullptr,
       {1.41421356e30}},
      {"squares below the range, f32",
       R"({"op":"l2norm","shape":[2],"data":[1e-30,1e-30]})",
       nullptr,
       {1.41421356e-30}},
      {"logsumexp of many zeros, f16",
       R"({"op":"logsumexp","shape":[65536],"dtype":"f16"})",
       zeros,
       {11.09375}},
      {"logsumexp of many zeros, f32", R"({"op":"logsumexp","shape":[65536]})", zeros, {11.0903549}},
      {"mean, bf16, ties to even upwards",
       R"({"op":"mean","shape":[2],"dtype":"bf16","data":[1.0078125,1.015625]})",
       nullptr,
       {1.015625}},
      {"sample variance of one", R"({"op":"var","shape":[4,1],"axes":[1],"ddof":1})", threes, {kNan}},
      {"population variance of one", R"({"op":"var","shape":[4,1],"axes":[1]})", threes, {0}},
  };
  return table;
}

INSTANTIATE_TEST_SUITE_P(Numbers, Cases, testing::ValuesIn(groups_of(number_rows())), test_name);

Task task_for(const char* op, const char* shape, const char* axes, const char* dtype = "f32") {
  return make_task(operator_from_short_form({op, shape, axes, dtype, "", "", false}), device()->target);
}

// What maps an element (a square, a distance) must not be done to partial results again.
TEST(CasesOfPartials, EveryNumberOfSplitsGivesTheAnswer) {
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  for (const auto& [op, fill] : {std::pair<const char*, Fill>{"l2norm", ones}, {"var", index}}) {
    const Task task = task_for(op, "4096", "");
    const SearchSpace space(task);
    std::set<std::int32_t> splits;
    std::vector<Schedule> schedules;
    for (std::size_t i = 0; i < space.size(); ++i) {
      if (space.at(i).vec == 1 && splits.insert(space.at(i).split).second) schedules.push_back(space.at(i));
    }
    EXPECT_GE(*splits.rbegin(), 64);
    expect_agreement(task, schedules, {{op, input_of(task.op, fill)}});
  }
}

// A NaN whose payload is in its lowest bits only must not become an infinity when it is cut to 16 bits.
TEST(CasesOfRounding, NanWithALowPayloadStaysNan) {
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  for (const char* out : {"bf16", "f16", "f32"}) {
    const Operator op = operator_from_short_form({"max", "4x33", "1", "f32", out, "", false});
    const Task task = make_task(op, device()->target);
    std::vector<unsigned char> input = input_of(op, ones);
    for (const std::size_t row : {0u, 2u}) {
      const std::uint32_t nan = row == 0 ? 0x7f800001u : 0xff800001u;
      std::copy_n(reinterpret_cast<const unsigned char*>(&nan), 4, input.data() + (row * 33 + 5) * 4);
    }
    Rng rng(1);
    expect_agreement(task, schedules_by_mapping(SearchSpace(task), 1, rng), {{out, input}});
  }
}

/// The only output, as a number.
double output_of(const Task& task, const Schedule& schedule, const std::vector<unsigned char>& input) {
  MeasureOptions options;
  options.cold = false;
  options.deadline_floor_seconds = 120;  // whatever else the machine does
  MeasuringSession session(*device(), task, options, [&] { return input; });
  const Outcome outcome = session.check({schedule, generate(task, schedule)}, 1, nullptr);
  EXPECT_TRUE(outcome.timed()) << schedule.text() << ": " << outcome.detail;
  float value = 0;
  if (session.output().size() == sizeof value)
    std::copy_n(session.output().data(), sizeof value, reinterpret_cast<unsigned char*>(&value));
  return value;
}

// An f32 that counts stands still at 2^24; the bound on the error of so long a chain would let that pass.
TEST(CasesOfLongSums, NoLegalScheduleStopsAtTwoToThe24) {
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  struct LongSum {
    const char* op;
    Fill fill;
    double right, tolerance;
  };
  // A running mean in f32 drifts by a percent over 2^23 steps; one that stands still is far off.
  const LongSum sums[] = {{"sum", ones, 33554432, 1e-5},
                          {"var", [](std::int64_t i) { return static_cast<double>(i >> 24); }, 0.25, 0.02}};
  for (const LongSum& sum : sums) {
    const Task task = task_for(sum.op, "33554432", "");
    const SearchSpace space(task);
    // The longest chains: few accumulators, few blocks.
    const auto chains = [](const Schedule& s) { return std::int64_t{s.split} * s.rx * s.acc * s.vec; };
    std::size_t longest = 0;
    for (std::size_t i = 0; i < space.size(); ++i) {
      if (chains(space.at(i)) < chains(space.at(longest))) longest = i;
    }
    const Schedule schedule = space.at(longest);
    EXPECT_LE(chains(schedule), 8) << "the limit is 2^23 elements each";
    EXPECT_NEAR(output_of(task, schedule, input_of(task.op, sum.fill)) / sum.right, 1, sum.tolerance)
        << schedule.text();
  }
}

}  // namespace
}  // namespace redtune::cases
