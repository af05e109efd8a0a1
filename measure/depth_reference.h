// The reference answer of one input for every schedule: values once, tolerances by depth.
#pragma once

#include <vector>

#include "measure/reference.h"

namespace redtune {

/// The tolerance is a line in the depth: two points of it, found once, serve every schedule.
class DepthReference {
 public:
  DepthReference(const Operator& op, const std::vector<unsigned char>& input);

  /// The reference for that depth; overwritten by the next call. Cost: one pass over the outputs.
  const Reference& at(std::int64_t depth);

 private:
  Reference reference_;
  std::vector<double> of_depth_, of_storage_;
};

}  // namespace redtune
