#include "tuner/random_operator.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "support/error.h"

namespace redtune {
namespace {

using Sizes = std::vector<std::int64_t>;

bool chance(Rng& rng, double probability) { return rng.uniform() < probability; }

std::int64_t random_size(Rng& rng, std::int64_t most) {
  constexpr std::int64_t kSizes[] = {1,  1,  2,  3,  4,  5,   7,   8,   9,    15,   16,  17,
                                     31, 33, 49, 64, 65, 100, 131, 257, 1000, 1025, 4097};
  for (;;) {
    const std::int64_t size = kSizes[rng.below(std::size(kSizes))];
    if (size <= most) return size;
  }
}

Sizes random_shape(Rng& rng, const RandomOperatorRules& rules) {
  Sizes shape(rng.below(static_cast<std::uint64_t>(rules.most_axes) + 1));
  std::int64_t left = rules.most_elements;
  for (std::int64_t& size : shape) {
    size = random_size(rng, std::max<std::int64_t>(left, 1));
    left /= size;
  }
  for (std::size_t i = shape.size(); i > 1; --i) std::swap(shape[i - 1], shape[rng.below(i)]);
  return shape;
}

/// Strides of a dense or padded array whose axes lie in memory in a random order (or their own).
Sizes random_strides(Rng& rng, const Sizes& shape) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (chance(rng, 0.5)) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  }
  const bool gaps = chance(rng, 0.4);
  Sizes strides(shape.size());
  std::int64_t step = gaps && chance(rng, 0.3) ? 2 : 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = step;
    step *= shape[order[i]] + (gaps && chance(rng, 0.5) ? static_cast<std::int64_t>(1 + rng.below(5)) : 0);
  }
  for (std::int64_t& stride : strides) {
    if (chance(rng, 0.1)) stride = 0;
    if (chance(rng, 0.15)) stride = -stride;
  }
  return strides;
}

/// The least offset at which negative strides stay inside the storage.
std::int64_t least_offset(const Sizes& shape, const Sizes& strides) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < shape.size(); ++i)
    offset += std::max<std::int64_t>(-strides[i] * (shape[i] - 1), 0);
  return offset;
}

Json random_json(Rng& rng, const RandomOperatorRules& rules) {
  Json json = Json::object();
  json["op"] = kReduceOps[rng.below(kReduceOps.size())].name;
  json["dtype"] = kDTypes[rng.below(kDTypes.size())].name;
  const Sizes shape = random_shape(rng, rules);
  json["shape"] = shape;
  std::vector<int> axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (chance(rng, 0.5)) axes.push_back(static_cast<int>(i));
  }
  if (!chance(rng, 0.1)) json["axes"] = axes;
  std::int64_t offset = chance(rng, 0.2) ? static_cast<std::int64_t>(rng.below(18)) : 0;
  if (chance(rng, 0.4)) {
    const Sizes strides = random_strides(rng, shape);
    json["strides"] = strides;
    offset += least_offset(shape, strides);
  }
  if (offset > 0) json["offset"] = offset;
  if (chance(rng, 0.4)) json["out"] = kDTypes[rng.below(kDTypes.size())].name;
  if (chance(rng, 0.1)) json["keepdims"] = true;
  if (chance(rng, 0.1)) json["determinism"] = name(Determinism::kRunToRun);
  return json;
}

}  // namespace

Operator random_operator(Rng& rng, const RandomOperatorRules& rules) {
  for (;;) {
    const Json json = random_json(rng, rules);
    try {
      Operator op = parse_operator(json, "random operator");
      if (op.input().storage_elements() <= rules.most_elements) return op;
    } catch (const UserError&) {
      // No such operator: a result type that does not go with the input, say.
    }
  }
}

}  // namespace redtune
