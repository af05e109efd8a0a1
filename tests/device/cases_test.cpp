// Small cases on which reductions are known to go wrong, each with the answer that it must have. Two steps
// per row: the reference gives that very answer, and a schedule of every mapping agrees with the reference on
// that input.
//
// Rows of operators that the operator table lacks are skipped, and with them those that need gigabytes:
// REDTUNE_LARGE_CASES=1 runs these where the memory allows it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "measure/elements.h"
#include "space/mappings.h"
#include "support/error.h"
#include "support/half.h"
#include "tuner/verification.h"

namespace redtune {
namespace {

constexpr double kInf = HUGE_VAL;
const double kNan = std::nan("");

/// Element `i` of the storage.
using Fill = double (*)(std::int64_t i);
double ones(std::int64_t) { return 1; }
double index(std::int64_t i) { return static_cast<double>(i); }

struct Row {
  const char* name;         // what goes wrong where it is wrong
  const char* json;         // the operator; "data" may be in it
  Fill fill;                // values where "data" is missing
  std::vector<double> out;  // one value: every output is it
};

// NaN at one position of zeros.
double nan_first(std::int64_t i) { return i == 0 ? kNan : 0; }
double nan_middle(std::int64_t i) { return i == 2048 ? kNan : 0; }
double nan_last(std::int64_t i) { return i == 4096 ? kNan : 0; }
double rows_of_infinity(std::int64_t) { return kInf; }
double rows_of_minus_infinity(std::int64_t) { return -kInf; }
double fives(std::int64_t) { return 5; }
double minus_128(std::int64_t) { return -128; }
double big_then_negative(std::int64_t i) { return i < 4 ? 32000 : -32000; }
double two_to_30(std::int64_t) { return 1073741824; }
double i8_most(std::int64_t) { return 127; }
double i64_least(std::int64_t) { return -0x1p63; }

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      // Shapes and indexing.
      {"short axis with a transposed layout",
       R"({"op":"sum","shape":[2,3,4],"strides":[0,1,3],"axes":[1],"data":[0,1,2,3,4,5,6,7,8,9,10,11]})",
       nullptr,
       {3, 12, 21, 30, 3, 12, 21, 30}},
      {"broadcast axis",
       R"({"op":"sum","shape":[2,3],"strides":[0,1],"axes":[0],"data":[1,2,3]})",
       nullptr,
       {2, 4, 6}},
      {"rows off the vector boundary, f16",
       R"({"op":"sum","shape":[7,33],"axes":[1],"dtype":"f16"})",
       ones,
       {33}},
      {"rows off the vector boundary, bf16",
       R"({"op":"sum","shape":[7,33],"axes":[1],"dtype":"bf16"})",
       ones,
       {33}},
      {"rows off the vector boundary, i8",
       R"({"op":"sum","shape":[7,33],"axes":[1],"dtype":"i8"})",
       ones,
       {33}},
      {"storage off the vector boundary, f16",
       R"({"op":"sum","shape":[7,33],"offset":1,"axes":[1],"dtype":"f16"})",
       ones,
       {33}},
      {"storage off the vector boundary, i8",
       R"({"op":"sum","shape":[7,33],"offset":1,"axes":[1],"dtype":"i8"})",
       ones,
       {33}},
      {"length 1", R"({"op":"sum","shape":[1],"dtype":"i32"})", ones, {1}},
      {"length 31", R"({"op":"sum","shape":[31],"dtype":"i32"})", ones, {31}},
      {"length 33", R"({"op":"sum","shape":[33],"dtype":"i32"})", ones, {33}},
      {"length 49", R"({"op":"sum","shape":[49],"dtype":"i32"})", ones, {49}},
      {"length 1023", R"({"op":"sum","shape":[1023],"dtype":"i32"})", ones, {1023}},
      {"length 1025", R"({"op":"sum","shape":[1025],"dtype":"i32"})", ones, {1025}},
      {"length 4097", R"({"op":"sum","shape":[4097],"dtype":"i32"})", ones, {4097}},
      {"length 8193", R"({"op":"sum","shape":[8193],"dtype":"i32"})", ones, {8193}},
      {"extents that no tile divides", R"({"op":"sum","shape":[17,19,23],"dtype":"i32"})", ones, {7429}},
      {"every batch is reduced",
       R"({"op":"sum","shape":[2,3,2],"axes":[2],"data":[1,2,3,4,5,6,7,8,9,10,11,12]})",
       nullptr,
       {3, 7, 11, 15, 19, 23}},
      {"more than 32 batches", R"({"op":"sum","shape":[33,8,8,100],"axes":[3]})", ones, {100}},
      {"leading unit axis", R"({"op":"sum","shape":[1,12,9,9],"axes":[-1]})", ones, {9}},
      {"reduced axis of length 1",
       R"({"op":"sum","shape":[5,1],"axes":[1],"data":[1,2,3,4,5]})",
       nullptr,
       {1, 2, 3, 4, 5}},
      {"argmax over an axis of length 1", R"({"op":"argmax","shape":[64,1],"axes":[1]})", ones, {0}},
      {"argmax of one row", R"({"op":"argmax","shape":[1,3],"axes":[0],"data":[1,2,3]})", nullptr, {0}},
      {"rank 0, sum", R"({"op":"sum","shape":[],"data":[3.5]})", nullptr, {3.5}},
      {"rank 0, max", R"({"op":"max","shape":[],"axes":[-1],"data":[3.5]})", nullptr, {3.5}},
      {"rank 0, argmax", R"({"op":"argmax","shape":[],"data":[3.5]})", nullptr, {0}},
      {"rank 0, variance", R"({"op":"var","shape":[],"data":[3.5]})", nullptr, {0}},
      {"flat index over three axes",
       R"({"op":"argmax","shape":[3,3,2],"data":[0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0]})",
       nullptr,
       {10}},
      {"kept unit axes", R"({"op":"sum","shape":[64,64],"keepdims":true})", ones, {4096}},
      {"mean of nothing", R"({"op":"mean","shape":[0]})", ones, {kNan}},
      {"variance of nothing", R"({"op":"var","shape":[0]})", ones, {kNan}},
      // Numbers and special values.
      {"NaN before the end", R"({"op":"max","shape":[4],"data":["nan","nan","nan",42]})", nullptr, {kNan}},
      {"NaN in the middle", R"({"op":"max","shape":[3],"data":[1,"nan",2]})", nullptr, {kNan}},
      {"first of many is NaN", R"({"op":"max","shape":[4097]})", nan_first, {kNan}},
      {"middle of many is NaN", R"({"op":"max","shape":[4097]})", nan_middle, {kNan}},
      {"last of many is NaN", R"({"op":"max","shape":[4097]})", nan_last, {kNan}},
      {"min, f16, NaN", R"({"op":"min","shape":[4097],"dtype":"f16"})", nan_middle, {kNan}},
      {"min, bf16, NaN", R"({"op":"min","shape":[4097],"dtype":"bf16"})", nan_last, {kNan}},
      {"min, f64, NaN", R"({"op":"min","shape":[4097],"dtype":"f64"})", nan_first, {kNan}},
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
      {"variance of 0 to 4095", R"({"op":"var","shape":[4096]})", index, {1398101.25}},
      {"squares beyond the range",
       R"({"op":"l2norm","shape":[2],"dtype":"f16","data":[600,800]})",
       nullptr,
       {1000}},
      {"mean, bf16, ties to even",
       R"({"op":"mean","shape":[2],"dtype":"bf16","data":[1,1.0078125]})",
       nullptr,
       {1}},
      // Combining: mappings must agree.
      {"partial warp", R"({"op":"prod","shape":[48]})", ones, {1}},
      {"partial warps of many", R"({"op":"min","shape":[33]})", fives, {5}},
      {"reduction on threads", R"({"op":"sum","shape":[1,7,7,512],"axes":[1,2]})", ones, {49}},
      {"long row", R"({"op":"sum","shape":[1,768],"axes":[1]})", ones, {768}},
      {"middle axis of integers", R"({"op":"sum","shape":[16,8,16],"axes":[1],"dtype":"i32"})", ones, {8}},
      {"products of many ones", R"({"op":"prod","shape":[8,10003],"axes":[1],"dtype":"f16"})", ones, {1}},
      // Gigabytes, or a tenth of one and many schedules.
      {"large: f32 sum past 2^24", R"({"op":"sum","shape":[33554432]})", ones, {33554432}},
      {"large: f32 sum past 2^24 by column",
       R"({"op":"sum","shape":[33554432,3],"axes":[0]})",
       ones,
       {33554432}},
      {"large: cube over its middle axis", R"({"op":"sum","shape":[256,256,256],"axes":[1]})", ones, {256}},
      {"large: offsets past 2^31",
       R"({"op":"sum","shape":[2,4],"strides":[3000000000,1],"axes":[1],"dtype":"i8"})",
       [](std::int64_t i) { return i < 4 ? 1.0 : 2.0; },
       {4, 8}},
      {"large: 2^31 elements", R"({"op":"sum","shape":[2147483648],"dtype":"i8"})", ones, {2147483648.0}},
      {"large: 3.2e9 elements",
       R"({"op":"sum","shape":[40000,400,200],"axes":[2],"dtype":"i8"})",
       ones,
       {200}},
      {"large: 16 GiB by column",
       R"({"op":"sum","shape":[1,32,4096,131072],"axes":[1],"dtype":"i8"})",
       ones,
       {32}},
  };
  return table;
}

bool known_operator(const std::string& op) {
  return std::any_of(kReduceOps.begin(), kReduceOps.end(),
                     [&](const ReduceOpInfo& row) { return row.name == op; });
}

void put(DType dtype, unsigned char* to, double x) {
  const auto store = [&](auto value) { std::memcpy(to, &value, sizeof value); };
  switch (dtype) {
    case DType::kBool:
      return store(static_cast<std::uint8_t>(x != 0));
    case DType::kI8:
      return store(static_cast<std::int8_t>(x));
    case DType::kU8:
      return store(static_cast<std::uint8_t>(x));
    case DType::kI32:
      return store(static_cast<std::int32_t>(x));
    case DType::kI64:
      return store(static_cast<std::int64_t>(x));
    case DType::kF16:
      return store(f16_from_f32(static_cast<float>(x)));
    case DType::kBF16:
      return store(bf16_from_f32(static_cast<float>(x)));
    case DType::kF32:
      return store(static_cast<float>(x));
    case DType::kF64:
      return store(x);
  }
}

std::vector<unsigned char> input_of(const Operator& op, Fill fill) {
  const auto item = static_cast<std::size_t>(bytes_of(op.input().dtype));
  std::vector<unsigned char> bytes(static_cast<std::size_t>(op.input().storage_elements()) * item);
  for (std::size_t i = 0; i * item < bytes.size(); ++i) {
    double value = 0;
    if (!op.data)
      value = fill(static_cast<std::int64_t>(i));
    else
      value =
          info(op.input().dtype).is_float ? op.data->numbers[i] : static_cast<double>(op.data->integers[i]);
    put(op.input().dtype, bytes.data() + i * item, value);
  }
  return bytes;
}

void expect_answer(const Row& row, const Operator& op, const Reference& reference) {
  const auto outputs = static_cast<std::size_t>(op.output().elements());
  ASSERT_TRUE(row.out.size() == 1 || row.out.size() == outputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    const double wanted = row.out[row.out.size() == 1 ? 0 : i];
    const double got =
        info(op.output().dtype).is_float ? reference.values[i] : static_cast<double>(reference.integers[i]);
    if (std::isnan(wanted)) {
      ASSERT_TRUE(std::isnan(got)) << "output " << i << " is " << got;
    } else if (std::isinf(wanted)) {
      ASSERT_EQ(got, wanted) << "output " << i;
    } else {
      // The reference is not rounded to the output's type; the answer of the table is.
      ASSERT_NEAR(got, wanted, info(op.output().dtype).is_float ? reference.tolerance[i] : 0)
          << "output " << i;
    }
  }
}

class Cases : public testing::TestWithParam<std::size_t> {};

TEST_P(Cases, HasTheRightAnswerInEveryMapping) {
  const Row& row = rows()[GetParam()];
  SCOPED_TRACE(std::string(row.name) + ": " + row.json);
  const Json json = parse_json(row.json, row.name);
  if (!known_operator(json.at("op"))) GTEST_SKIP() << "no operator '" << json.at("op") << "' yet";
  const bool large = std::string(row.name).starts_with("large: ");
  if (large && !std::getenv("REDTUNE_LARGE_CASES"))
    GTEST_SKIP() << row.name << ": REDTUNE_LARGE_CASES=1 runs it";
  const Operator op = parse_operator(json, row.name);
  const std::vector<VerifyInput> inputs{{row.name, input_of(op, row.fill)}};
  expect_answer(row, op, compute_reference(op, inputs[0].bytes, 1));

  static const std::vector<DeviceInfo> devices = list_devices();
  if (devices.empty()) GTEST_SKIP() << "no device to run it on";
  VerifyOptions options;
  options.optimize = false;
  options.programs_per_build = 8;
  static Verifier verifier(devices.front(), options);
  const Task task = make_task(op, devices.front().target);
  Rng rng(GetParam());
  const std::vector<Schedule> schedules = schedules_by_mapping(SearchSpace(task), 1, rng);
  ASSERT_FALSE(schedules.empty());
  verifier.verify(task, schedules, inputs, [&](const ScheduleVerdict& verdict) {
    EXPECT_FALSE(verdict.failure) << schedules[verdict.index].text() << ": " << verdict.detail;
    EXPECT_EQ(verdict.runs, 1);
  });
}

std::string test_name(const testing::TestParamInfo<std::size_t>& info) {
  std::string name;
  for (const char c : std::string(rows()[info.param].name))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, Cases, testing::Range(std::size_t{0}, rows().size()), test_name);

}  // namespace
}  // namespace redtune
