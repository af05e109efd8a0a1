#include "codegen/operator_text.h"

#include <array>
#include <cstdio>
#include <limits>

#include "codegen/number_text.h"
#include "support/text.h"

namespace redtune {
namespace {

std::string call(const char* macro, const std::string& arguments) {
  return std::string(macro) + "(" + arguments + ")";
}

}  // namespace

std::string constant_text(DType type, std::uint64_t bits) {
  std::array<char, 24> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "0x%llx", static_cast<unsigned long long>(bits));
  return "RT_CONST(" + std::string(name(type)) + ", " + buffer.data() + ")";
}

OperatorText::OperatorText(const KernelPlan& plan)
    : plan_(plan), op_(info(plan.op).combine), acc_(name(plan.accumulator)), in_(name(plan.input)) {}

/// rt_state_combine_4(a, b)
std::string OperatorText::joint_call(const std::string& name, int n, const std::string& arguments) const {
  return plan_.state + "_" + name + "_" + num(n) + "(" + arguments + ")";
}

std::string OperatorText::words(int n) const { return op_ + ", " + acc_ + ", " + num(n); }

std::string OperatorText::type(int n) const {
  if (plan_.joint()) return plan_.state + "_" + num(n);
  return is_number() ? "RT_VEC(" + acc_ + ", " + num(n) + ")" : call("RT_STATE", words(n));
}

std::string OperatorText::stored_type() const { return is_number() ? "rt_" + acc_ : type(1); }

std::string OperatorText::input_type() const {
  if (plan_.reads_packed) return "rt_u64";
  return plan_.reads_states ? stored_type() : "rt_" + in_;
}

std::string OperatorText::identity(int n) const {
  if (plan_.joint()) return joint_call("identity", n, "");
  if (!is_number()) return call("RT_STATE_IDENTITY", words(n));
  return n == 1 ? "rt_id" : "RT_SPLAT(" + acc_ + ", " + num(n) + ", rt_id)";
}

std::string OperatorText::combine(int n, const std::string& a, const std::string& b) const {
  if (plan_.joint()) return joint_call("combine", n, a + ", " + b);
  return call(is_number() ? "RT_COMBINE" : "RT_STATE_COMBINE", words(n) + ", " + a + ", " + b);
}

std::string OperatorText::fold(int n, const std::string& value) const {
  if (n == 1) return value;
  if (plan_.joint()) return joint_call("fold", n, value);
  return call(is_number() ? "RT_FOLD" : "RT_STATE_FOLD", words(n) + ", " + value);
}

std::string OperatorText::lane(int n, const std::string& value, int i) const {
  if (plan_.joint()) {
    return joint(type(1), [&](const FusedMember& m) {
      return "RT_LANE(" + m.word + ", " + num(n) + ", (" + value + ").m" + num(m.reduction) + ", " + num(i) + ")";
    });
  }
  const std::string rest = ", " + value + ", " + num(i);
  return is_number() ? "RT_LANE(" + acc_ + ", " + num(n) + rest + ")"
                     : call("RT_STATE_LANE", words(n) + rest);
}

std::string OperatorText::set_lane(int n, const std::string& target, int i, const std::string& value) const {
  if (plan_.joint()) {
    std::string text = "{ const " + type(1) + " s = " + value + ";";
    for (const FusedMember& m : fused_members(*plan_.fused)) {
      const std::string member = ".m" + num(m.reduction);
      text += " RT_SET_LANE(" + m.word + ", " + num(n) + ", " + target + member + ", " + num(i) + ", s" + member + ");";
    }
    return text + " }";
  }
  const std::string rest = ", " + target + ", " + num(i) + ", " + value;
  return (is_number() ? "RT_SET_LANE(" + acc_ + ", " + num(n) + rest + ")"
                      : call("RT_STATE_SET_LANE", words(n) + rest)) +
         ";";
}

std::string OperatorText::load(int n, const std::string& pointer) const {
  const bool truth = info(plan_.op).arithmetic == Arithmetic::kTruth;
  const std::string lanes = ", " + num(n) + ", ";
  const std::string value = call(plan_.unaligned_loads ? "RT_LOAD_UNALIGNED" : "RT_LOAD",
                                 in_ + ", " + (truth ? in_ : acc_) + lanes + pointer);
  return truth ? "RT_TRUTH(" + in_ + lanes + value + ")" : value;
}

std::string OperatorText::step() const {
  const bool along = plan_.axes.row_type && !plan_.axes.inner_groups.empty();
  return num(along ? plan_.axes.inner_groups.back().position_stride : 0);
}

std::string OperatorText::take(int n, const std::string& target, const std::string& pointer,
                               const Expr& position) const {
  if (plan_.reads_packed) {
    return target + " = " + combine(n, target, "RT_UNPACK(" + op_ + ", " + acc_ + ", *(" + pointer + "))") + ";";
  }
  if (plan_.reads_states && !is_number()) return target + " = " + combine(n, target, "*(" + pointer + ")") + ";";
  const std::string value =
      "{ const RT_VEC(" + acc_ + ", " + num(n) + ") v = " + load(n, pointer) + "; " + target + " = ";
  if (is_number()) return value + combine(n, target, "v") + "; }";
  return value + call("RT_STATE_TAKE", words(n) + ", " + target + ", v, " + position.text() + ", " + step()) +
         "; }";
}

std::string OperatorText::take_from(int n, const std::string& target, const std::string& pointer,
                                    const Expr& position, const Expr& first_lane) const {
  std::string value = load(n, pointer);
  if (is_number()) {
    value = "RT_KEEP_FROM(" + acc_ + ", " + num(n) + ", " + value + ", " + first_lane.text() + ", rt_id)";
  } else {
    value = call("RT_STATE_LIFT", words(n) + ", " + value + ", " + position.text() + ", " + step());
    value = call("RT_STATE_KEEP_FROM", words(n) + ", " + value + ", " + first_lane.text());
  }
  return "{ const " + type(n) + " v = " + value + "; " + target + " = " + combine(n, target, "v") + "; }";
}

std::string OperatorText::joint(const std::string& type, const std::function<std::string(const FusedMember&)>& member) const {
  std::vector<std::string> values;
  for (const FusedMember& m : fused_members(*plan_.fused)) values.push_back(member(m));
  return "RT_F_BUILD(" + type + ", " + join(values, ", ") + ")";
}

std::string OperatorText::take_fused(int n, const std::string& target, const FusedText& fused,
                                     const PlanStatement& s) const {
  const bool masked = s.kind == PlanStatement::Kind::kMaskedTail;
  const auto element = [&](int reduction) {
    return masked && (plan_.joint() || is_number()) ? fused.element_from(n, reduction, s.first_lane) : fused.element(n, reduction);
  };
  if (plan_.joint()) {
    const std::string state = joint(type(n), [&](const FusedMember& m) { return element(m.reduction); });
    return "{ const " + type(n) + " v = " + state + "; " + target + " = " + combine(n, target, "v") + "; }";
  }
  const std::string value = "{ const RT_VEC(" + acc_ + ", " + num(n) + ") v = " + element(0) + "; " + target + " = ";
  if (is_number()) return value + combine(n, target, "v") + "; }";
  if (!masked) return value + call("RT_STATE_TAKE", words(n) + ", " + target + ", v, " + s.position.text() + ", " + step()) + "; }";
  std::string state = call("RT_STATE_LIFT", words(n) + ", v, " + s.position.text() + ", " + step());
  state = call("RT_STATE_KEEP_FROM", words(n) + ", " + state + ", " + s.first_lane.text());
  return value + combine(n, target, state) + "; }";
}

std::vector<std::string> OperatorText::finished(int n, const std::string& value) const {
  if (!plan_.joint()) return {finish(n, value)};
  std::vector<std::string> results;
  for (std::size_t i = 0; i < plan_.fused->reductions.size(); ++i) {
    const FusedReduction& r = plan_.fused->reductions[i];
    const std::string member = value + ".m" + num(static_cast<std::int64_t>(i));
    if (!finishes(r.op)) {
      results.push_back(member);
      continue;
    }
    const double divisor = static_cast<double>(plan_.count);
    results.push_back("RT_MEAN(" + std::string(name(r.accumulator)) + ", " + num(n) + ", " + member + ", " +
                      constant_text(r.accumulator, number_bits(r.accumulator, divisor)) + ")");
  }
  return results;
}

std::string OperatorText::finished_word() const {
  return std::string(name(finished_type(plan_.op, plan_.accumulator)));
}

std::string OperatorText::finish(int n, const std::string& value) const {
  if (!finishes(plan_.op)) return value;
  const std::int64_t left = plan_.count - plan_.ddof;
  const double divisor = left > 0 ? static_cast<double>(left) : std::numeric_limits<double>::quiet_NaN();
  const std::string constant = constant_text(plan_.accumulator, number_bits(plan_.accumulator, divisor));
  if (is_number()) return "RT_MEAN(" + acc_ + ", " + num(n) + ", " + value + ", " + constant + ")";
  return call("RT_STATE_FINISH", words(n) + ", " + value + ", " + constant);
}

std::string OperatorText::atomic(int n, const std::string& pointer, const std::string& value) const {
  if (n == 1) return "RT_ATOMIC(" + op_ + ", " + acc_ + ", " + pointer + ", " + value + ");";
  return "RT_ATOMICS(" + words(n) + ", " + pointer + ", " + value + ");";
}

std::string OperatorText::shared_atomic(const std::string& pointer, const std::string& value) const {
  return "RT_ATOMIC_SHARED(" + op_ + ", " + acc_ + ", " + pointer + ", " + value + ");";
}

std::string OperatorText::packed_atomic(const std::string& pointer, const std::string& value) const {
  return "RT_ATOMIC_PACKED(" + pointer + ", RT_PACK(" + op_ + ", " + acc_ + ", " + value + "));";
}

std::string OperatorText::redux(const std::string& value) const {
  return "RT_REDUX(" + op_ + ", " + acc_ + ", " + value + ")";
}

std::string OperatorText::peek(const std::string& pointer) const {
  if (plan_.joint()) return plan_.state + "_peek(" + pointer + ")";
  return is_number() ? "RT_PEEK(" + acc_ + ", " + pointer + ")"
                     : "RT_STATE_PEEK(" + op_ + ", " + acc_ + ", " + pointer + ")";
}

std::string OperatorText::store_partial(const std::string& pointer, const std::string& value) const {
  return is_number() ? "RT_STORE1(" + acc_ + ", " + acc_ + ", " + pointer + ", " + value + ");"
                     : "*(" + pointer + ") = " + value + ";";
}

std::string OperatorText::scratch(const std::string& name, int threads) const {
  if (plan_.joint()) {
    std::string text;
    for (const FusedMember& m : fused_members(*plan_.fused)) {
      text += (text.empty() ? "" : " ") + std::string("RT_SHFL_SCRATCH(") + m.word + ", " + name + num(m.reduction) + ", " + num(threads) + ");";
    }
    return text;
  }
  const std::string rest = acc_ + ", " + name + ", " + num(threads);
  return (is_number() ? call("RT_SHFL_SCRATCH", rest) : call("RT_STATE_SHFL_SCRATCH", op_ + ", " + rest)) +
         ";";
}

std::string OperatorText::shuffle_down(const std::string& value, int delta, int width, int threads,
                                       const std::string& scratch, const std::string& thread) const {
  if (plan_.joint()) {
    return joint(type(1), [&](const FusedMember& m) {
      return "RT_SHFL_DOWN(" + m.word + ", " + value + ".m" + num(m.reduction) + ", " + num(delta) + ", " + num(width) + ", " +
             num(threads) + ", " + scratch + num(m.reduction) + ", " + thread + ")";
    });
  }
  const std::string rest = acc_ + ", " + value + ", " + num(delta) + ", " + num(width) + ", " + num(threads) +
                           ", " + scratch + ", " + thread;
  return is_number() ? call("RT_SHFL_DOWN", rest) : call("RT_STATE_SHFL_DOWN", op_ + ", " + rest);
}

std::string operator_declarations(const KernelPlan& plan) {
  if (plan.joint()) {
    std::string text;
    for (int n = 1; n <= plan.schedule.vec; n *= 2) {
      if (n == 1 || n == plan.schedule.vec) text += fused_state_declarations(plan, n);
    }
    return text;
  }
  if (info(plan.op).state == State::kValue) return "";
  const std::string words = std::string(info(plan.op).combine) + ", " + std::string(name(plan.accumulator));
  std::string text;
  for (int n = 1; n <= plan.schedule.vec; n *= 2) {
    const bool used =
        plan.axes.row_type || n == 1 || n == plan.schedule.vec;  // a row folds its lanes by halves
    if (used) text += "RT_OPERATOR(" + words + ", " + num(n) + ")\n";
  }
  if (has_tickets(plan.schedule.grid)) text += "RT_OPERATOR_PEEK(" + words + ")\n";
  if (packs_states(plan)) text += "RT_OPERATOR_PACK(" + words + ")\n";
  return text;
}

}  // namespace redtune
