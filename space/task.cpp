#include "space/task.h"

#include <limits>
#include <utility>

namespace redtune {

bool Task::needs_64bit_index() const {
  // Partials are bounded by the input: every one of them has read an element of its own, or there is one per
  // output.
  constexpr std::int64_t kMax32 = std::numeric_limits<std::int32_t>::max();
  return op.input().storage_elements() - 1 > kMax32 || op.input().elements() - 1 > kMax32 ||
         op.output().elements() - 1 > kMax32;
}

double Task::compulsory_bytes() const {
  // A broadcast element is read once, a gap between rows never.
  double elements = static_cast<double>(op.input().elements());
  for (std::size_t i = 0; i < op.input().shape.size(); ++i) {
    if (op.input().strides[i] == 0 && op.input().shape[i] > 1)
      elements /= static_cast<double>(op.input().shape[i]);
  }
  return elements * bytes_of(input_dtype()) +
         static_cast<double>(op.output().elements()) * bytes_of(output_dtype());
}

std::string Task::key() const { return op.key() + " @ " + target.name; }

Task make_task(Operator op, Target target) {
  Canonical canonical = coalesce(op);
  return {std::move(op), std::move(canonical), std::move(target)};
}

}  // namespace redtune
