#include "tests/device/cases.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

#include "measure/elements.h"
#include "measure/reference.h"
#include "space/search_space.h"
#include "support/half.h"
#include "tuner/verification.h"

namespace redtune::cases {
namespace {

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

void expect_answer(const Row& row, const Operator& op, const Reference& reference) {
  const auto outputs = static_cast<std::size_t>(op.output().elements());
  if (!row.shape.empty()) {
    ASSERT_EQ(op.output().shape, row.shape);
  }
  ASSERT_TRUE(row.out_at != nullptr || row.out.size() == 1 || row.out.size() == outputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    const double wanted =
        row.out_at != nullptr ? row.out_at(static_cast<std::int64_t>(i)) : row.out[row.out.size() == 1 ? 0 : i];
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

bool is_large(const Row& row) { return std::string(row.name).starts_with("large: "); }

}  // namespace

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

const DeviceInfo* device() {
  static const std::vector<DeviceInfo> devices = list_devices();
  return devices.empty() ? nullptr : &devices.front();
}

std::vector<Group> groups_of(const std::vector<Row>& rows) {
  std::vector<Group> groups;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t end = first + 1;
    while (end < rows.size() && std::strcmp(rows[end].json, rows[first].json) == 0) ++end;
    groups.push_back(Group(rows).subspan(first, end - first));
    first = end;
  }
  return groups;
}

std::string test_name(const testing::TestParamInfo<Group>& info) {
  std::string name;
  for (const char c : std::string(info.param.front().name))
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

void expect_agreement(const Task& task, const std::vector<Schedule>& schedules, const std::vector<VerifyInput>& inputs) {
  ASSERT_FALSE(schedules.empty());
  VerifyOptions options;
  options.optimize = false;
  options.keep_kernels = false;
  options.programs_per_build = 10;
  static Verifier verifier(*device(), options);
  verifier.verify(task, schedules, inputs, [&](const ScheduleVerdict& verdict) {
    EXPECT_FALSE(verdict.failure) << schedules[verdict.index].text() << ": " << verdict.input << ": " << verdict.detail;
    EXPECT_EQ(verdict.runs, static_cast<std::int64_t>(inputs.size()));
  });
}

TEST_P(Cases, HasTheRightAnswerInEveryMapping) {
  const Group group = GetParam();
  const Row& first = group.front();
  SCOPED_TRACE(std::string(first.name) + ": " + first.json);
  if (is_large(first) && !std::getenv("REDTUNE_LARGE_CASES"))
    GTEST_SKIP() << first.name << ": REDTUNE_LARGE_CASES=1 runs it";
  const Operator op = parse_operator(parse_json(first.json, first.name), first.name);
  std::vector<VerifyInput> inputs;
  for (const Row& row : group) {
    inputs.push_back({row.name, input_of(op, row.fill)});
    expect_answer(row, op, compute_reference(op, inputs.back().bytes, 1));
  }
  if (device() == nullptr) GTEST_SKIP() << "no device to run it on";
  const Task task = make_task(op, device()->target);
  Rng rng(std::strlen(first.json));
  expect_agreement(task, schedules_by_mapping(SearchSpace(task), 1, rng), inputs);
}

}  // namespace redtune::cases
