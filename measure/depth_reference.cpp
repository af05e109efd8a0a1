#include "measure/depth_reference.h"

namespace redtune {

DepthReference::DepthReference(const Operator& op, const std::vector<unsigned char>& input)
    : reference_(compute_reference(op, input, 1)) {
  of_storage_ = compute_reference(op, input, 0).tolerance;
  of_depth_ = reference_.tolerance;
  for (std::size_t i = 0; i < of_depth_.size(); ++i) of_depth_[i] -= of_storage_[i];
}

const Reference& DepthReference::at(std::int64_t depth) {
  for (std::size_t i = 0; i < of_depth_.size(); ++i) {
    reference_.tolerance[i] = of_storage_[i] + static_cast<double>(depth) * of_depth_[i];
  }
  return reference_;
}

}  // namespace redtune
