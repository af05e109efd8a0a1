#include "measure/reduction_walk.h"

namespace redtune {
namespace {

std::int64_t distance_of(const WalkLoop& loop) { return loop.stride < 0 ? -loop.stride : loop.stride; }

bool continues(const WalkLoop& outer, const WalkLoop& inner) {
  return outer.stride == inner.extent * inner.stride &&
         outer.result_stride == inner.extent * inner.result_stride;
}

// Drops loops of one step, orders the others by falling stride (all that is the same in every order: the
// result's place travels along) and makes one of two where the outer goes on where the inner ends.
std::vector<WalkLoop> tidy(std::vector<WalkLoop> loops) {
  std::erase_if(loops, [](const WalkLoop& loop) { return loop.extent == 1; });
  std::stable_sort(loops.begin(), loops.end(),
                   [](const WalkLoop& a, const WalkLoop& b) { return distance_of(a) > distance_of(b); });
  std::vector<WalkLoop> result;
  for (const WalkLoop& loop : loops) {
    if (!result.empty() && continues(result.back(), loop)) {
      result.back() = {result.back().extent * loop.extent, loop.stride, loop.result_stride};
    } else {
      result.push_back(loop);
    }
  }
  if (result.empty()) result.push_back({1, 0, 0});
  return result;
}

}  // namespace

WalkLoops walk_loops(const Operator& op) {
  const Tensor& input = op.input();
  const std::vector<int>& axes = op.reduction().axes;
  const bool positions = info(op.reduction().op).state == State::kArg;
  WalkLoops loops;
  for (std::size_t i = input.shape.size(); i-- > 0;) {
    const std::int64_t extent = input.shape[i];
    if (std::binary_search(axes.begin(), axes.end(), static_cast<int>(i))) {
      loops.reduced.insert(loops.reduced.begin(), {extent, input.strides[i], positions ? loops.length : 0});
      loops.length *= extent;
    } else {
      loops.kept.insert(loops.kept.begin(), {extent, input.strides[i], loops.outputs});
      loops.outputs *= extent;
    }
  }
  loops.kept = tidy(std::move(loops.kept));
  loops.reduced = tidy(std::move(loops.reduced));
  const WalkLoop &kept = loops.kept.back(), &reduced = loops.reduced.back();
  loops.columns = kept.extent > 1 && (reduced.extent == 1 || distance_of(kept) < distance_of(reduced));
  return loops;
}

WalkPlace walk_place(const std::vector<WalkLoop>& loops, std::size_t depth, std::int64_t flat) {
  WalkPlace place;
  for (std::size_t i = depth; i-- > 0;) {
    const std::int64_t step = i == 0 ? flat : flat % loops[i].extent;
    if (i > 0) flat /= loops[i].extent;
    place.storage += step * loops[i].stride;
    place.result += step * loops[i].result_stride;
  }
  return place;
}

}  // namespace redtune
