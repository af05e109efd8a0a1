// Cost of the learned model: features and predictions of a whole space, training.
#include <benchmark/benchmark.h>

#include <cmath>

#include "cost_model/features.h"
#include "cost_model/learned_model.h"
#include "space/search_space.h"

namespace redtune {
namespace {

Task task() {
  ShortForm form;
  form.shape = "21128x768";
  form.axes = "0";
  return make_task(operator_from_short_form(form), load_target("sm_90"));
}

// So many schedules of one task, repeated where its space is smaller.
std::vector<Schedule> schedules(std::size_t count) {
  static const SearchSpace space(task());
  std::vector<Schedule> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(space.at(i * 7919 % space.size()));
  return result;
}

TaskSamples samples(std::size_t count) {
  const std::vector<Schedule> chosen = schedules(count);
  TaskSamples result{task().key(), feature_matrix(task(), chosen), {}};
  for (float log_time : analytic_log_times(task(), chosen)) result.seconds.push_back(std::exp(log_time));
  return result;
}

void extract_features(benchmark::State& state) {
  const Task of = task();
  const std::vector<Schedule> all = schedules(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(feature_matrix(of, all).data());
}
BENCHMARK(extract_features)->Arg(100000)->Unit(benchmark::kMillisecond)->UseRealTime();

void features_and_prediction(benchmark::State& state) {
  const Task of = task();
  const std::vector<Schedule> all = schedules(static_cast<std::size_t>(state.range(0)));
  const LearnedModel model = LearnedModel::train({samples(2000)}, {});
  for (auto _ : state) benchmark::DoNotOptimize(predict_schedules(model, of, all).data());
}
BENCHMARK(features_and_prediction)->Arg(100000)->Unit(benchmark::kMillisecond)->UseRealTime();

// As the model-guided search does each round.
void retrain(benchmark::State& state) {
  const TaskSamples rows = samples(static_cast<std::size_t>(state.range(0)));
  std::vector<float> labels;
  for (double seconds : rows.seconds) labels.push_back(static_cast<float>(-std::log(seconds)));
  for (auto _ : state) {
    BoostedTrees trees{TreeOptions{}};
    trees.train(rows.features, features().size(), labels, {});
  }
}
BENCHMARK(retrain)->Arg(2000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace redtune
