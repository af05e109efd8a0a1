// Cost of a search space: building it, taking schedules from it, explaining one.
#include <benchmark/benchmark.h>

#include <string>

#include "space/heuristic.h"
#include "space/search_space.h"

namespace redtune {
namespace {

struct Case {
  const char* shape;
  const char* axes;
  const char* target;
};

constexpr Case kCases[] = {
    {"4096x1024", "1", "cpu"},   {"21128x768", "0", "cpu"},   {"16777216", "", "cpu"},
    {"4096x1024", "1", "sm_90"}, {"21128x768", "0", "sm_90"}, {"16777216", "", "sm_90"},
};

Task task_of(const Case& c) {
  ShortForm form;
  form.shape = c.shape;
  form.axes = c.axes;
  return make_task(operator_from_short_form(form), load_target(c.target));
}

std::string label(const Case& c, std::size_t schedules) {
  return std::string(c.shape) + " axes=" + c.axes + " " + c.target + ": " + std::to_string(schedules) +
         " schedules";
}

void build(benchmark::State& state) {
  const Case& c = kCases[state.range(0)];
  const Task task = task_of(c);
  std::size_t schedules = 0;
  for (auto _ : state) {
    const SearchSpace space(task);
    schedules = space.size();
    benchmark::DoNotOptimize(space.codes().data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(schedules));
  state.SetLabel(label(c, schedules));
}
BENCHMARK(build)->DenseRange(0, std::size(kCases) - 1)->Unit(benchmark::kMillisecond);

void sample_and_decode(benchmark::State& state) {
  const SearchSpace space(task_of(kCases[state.range(0)]));
  Rng rng(1);
  for (auto _ : state) {
    Schedule schedule = space.at(space.sample(rng));
    benchmark::DoNotOptimize(schedule);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sample_and_decode)->Arg(0)->Arg(4);

void find(benchmark::State& state) {
  const SearchSpace space(task_of(kCases[state.range(0)]));
  const Schedule wanted = space.at(space.size() / 3);
  for (auto _ : state) benchmark::DoNotOptimize(space.find(wanted));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(find)->Arg(0)->Arg(4);

void neighbours(benchmark::State& state) {
  const SearchSpace space(task_of(kCases[state.range(0)]));
  Rng rng(1);
  for (auto _ : state) benchmark::DoNotOptimize(space.neighbours(space.sample(rng)));
}
BENCHMARK(neighbours)->Arg(0)->Arg(4)->Unit(benchmark::kMicrosecond);

void why_not(benchmark::State& state) {
  const SearchSpace space(task_of(kCases[4]));
  const Schedule wrong = parse_schedule("block=tree rx=64 px=64");
  for (auto _ : state) benchmark::DoNotOptimize(space.why_not(wrong));
}
BENCHMARK(why_not)->Unit(benchmark::kMicrosecond);

void heuristic(benchmark::State& state) {
  const Task task = task_of(kCases[state.range(0)]);
  for (auto _ : state) benchmark::DoNotOptimize(default_schedule(task));
}
BENCHMARK(heuristic)->Arg(0)->Arg(4)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace redtune
