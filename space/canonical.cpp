#include "space/canonical.h"

#include <algorithm>
#include <limits>

#include "space/fusion.h"
#include "support/text.h"

namespace redtune {
namespace {

// A broadcast axis (stride 0) goes outermost: inside it, every other axis walks memory.
std::uint64_t distance_of(const Group& group) {
  if (group.stride == 0) return std::numeric_limits<std::uint64_t>::max();
  const auto bits = static_cast<std::uint64_t>(group.stride);
  return group.stride < 0 ? 0 - bits : bits;
}

// The operator's axes as groups in logical order, without unit axes.
std::vector<Group> axis_groups(const Operator& op, const FusedGroup* fused) {
  const Tensor& input = op.input();
  const std::vector<int>& axes = op.reduction().axes;
  std::vector<Group> groups;
  const bool positions = info(op.reduction().op).state == State::kArg;
  std::int64_t output_stride = 1, position_stride = 1;
  for (std::size_t i = input.shape.size(); i-- > 0;) {
    const std::int64_t extent = input.shape[i];
    if (extent == 1) continue;
    if (std::binary_search(axes.begin(), axes.end(), static_cast<int>(i))) {
      groups.push_back({Role::kReduced, extent, input.strides[i], 0, positions ? position_stride : 0, {}});
      position_stride *= std::max<std::int64_t>(1, extent);
    } else {
      groups.push_back({Role::kParallel, extent, input.strides[i], output_stride, 0, {}});
      output_stride *= std::max<std::int64_t>(1, extent);
    }
    if (fused == nullptr) continue;
    for (const FusedAccess& access : fused->accesses) groups.back().strides.push_back(access.strides[i]);
  }
  std::reverse(groups.begin(), groups.end());
  return groups;
}

// Whether `outer` continues where `inner` ends, so that one counter can run over both.
bool nests(std::int64_t outer_stride, const Group& inner, std::int64_t inner_stride) {
  std::int64_t span = 0;
  const std::int64_t steps = std::max<std::int64_t>(1, inner.extent);
  return !__builtin_mul_overflow(steps, inner_stride, &span) && outer_stride == span;
}

bool all_nest(const Group& outer, const Group& inner) {
  for (std::size_t i = 0; i < inner.strides.size(); ++i) {
    if (!nests(outer.strides[i], inner, inner.strides[i])) return false;
  }
  return nests(outer.stride, inner, inner.stride) && nests(outer.output_stride, inner, inner.output_stride) &&
         nests(outer.position_stride, inner, inner.position_stride);
}

Canonical coalesce(const Operator& op, const FusedGroup* fused) {
  std::vector<Group> axes = axis_groups(op, fused);
  // Loops follow memory, outermost the farthest; where the layout is row-major this changes nothing. The data
  // stays where it is: an output that is then written out of order says so in its strides.
  std::stable_sort(axes.begin(), axes.end(),
                   [](const Group& a, const Group& b) { return distance_of(a) > distance_of(b); });
  Canonical canonical;
  for (const Group& inner : axes) {
    if (!canonical.groups.empty()) {
      Group& outer = canonical.groups.back();
      if (outer.role == inner.role && all_nest(outer, inner)) {
        const std::int64_t steps = outer.extent * inner.extent;
        outer = inner;
        outer.extent = steps;
        continue;
      }
    }
    canonical.groups.push_back(inner);
  }
  const bool reduces = std::any_of(canonical.groups.begin(), canonical.groups.end(),
                                   [](const Group& group) { return group.role == Role::kReduced; });
  if (!reduces) {
    Group none{Role::kReduced, 1, 0, 0, 0, {}};
    if (fused != nullptr) none.strides.assign(fused->accesses.size(), 0);
    canonical.groups.insert(canonical.groups.begin(), none);
  }
  return canonical;
}

}  // namespace

Canonical coalesce(const Operator& op) { return coalesce(op, nullptr); }
Canonical coalesce(const Operator& nest, const FusedGroup& group) { return coalesce(nest, &group); }

std::string Canonical::form() const {
  std::string letters;
  for (const Group& group : groups) {
    const char letter = static_cast<char>(group.role);
    if (letters.empty() || letters.back() != letter) letters += letter;
  }
  return letters.empty() ? "P" : letters;
}

std::int64_t Canonical::parallel_size() const {
  std::int64_t size = 1;
  for (const Group& group : groups) size *= group.role == Role::kParallel ? group.extent : 1;
  return size;
}

std::int64_t Canonical::reduced_size() const {
  std::int64_t size = 1;
  for (const Group& group : groups) size *= group.role == Role::kReduced ? group.extent : 1;
  return size;
}

bool Canonical::inner_is_reduced() const { return !groups.empty() && groups.back().role == Role::kReduced; }

std::int64_t Canonical::inner_extent() const { return groups.empty() ? 1 : groups.back().extent; }

std::string Canonical::text() const {
  std::vector<std::string> parts;
  for (const Group& group : groups) {
    const std::string extent = std::to_string(group.extent);
    parts.push_back(group.role == Role::kReduced ? "[" + extent + "]" : extent);
  }
  return form() + (parts.empty() ? "" : " ") + join(parts, ",");
}

}  // namespace redtune
