// Fused graphs on the machine's own device: schedules of every mapping that is legal, each output against the
// interpreter.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "space/graph.h"
#include "space/search_space.h"
#include "tuner/verification.h"

namespace redtune {
namespace {

struct GraphCase {
  const char *name, *inputs, *compute, *outputs;
  std::size_t groups;
};

constexpr GraphCase kGraphs[] = {
    {"row_producer", R"("X": {"shape": [9, 67], "dtype": "f16"}, "Y": {"shape": [67]}, "A": {"shape": [9, 1]})",
     R"("S[i] = sum(j) f32(X[i,j]) * Y[j] + A[i,0]")", R"("S")", 1},
    {"column_producer_and_tail", R"("X": {"shape": [33, 40]}, "Y": {"shape": [33]}, "B": {"shape": [40], "dtype": "bf16"})",
     R"x("S[j] = max(i) X[i,j] - Y[i]", "T[j] = f16(tanh(S[j]) * f32(B[j]))")x", R"("T", "S")", 1},
    {"several_types", R"("X": {"shape": [8, 130]}, "N": {"shape": [8, 130], "dtype": "i32"})",
     R"("S[i] = sum(j) X[i,j] * X[i,j]", "M[i] = max(j) N[i,j]", "K[i] = any(j) X[i,j] > 1.5", "V[i] = mean(j) X[i,j]", "D[i] = V[i] * 2 - S[i]")",
     R"("S", "M", "K", "D")", 1},
    {"several_columns", R"("X": {"shape": [129, 36], "dtype": "f16"}, "W": {"shape": [129, 36]})",
     R"x("S[j] = sum(i) f32(X[i,j])", "Q[j] = sum(i) f32(X[i,j]) * W[i,j]")x", R"("S", "Q")", 1},
    {"stored_on_the_way", R"("X": {"shape": [12, 64]}, "Y": {"shape": [64]})",
     R"x("A[i,j] = f16(X[i,j] * Y[j])", "S[i] = sum(j) f32(A[i,j])")x", R"("S", "A")", 1},
    {"elementwise", R"("X": {"shape": [7, 30]}, "Y": {"shape": [30, 7], "dtype": "f16"}, "Z": {"shape": [7]})",
     R"x("A[i,j] = sigmoid(X[i,j]) + f32(Y[j,i])", "C[i,j] = select(A[i,j] > Z[i], A[i,j], exp(-Z[i]))", "D[i,j] = i8(X[i,j] * 40)", "E[i,j] = A[i,j] >= 1")x",
     R"("A", "C", "D", "E")", 1},
    {"transposed_elementwise", R"("X": {"shape": [31, 20]})", R"("T[j,i] = X[i,j] * 2")", R"("T")", 1},
    {"softmax", R"("X": {"shape": [6, 90], "dtype": "f16"})",
     R"x("M[i] = max(j) X[i,j]", "E[i,j] = exp(f32(X[i,j]) - f32(M[i]))", "S[i] = sum(j) E[i,j]", "P[i,j] = E[i,j] / S[i]")x", R"("P")", 3},
    {"scalars", R"("X": {"shape": [1000]}, "A": {"shape": []})", R"("S = sum(i) X[i] * A", "T = S / 1000.0 + A")", R"("T")", 1},
    {"functions", R"("X": {"shape": [5, 24]}, "N": {"shape": [5, 24], "dtype": "i32"}, "U": {"shape": [5, 24], "dtype": "u8"})",
     R"x("A[i,j] = pow(abs(X[i,j]), 1.5) + erf(X[i,j]) * rsqrt(abs(X[i,j])) - log(abs(X[i,j]))", "B[i,j] = abs(N[i,j]) * -3 + min(N[i,j], 5)", "C[i,j] = U[i,j] * U[i,j]", "D[i,j] = i32(X[i,j] * 1e9)", "S[j] = sum(i) sqrt(abs(X[i,j]))")x",
     R"("A", "B", "C", "D", "S")", 2},
    {"argmax_of_expression", R"("X": {"shape": [10, 70]}, "Y": {"shape": [70]})", R"("S[i] = argmax(j) X[i,j] * Y[j]", "V[i] = var(j) X[i,j] + 4")", R"("S", "V")", 2},
};

std::optional<DeviceInfo> cpu() {
  for (DeviceInfo& info : list_devices()) {
    if (info.id == "cpu") return info;
  }
  return std::nullopt;
}

class Graphs : public testing::TestWithParam<GraphCase> {};

TEST_P(Graphs, EveryMappingAgreesWithTheInterpreter) {
  static const std::optional<DeviceInfo> device = cpu();
  if (!device) GTEST_SKIP() << "no CPU device";
  const GraphCase& c = GetParam();
  const std::string text = std::string("{\"name\": \"") + c.name + "\", \"inputs\": {" + c.inputs + "}, \"compute\": [" + c.compute + "], \"outputs\": [" + c.outputs + "]}";
  const Task task = make_task(parse_operator(parse_json(text, c.name), c.name), device->target);
  EXPECT_EQ(task.groups->size(), c.groups);
  Rng rng(3);
  const std::vector<Schedule> schedules = schedules_by_mapping(SearchSpace(task), 1, rng);
  VerifyOptions options;
  options.optimize = false;
  Verifier verifier(*device, options);
  VerifyTally tally(options.data_seed);
  verifier.verify(task, schedules, [&](const ScheduleVerdict& verdict) { tally.add(task, schedules[verdict.index], verdict); });
  EXPECT_EQ(tally.total().schedules, static_cast<std::int64_t>(schedules.size()));
  EXPECT_EQ(tally.total().rejected, 0);
  EXPECT_TRUE(tally.failures().empty()) << tally.failure_text(3);
}

INSTANTIATE_TEST_SUITE_P(All, Graphs, testing::ValuesIn(kGraphs), [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace redtune
