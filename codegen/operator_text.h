// How the emitter spells what an operator does to its partial results: numbers by the macros of the preludes,
// states of several members by those of codegen/device/states.*. Lane counts are those of the preludes: 1, 2,
// 4, 8, 16.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "codegen/fused_text.h"
#include "codegen/plan.h"

namespace redtune {

class OperatorText {
 public:
  explicit OperatorText(const KernelPlan& plan);

  bool is_number() const { return info(plan_.op).state == State::kValue && !plan_.joint(); }
  /// A partial result of n lanes, and one lane where it is kept in memory.
  std::string type(int n) const;
  std::string stored_type() const;
  /// What `input` points to: elements, or the partial results of another kernel.
  std::string input_type() const;
  std::string identity(int n) const;
  std::string combine(int n, const std::string& a, const std::string& b) const;
  /// All lanes of `value` as one.
  std::string fold(int n, const std::string& value) const;
  std::string lane(int n, const std::string& value, int i) const;
  /// A statement.
  std::string set_lane(int n, const std::string& target, int i, const std::string& value) const;

  /// Statement: n elements behind `pointer` combined into `target`; where lanes along the reduced axis hold
  /// elements of a position, lane i has `position` + i * `step`.
  std::string take(int n, const std::string& target, const std::string& pointer, const Expr& position) const;
  /// Statement: the elements that a fused body has computed at `s`, a load of n lanes, combined into `target`.
  std::string take_fused(int n, const std::string& target, const FusedText& fused, const PlanStatement& s) const;
  /// The finished results of `value`, one per reduction of the group.
  std::vector<std::string> finished(int n, const std::string& value) const;

  /// The same of the lanes from `first_lane` on.
  std::string take_from(int n, const std::string& target, const std::string& pointer, const Expr& position,
                        const Expr& first_lane) const;

  /// The last step: `value` as a result of type finished_type.
  std::string finish(int n, const std::string& value) const;
  std::string finished_word() const;
  /// Statements: n lanes of a number added to what `pointer` points to, in global and (one lane) in shared memory.
  std::string atomic(int n, const std::string& pointer, const std::string& value) const;
  std::string shared_atomic(const std::string& pointer, const std::string& value) const;
  /// Statement: value and position added to a packed one.
  std::string packed_atomic(const std::string& pointer, const std::string& value) const;
  /// A value of all lanes of a warp, by its own instruction.
  std::string redux(const std::string& value) const;

  std::string peek(const std::string& pointer) const;
  /// Statement.
  std::string store_partial(const std::string& pointer, const std::string& value) const;
  std::string scratch(const std::string& name, int threads) const;
  std::string shuffle_down(const std::string& value, int delta, int width, int threads,
                           const std::string& scratch, const std::string& thread) const;

 private:
  std::string joint_call(const std::string& name, int n, const std::string& arguments) const;
  /// A state of one value per member.
  std::string joint(const std::string& type, const std::function<std::string(const FusedMember&)>& member) const;
  std::string words(int n) const;  // "argmax, f32, 4"
  std::string load(int n, const std::string& pointer) const;
  std::string step() const;

  const KernelPlan& plan_;
  const std::string op_, acc_, in_;
};

/// The lines that a program needs in front of its kernels: a state's types and functions. Empty for numbers.
std::string operator_declarations(const KernelPlan& plan);

/// C text of a constant: "RT_CONST(f32, 0x3f800000)".
std::string constant_text(DType type, std::uint64_t bits);

}  // namespace redtune
