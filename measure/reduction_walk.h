// Walks an operator's input for the reference: every element once, on all cores, memory in order where the
// layout allows it. Knows the operator's own axes and strides only: nothing of the canonical form that
// kernels are made from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "measure/elements.h"
#include "measure/parallel.h"
#include "space/operator.h"
#include "support/integers.h"

namespace redtune {

/// One loop: `extent` steps of `stride` storage elements; for a kept axis also of `result_stride` outputs,
/// for a reduced one, where the answer is a position, of as many steps of the row-major reduced index.
struct WalkLoop {
  std::int64_t extent, stride, result_stride;
};

struct WalkPlace {
  std::int64_t storage = 0, result = 0;
};

struct WalkLoops {
  std::vector<WalkLoop> kept, reduced;  // the innermost, last, has the smallest stride; never empty
  std::int64_t outputs = 1, length = 1;
  bool columns = false;  // neighbouring outputs lie closer in memory than the elements of one output
};

WalkLoops walk_loops(const Operator& op);

/// Where step `flat` of the first `depth` loops lies.
WalkPlace walk_place(const std::vector<WalkLoop>& loops, std::size_t depth, std::int64_t flat);

/// Reduces with accumulators of type `A` (measure/accumulators.h; those with take_at are told the position of
/// each element) and calls finish(output, accumulator) once per output, from any thread. `storage` is where
/// position 0 lies.
template <typename A>
class ReductionWalk {
 public:
  ReductionWalk(const Operator& op, const unsigned char* storage)
      : loops_(walk_loops(op)), input_(op.input()), storage_(storage) {
    const WalkLoop& last = loops_.kept.back();
    width_ = loops_.columns ? std::min(last.extent, kBlock) : 1;
    blocks_ = loops_.columns ? (last.extent + width_ - 1) / width_ : 1;
    items_ =
        loops_.columns ? loops_.outputs / std::max<std::int64_t>(1, last.extent) * blocks_ : loops_.outputs;
  }

  template <typename Finish>
  void run(const Finish& finish) const {
    if (loops_.outputs == 0) return;
    const std::int64_t work = std::max<std::int64_t>(1, width_ * loops_.length);
    const std::int64_t wanted = ceil_div(std::int64_t{4} * host_cores(), items_);
    const std::int64_t pieces = std::min({wanted, ceil_div(work, kGrain), loops_.length});
    if (pieces > 1) return run_in_pieces(pieces, finish);
    parallel_pieces(items_, std::max<std::int64_t>(1, kGrain / work),
                    [&](std::int64_t begin, std::int64_t end) {
                      std::vector<A> accumulators;
                      std::vector<Value> scratch(kBlock);
                      for (std::int64_t item = begin; item < end; ++item) {
                        accumulators.assign(static_cast<std::size_t>(width_), A{});
                        reduce(item, 0, loops_.length, accumulators, scratch);
                        hand_over(item, accumulators, finish);
                      }
                    });
  }

 private:
  using Value = typename A::Value;
  static constexpr std::int64_t kBlock = 512;    // accumulators and values that stay in the first cache
  static constexpr std::int64_t kGrain = 65536;  // elements that are worth a change of hands

  // Few outputs: the elements of each are shared out too.
  template <typename Finish>
  void run_in_pieces(std::int64_t pieces, const Finish& finish) const {
    std::vector<std::vector<A>> parts(static_cast<std::size_t>(items_ * pieces),
                                      std::vector<A>(static_cast<std::size_t>(width_)));
    parallel_for(items_ * pieces, [&](std::int64_t part) {
      std::vector<Value> scratch(kBlock);
      const std::int64_t piece = part % pieces, length = loops_.length;
      const std::int64_t step = length / pieces, rest = length % pieces;
      const std::int64_t begin = piece * step + std::min(piece, rest);
      const std::int64_t end = begin + step + (piece < rest ? 1 : 0);
      reduce(part / pieces, begin, end, parts[static_cast<std::size_t>(part)], scratch);
    });
    for (std::int64_t item = 0; item < items_; ++item) {
      std::vector<A>& first = parts[static_cast<std::size_t>(item * pieces)];
      for (std::int64_t piece = 1; piece < pieces; ++piece) {
        const std::vector<A>& other = parts[static_cast<std::size_t>(item * pieces + piece)];
        for (std::size_t j = 0; j < first.size(); ++j) first[j].merge(other[j]);
      }
      hand_over(item, first, finish);
    }
  }

  std::int64_t width_of(std::int64_t item) const {
    return loops_.columns ? std::min(width_, loops_.kept.back().extent - item % blocks_ * width_) : 1;
  }

  // First output of an item; the others follow along the last kept loop.
  WalkPlace place_of(std::int64_t item) const {
    if (!loops_.columns) return walk_place(loops_.kept, loops_.kept.size(), item);
    WalkPlace place = walk_place(loops_.kept, loops_.kept.size() - 1, item / blocks_);
    const WalkLoop& last = loops_.kept.back();
    const std::int64_t skipped = item % blocks_ * width_;
    place.storage += skipped * last.stride;
    place.result += skipped * last.result_stride;
    return place;
  }

  // Takes the elements [begin, end) of the flat reduced index, in runs along the last reduced loop.
  void reduce(std::int64_t item, std::int64_t begin, std::int64_t end, std::vector<A>& to,
              std::vector<Value>& scratch) const {
    const std::int64_t start = input_.offset + place_of(item).storage, width = width_of(item);
    const WalkLoop& inner = loops_.reduced.back();
    while (begin < end) {
      const std::int64_t skipped = begin % inner.extent;
      const std::int64_t count = std::min(inner.extent - skipped, end - begin);
      const WalkPlace outer = walk_place(loops_.reduced, loops_.reduced.size() - 1, begin / inner.extent);
      const std::int64_t first = start + outer.storage + skipped * inner.stride;
      const std::int64_t position = outer.result + skipped * inner.result_stride;
      if (loops_.columns)
        take_columns(first, position, count, width, to.data(), scratch.data());
      else
        take_row(first, position, count, to.front(), scratch.data());
      begin += count;
    }
  }

  static constexpr bool kPositions = requires(A & a, Value x) { a.take_at(x, std::int64_t{}); };

  void take_row(std::int64_t first, std::int64_t position, std::int64_t count, A& to, Value* scratch) const {
    const std::int64_t stride = loops_.reduced.back().stride, step = loops_.reduced.back().result_stride;
    for (std::int64_t done = 0; done < count; done += kBlock) {
      const std::int64_t n = std::min(kBlock, count - done);
      load_elements(input_.dtype, storage_, first + done * stride, stride, n, scratch);
      if constexpr (kPositions) {
        for (std::int64_t i = 0; i < n; ++i) to.take_at(scratch[i], position + (done + i) * step);
      } else {
        to.take_run(scratch, n);
      }
    }
  }

  void take_columns(std::int64_t first, std::int64_t position, std::int64_t count, std::int64_t width, A* to,
                    Value* scratch) const {
    for (std::int64_t r = 0; r < count; ++r, position += loops_.reduced.back().result_stride) {
      load_elements(input_.dtype, storage_, first + r * loops_.reduced.back().stride,
                    loops_.kept.back().stride, width, scratch);
      for (std::int64_t j = 0; j < width; ++j) {
        if constexpr (kPositions)
          to[j].take_at(scratch[j], position);
        else
          to[j].take(scratch[j]);
      }
    }
  }

  template <typename Finish>
  void hand_over(std::int64_t item, const std::vector<A>& accumulators, const Finish& finish) const {
    std::int64_t output = place_of(item).result;
    for (std::int64_t j = 0; j < width_of(item); ++j) {
      finish(output, accumulators[static_cast<std::size_t>(j)]);
      output += loops_.columns ? loops_.kept.back().result_stride : 0;
    }
  }

  WalkLoops loops_;
  const Tensor& input_;
  const unsigned char* storage_;
  std::int64_t width_ = 1, blocks_ = 1, items_ = 1;
};

}  // namespace redtune
