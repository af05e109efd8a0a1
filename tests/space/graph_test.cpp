// The general form: compute strings, what is inferred of them, and what is said of wrong ones.
#include "space/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <vector>

#include "space/search_space.h"
#include "space/task.h"
#include "support/stopwatch.h"
#include "tests/support/message_of.h"

namespace redtune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Operator graph_of(const std::string& compute, const std::string& outputs, const std::string& more = "") {
  const std::string inputs = R"("X": {"shape": [4, 6], "dtype": "f16"}, "Y": {"shape": [6]}, "I": {"shape": [4], "dtype": "i32"})";
  return parse_operator(parse_json("{\"inputs\": {" + inputs + "}, \"compute\": [" + compute + "], \"outputs\": [" + outputs + "]" + more + "}", "op"), "op");
}

std::string complaint(const std::string& statement) {
  return message_of([&] { graph_of("\"" + statement + "\"", "\"S\""); });
}

TEST(Graph, InfersShapesAndTypes) {
  const Operator op = graph_of(R"("A[i,j] = f32(X[i,j]) * Y[j]", "S[i] = sum(j) A[i,j]", "C[j,i] = A[i,j] > 0.5", "N = sum(i) I[i]")", R"("S", "C", "N")");
  ASSERT_EQ(op.outputs.size(), 3u);
  EXPECT_THAT(op.outputs[0].shape, ElementsAre(4));
  EXPECT_EQ(op.outputs[0].dtype, DType::kF32);
  EXPECT_THAT(op.outputs[1].shape, ElementsAre(6, 4));
  EXPECT_EQ(op.outputs[1].dtype, DType::kBool);
  EXPECT_TRUE(op.outputs[2].shape.empty());
  EXPECT_EQ(op.outputs[2].dtype, DType::kI64);
  EXPECT_EQ(op.graph->statements[1].accumulator, DType::kF32);
}

TEST(Graph, ReductionsInsideOfExpressionsBecomeStatements) {
  const Operator op = graph_of(R"x("S[i] = sqrt((sum(j) Y[j] * Y[j]) / 6) + f32(I[i])")x", R"("S")");
  ASSERT_EQ(op.graph->statements.size(), 2u);
  EXPECT_EQ(op.graph->statements[0].result.name, "S.1");
  EXPECT_TRUE(op.graph->statements[0].reduce.has_value());
  EXPECT_FALSE(op.graph->statements[1].reduce.has_value());
}

TEST(Graph, ComesBackFromItsJson) {
  const Operator op = graph_of(R"x("A[i,k] = f32(X[i/2*2+i%2, k])", "S[k] = max(i) A[i,k]")x", R"("S", "A")", R"(, "shapes": {"A": [4, 6]}, "determinism": "run_to_run")");
  const Operator again = parse_operator(to_json(op), "again");
  EXPECT_EQ(again, op);
  EXPECT_EQ(again.key(), op.key());
  EXPECT_NE(graph_of(R"("S[i] = sum(j) X[i,j]")", R"("S")").key(), graph_of(R"("S[i] = max(j) X[i,j]")", R"("S")").key());
}

TEST(Graph, ReshapesSimplifyToPlainIndices) {
  const Operator op = graph_of(R"("A[i,j] = X[(i*3+j)/6, (i*3+j)%6]", "B[k,l] = A[(k*6+l)/3, (k*6+l)%3]")", R"("B")", R"(, "shapes": {"A": [8, 3], "B": [4, 6]})");
  // Substituted into each other they are X[k, l] again: one group, plain strides.
  const Task task = make_task(op, load_target("cpu"));
  ASSERT_EQ(task.groups->size(), 1u);
  EXPECT_EQ(task.canonical.text(), "RP [1],24");
}

TEST(Graph, ErrorsPointAtThePlace) {
  EXPECT_EQ(complaint("S[i] = sum(j) Z[i,j]"),
            "op: field 'compute[0]', column 15: unknown tensor 'Z'; known: X, Y, I\n  S[i] = sum(j) Z[i,j]\n                ^");
  EXPECT_THAT(complaint("S[i] = exq(Y[i])"), HasSubstr("unknown function 'exq'; did you mean 'exp'?"));
  EXPECT_THAT(complaint("S[i] = Y[k]"), HasSubstr("column 10: unknown iterator 'k'"));
  EXPECT_THAT(complaint("S[i] = X[i]"), HasSubstr("X has 2 axes, is read with 1 indices"));
  EXPECT_THAT(complaint("S[i,j] = X[i,j] * Y[j]"), HasSubstr("column 17: '*' of f16 and f32; cast one of them"));
  EXPECT_THAT(complaint("S[i] = Y[i] + X[i,0]"), HasSubstr("iterator i runs to 6 and axis 0 of X has 4 elements"));
  EXPECT_THAT(complaint("S[i] = Y[i+1]"), HasSubstr("how far does iterator i run?"));
  EXPECT_THAT(complaint("S[i] = Y[i] * Y[i+1]"), HasSubstr("this index runs from 1 to 6, axis 0 of Y from 0 to 5"));
  EXPECT_THAT(complaint("S[i] = exp(I[i])"), HasSubstr("'exp' needs a float type, has i32; cast, as in f32(...)"));
  EXPECT_THAT(complaint("S[i] = select(I[i], Y[0], Y[1])"), HasSubstr("first argument of select must be bool"));
  EXPECT_THAT(complaint("S[i] = I[i] + 0.5"), HasSubstr("a fraction among i32"));
  EXPECT_THAT(complaint("S[i] = (Y[i]"), HasSubstr("expected ')' before the end"));
  EXPECT_THAT(complaint("S[i] = Y[i] Y[i]"), HasSubstr("unexpected 'Y' behind the expression"));
  EXPECT_THAT(complaint("S[i] = sum(i) Y[i]"), HasSubstr("reduced and kept at once"));
  EXPECT_THAT(complaint("X[i] = Y[i]"), HasSubstr("exists already"));
  EXPECT_THAT(complaint("S[i] = Y[i] $ 2"), HasSubstr("unexpected character '$'"));
  EXPECT_THAT(complaint("S[i] = pow(Y[i])"), HasSubstr("pow takes 2 arguments, has 1"));
  EXPECT_THAT(message_of([] { graph_of(R"("S[i] = Y[i]")", R"("T")"); }), HasSubstr("field 'outputs[0]'"));
}

TEST(Fusion, ProducersAndConsumersShareTheReductionsKernel) {
  const Operator op = graph_of(R"x("A[i,j] = f32(X[i,j]) * Y[j]", "S[i] = sum(j) A[i,j]", "T[i] = sqrt(S[i]) + f32(I[i])")x", R"("T")");
  const Task task = make_task(op, load_target("cpu"));
  ASSERT_EQ(task.groups->size(), 1u);
  EXPECT_EQ(task.fused->reductions.size(), 1u);
  EXPECT_EQ(task.fused->tail_stores.size(), 1u);
  EXPECT_TRUE(task.fused->body_stores.empty());
  EXPECT_EQ(task.canonical.text(), "PR 4,[6]");
}

TEST(Fusion, IndependentReductionsOfOneDomainShareAKernelAndDependentOnesDoNot) {
  const Task both = make_task(graph_of(R"("S[i] = sum(j) X[i,j]", "M[i] = max(j) X[i,j]")", R"("S", "M")"), load_target("cpu"));
  ASSERT_EQ(both.groups->size(), 1u);
  EXPECT_EQ(both.fused->reductions.size(), 2u);
  const Task softmax = make_task(graph_of(R"x("M[i] = max(j) X[i,j]", "E[i,j] = exp(f32(X[i,j]) - f32(M[i]))", "S[i] = sum(j) E[i,j]", "P[i,j] = E[i,j] / S[i]")x", R"("P")"),
                                 load_target("cpu"));
  EXPECT_EQ(softmax.groups->size(), 3u);
  const Task roles = make_task(graph_of(R"("S[i] = sum(j) X[i,j]", "C[j] = sum(i) X[i,j]")", R"("S", "C")"), load_target("cpu"));
  EXPECT_EQ(roles.groups->size(), 2u);
}

TEST(Fusion, AnIntermediateOutputIsStoredOnTheWay) {
  const Task task = make_task(graph_of(R"("A[i,j] = f32(X[i,j]) * Y[j]", "S[i] = sum(j) A[i,j]")", R"("S", "A")"), load_target("cpu"));
  ASSERT_EQ(task.groups->size(), 1u);
  EXPECT_EQ(task.fused->body_stores.size(), 1u);
}

TEST(Fusion, BroadcastOperandsKeepAxesApart) {
  const Task task = make_task(graph_of(R"("A[i,j] = f32(X[i,j]) * Y[j]", "S = sum(i,j) A[i,j]")", R"("S")"), load_target("cpu"));
  EXPECT_EQ(task.canonical.text(), "R [4],[6]");  // X alone would be one run of 24
}

TEST(MindSpore, NamesWhatItCannotRead) {
  const auto refused = [](const std::string& text) { return message_of([&] { parse_operator(parse_json(text, "f.info"), "f.info"); }); };
  EXPECT_THAT(refused(R"({"op_desc": [], "input_desc": [[{"tensor_name": "a", "shape": [4, -1], "data_type": "float32"}]], "output_desc": []})"),
              HasSubstr("f.info: input_desc: axis 1 of tensor a is dynamic"));
  EXPECT_THAT(refused(R"({"op_desc": [{"name": "MatMul", "input_desc": [], "output_desc": [{"tensor_name": "o", "shape": [4], "data_type": "float32"}]}], "input_desc": [], "output_desc": []})"),
              HasSubstr("op_desc[0] (MatMul): unknown operation 'MatMul'"));
}

TEST(MindSpore, AllSubgraphsOfTheCorpusImportAndFuse) {
  const std::string folder = REDTUNE_SOURCE_DIR "/../shared/data/mindspore_subgraphs";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no " << folder;
  std::size_t files = 0, single = 0, one_kernel = 0;
  std::vector<double> planning;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const auto start = std::chrono::steady_clock::now();
    const Operator op = read_operator_file(entry.path().string());
    EXPECT_GT(SearchSpace(make_task(op, load_target("cpu"))).size(), 0u) << entry.path();
    planning.push_back(seconds_since(start));
    EXPECT_EQ(parse_operator(to_json(op), "again").key(), op.key()) << entry.path();
    const Task task = make_task(op, load_target("cpu"));
    std::size_t reductions = 0;
    for (const GraphStatement& statement : op.graph->statements) reductions += statement.reduce.has_value() ? 1 : 0;
    if (reductions != 1) continue;
    ++single;
    one_kernel += task.groups->size() == 1 ? 1 : 0;
  }
  EXPECT_EQ(files, 370u);
  std::sort(planning.begin(), planning.end());
  ASSERT_FALSE(planning.empty());
  std::cout << "planning a file: median " << planning[planning.size() / 2] * 1e3 << " ms, at most " << planning.back() * 1e3
            << " ms; " << one_kernel << " of " << single << " files with one reduction are one kernel\n";
  EXPECT_LT(planning[planning.size() / 2], 0.2);
  EXPECT_LT(planning.back(), 2);
  EXPECT_GE(one_kernel * 100, single * 90);
}

}  // namespace
}  // namespace redtune
