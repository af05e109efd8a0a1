// How the emitter spells a fused group: its operands' loads, the elementwise functions of its body and tail,
// the partial results of several reductions as one state, and its stores. Macros are those of
// codegen/device/elementwise.*.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/plan.h"

namespace redtune {

/// Tensors that a kernel of `group` takes as arguments, in this order: what it reads, then what it writes.
std::vector<std::string> fused_arguments(const FusedGroup& group, bool body, bool tail);

class FusedText {
 public:
  /// `plan.fused` must not be null.
  explicit FusedText(const KernelPlan& plan);

  /// "RT_GLOBAL const rt_f16* RT_RESTRICT x0": as fused_arguments orders them.
  std::vector<std::string> parameters() const;

  /// Lines: body values of n lanes at the point of `s`, and what the body stores.
  std::vector<std::string> body(int n, const PlanStatement& s) const;
  /// The element of a reduction as its accumulator takes it.
  std::string element(int n, int reduction) const;
  /// The same; lanes below `first_lane` replaced by the identity.
  std::string element_from(int n, int reduction, const Expr& first_lane) const;

  /// Lines: tail values of n lanes at the output of `s` and their stores, lanes below first_lane left to a
  /// neighbour; `results` are texts of the finished results, in the type of their last step.
  std::vector<std::string> tail(int n, const PlanStatement& s, const std::vector<std::string>& results) const;
  /// Where the first tail store goes.
  std::string output_pointer() const;

 private:
  std::vector<std::string> nodes(int n, const PlanStatement& s, const std::vector<bool>& wanted,
                                 const std::vector<std::string>& results) const;
  std::string load(int n, int access, const PlanStatement& s, std::vector<std::string>& lines,
                   const std::string& name) const;
  std::vector<std::string> store(int n, const FusedStore& store, const PlanStatement& s) const;
  std::string pointer(int access, const Expr& offset) const;
  std::string argument(const std::string& tensor) const;
  std::string call(int n, const FusedNode& node) const;
  std::int64_t lane_stride(int access) const;
  bool aligned(int n, int access) const;

  const KernelPlan& plan_;
  const FusedGroup& g_;
  std::vector<std::string> tensors_;
  std::vector<bool> body_, tail_;
};

/// Name of the variable of a node.
std::string fused_value(int node);

/// Partial results of several reductions: the type of their members ("f32"), in the order of the members.
struct FusedMember {
  int reduction = 0;
  std::string op, word;
  DType type = DType::kF32;  // of `word`
};
std::vector<FusedMember> fused_members(const FusedGroup& group);

/// Types and functions of a joint state of n lanes, and what the last block reads with.
std::string fused_state_declarations(const KernelPlan& plan, int n);

}  // namespace redtune
