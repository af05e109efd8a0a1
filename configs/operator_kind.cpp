#include "configs/operator_kind.h"

#include <algorithm>
#include <cmath>

namespace redtune {

std::string operator_kind(const Operator& op, const Canonical& canonical) {
  if (op.graph) return op.key();  // sizes alone tell nothing of statements
  std::string kind(name(op.reduction().op));
  for (DType type : {op.input().dtype, op.reduction().accumulator, op.output().dtype})
    kind += "," + std::string(name(type));
  kind += ",";
  for (const Group& group : canonical.groups) {
    kind += static_cast<char>(group.role);
    if (group.stride == 0) kind += '0';
  }
  const bool dense = !canonical.groups.empty() && canonical.groups.back().stride == 1;
  return kind + (dense ? ",dense" : ",gaps");
}

std::string range_kind(const Operator& op, const Canonical& canonical) {
  if (op.graph || !op.input().is_row_major() || op.input().offset != 0) return "";
  return operator_kind(op, canonical) + (op.determinism == Determinism::kRunToRun ? ",run_to_run" : "");
}

std::vector<std::int64_t> extents_of(const Canonical& canonical) {
  std::vector<std::int64_t> extents;
  for (const Group& group : canonical.groups) extents.push_back(group.extent);
  return extents;
}

std::vector<double> log_sizes(const Canonical& canonical) {
  std::vector<double> sizes;
  for (std::int64_t extent : extents_of(canonical)) {
    sizes.push_back(std::log2(static_cast<double>(std::max<std::int64_t>(1, extent))));
  }
  return sizes;
}

double squared_gap(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace redtune
