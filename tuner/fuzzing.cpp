#include "tuner/fuzzing.h"

#include <algorithm>

#include "space/search_space.h"
#include "support/rng.h"
#include "support/text.h"
#include "tuner/random_operator.h"

namespace redtune {
namespace {

constexpr std::int64_t kOptimizedEvery = 32, kAnySizeEvery = 4;
constexpr std::size_t kDraws = 6;  // of which the one with the shortest text is taken

std::string layout_of(const Tensor& input) {
  if (!input.is_row_major()) {
    const auto any = [&](auto test) { return std::any_of(input.strides.begin(), input.strides.end(), test); };
    if (any([](std::int64_t stride) { return stride < 0; })) return "reversed";
    return any([](std::int64_t stride) { return stride == 0; }) ? "broadcast" : "strided";
  }
  return input.offset > 0 ? "offset" : "dense";
}

std::int64_t unrolled(const Schedule& s) {
  return (std::int64_t{s.items} + s.acc) * s.rows * s.vec;
}

/// Of each run of `draws` schedules of one mapping the one with the least unrolled.
std::vector<Schedule> shortest_of(const std::vector<Schedule>& drawn, std::size_t draws) {
  std::vector<Schedule> chosen;
  for (std::size_t i = 0; i < drawn.size();) {
    std::size_t end = i, best = i;
    for (; end < drawn.size() && end < i + draws && drawn[end].mapping() == drawn[i].mapping(); ++end) {
      if (unrolled(drawn[end]) < unrolled(drawn[best])) best = end;
    }
    chosen.push_back(drawn[best]);
    i = end;
  }
  return chosen;
}

}  // namespace

FuzzStep fuzz_step(std::uint64_t seed, std::int64_t number, const Target& target, std::size_t per_mapping) {
  Rng rng(mix64(seed) + static_cast<std::uint64_t>(number));
  FuzzStep step;
  step.number = number;
  step.task = make_task(random_operator(rng), target);
  step.optimized = number % kOptimizedEvery == 0;
  const std::size_t draws = number % kAnySizeEvery == 0 ? 1 : kDraws;
  step.schedules = shortest_of(schedules_by_mapping(SearchSpace(step.task), per_mapping * draws, rng), draws);
  return step;
}

FuzzResult::FuzzResult(const FuzzStep& step, std::uint64_t seed)
    : number(step.number),
      form(step.task.canonical.form()),
      op(name(step.task.reduce_op())),
      dtype(name(step.task.input_dtype())),
      layout(layout_of(step.task.op.input())),
      optimized(step.optimized),
      tally(seed) {}

FuzzResult::FuzzResult(const Json& line, const std::string& origin) : tally(0) {
  JsonObject json(line, origin);
  number = json.get_int("number");
  form = json.get_string("form");
  op = json.get_string("op");
  dtype = json.get_string("dtype");
  layout = json.get_string("layout");
  optimized = json.get_bool("optimized", false);
  tally = VerifyTally(json.get_object("verdicts"));
  json.finish();
}

Json FuzzResult::json() const {
  return {{"number", number},       {"form", form},           {"op", op},
          {"dtype", dtype},         {"layout", layout},       {"optimized", optimized},
          {"verdicts", tally.json()}};
}

void FuzzTally::add(const FuzzResult& result) {
  const std::int64_t cases = result.tally.total().schedules;
  ++operators_;
  tally_.add(result.tally);
  counts_["forms"][result.form] += cases;
  counts_["operators"][result.op] += cases;
  counts_["dtypes"][result.dtype] += cases;
  counts_["layouts"][result.layout] += cases;
  counts_["compiled"][result.optimized ? "with optimization" : "without"] += cases;
}

std::string FuzzTally::text() const {
  std::string text;
  for (const auto& [property, counts] : counts_) {
    std::vector<std::string> parts;
    for (const auto& [word, count] : counts) parts.push_back(word + " " + format_count(count));
    text += property + std::string(10 - property.size(), ' ') + join(parts, ", ") + "\n";
  }
  return text + tally_.table();
}

Json FuzzTally::json() const {
  Json json = tally_.json();
  for (const auto& [property, counts] : counts_) json[property] = counts;
  return json;
}

}  // namespace redtune
