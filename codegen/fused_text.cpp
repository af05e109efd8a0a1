#include "codegen/fused_text.h"

#include <algorithm>

#include "codegen/number_text.h"
#include "codegen/operator_text.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

/// Types that registers hold in a wider one: results are brought back to what the type can hold.
bool is_narrow(DType type) { return bytes_of(type) < 4 && type != DType::kBool; }

std::string word(DType type) { return std::string(name(type)); }

std::string narrowed(DType type, int n, const std::string& value) {
  return is_narrow(type) ? "RT_F_NARROW(" + word(type) + ", " + num(n) + ", " + value + ")" : value;
}

/// `value` of type `from` as one of type `to`.
std::string converted(DType from, DType to, int n, const std::string& value) {
  if (from == to) return value;
  const std::string rest = word(from) + ", " + word(to) + ", " + num(n) + ", " + value + ")";
  if (to == DType::kBool) return "RT_F_TRUTH(" + word(from) + ", " + num(n) + ", " + value + ")";
  const bool cuts = info(from).is_float && !info(to).is_float;
  return narrowed(to, n, (cuts ? "RT_F_CUT(" : "RT_F_CVT(") + rest);
}

DType member_type(DType accumulator) {
  if (info(accumulator).is_float) return bytes_of(accumulator) < 4 ? DType::kF32 : accumulator;
  return bytes_of(accumulator) < 4 ? DType::kI32 : accumulator;
}

}  // namespace

std::string fused_value(int node) { return "e" + num(node); }

std::vector<std::string> fused_arguments(const FusedGroup& group, bool body, bool tail) {
  std::vector<std::string> names;
  const auto add = [&](int access) {
    const std::string& tensor = group.accesses[static_cast<std::size_t>(access)].tensor;
    if (std::find(names.begin(), names.end(), tensor) == names.end()) names.push_back(tensor);
  };
  const std::vector<bool> in_body = group.body_nodes(), in_tail = group.tail_nodes();
  for (std::size_t i = 0; i < group.nodes.size(); ++i) {
    if (group.nodes[i].kind != FusedNode::Kind::kLoad) continue;
    if ((body && in_body[i]) || (tail && in_tail[i])) add(group.nodes[i].index);
  }
  if (body) {
    for (const FusedStore& store : group.body_stores) add(store.access);
  }
  if (tail) {
    for (const FusedStore& store : group.tail_stores) add(store.access);
  }
  return names;
}

FusedText::FusedText(const KernelPlan& plan)
    : plan_(plan),
      g_(*plan.fused),
      tensors_(fused_arguments(g_, plan.runs_body(), plan.runs_tail())),
      body_(g_.body_nodes()),
      tail_(g_.tail_nodes()) {}

std::string FusedText::argument(const std::string& tensor) const {
  const auto at = std::find(tensors_.begin(), tensors_.end(), tensor);
  RT_CHECK(at != tensors_.end(), "kernel does not take tensor " + tensor);
  return "x" + num(at - tensors_.begin());
}

std::vector<std::string> FusedText::parameters() const {
  std::vector<std::string> list;
  for (const std::string& tensor : tensors_) {
    DType type = DType::kF32;
    for (const FusedAccess& access : g_.accesses) {
      if (access.tensor == tensor) type = access.dtype;
    }
    bool written = false;
    for (const auto* stores : {&g_.body_stores, &g_.tail_stores}) {
      for (const FusedStore& store : *stores)
        written = written || g_.accesses[static_cast<std::size_t>(store.access)].tensor == tensor;
    }
    list.push_back(std::string("RT_GLOBAL ") + (written ? "" : "const ") + "rt_" + word(type) +
                   "* RT_RESTRICT " + argument(tensor));
  }
  return list;
}

std::string FusedText::pointer(int access, const Expr& offset) const {
  return argument(g_.accesses[static_cast<std::size_t>(access)].tensor) + " + (" + offset.text() + ")";
}

std::string FusedText::output_pointer() const {
  return argument(g_.accesses[static_cast<std::size_t>(g_.tail_stores.front().access)].tensor);
}

std::int64_t FusedText::lane_stride(int access) const {
  const std::vector<Group>& inner = plan_.axes.inner_groups;
  return inner.empty() ? 0 : inner.back().strides[static_cast<std::size_t>(access)];
}

/// Whether every vector of n lanes starts at a multiple of n.
bool FusedText::aligned(int n, int access) const {
  const auto at = static_cast<std::size_t>(access);
  if (plan_.unaligned_loads || g_.accesses[at].offset % n != 0) return false;
  for (const auto* groups : {&plan_.axes.kept_groups, &plan_.axes.outer_groups, &plan_.axes.reduced_groups}) {
    for (const Group& group : *groups) {
      if (group.extent > 1 && group.strides[at] % n != 0) return false;
    }
  }
  return true;
}

std::string FusedText::load(int n, int access, const PlanStatement& s, std::vector<std::string>& lines,
                            const std::string& name) const {
  const FusedAccess& a = g_.accesses[static_cast<std::size_t>(access)];
  const std::string type = word(a.dtype);
  const Expr& offset = s.accesses[static_cast<std::size_t>(access)];
  const auto one = [&](const Expr& at) {
    return "RT_LOAD(" + type + ", " + type + ", 1, " + pointer(access, at) + ")";
  };
  if (n == 1) return one(offset);
  const std::int64_t stride = lane_stride(access);
  if (stride == 0) return "RT_SPLAT(" + type + ", " + num(n) + ", " + one(offset) + ")";
  if (stride == 1) {
    return (aligned(n, access) ? "RT_LOAD(" : "RT_LOAD_UNALIGNED(") + type + ", " + type + ", " + num(n) +
           ", " + pointer(access, offset) + ")";
  }
  lines.push_back("RT_VEC(" + type + ", " + num(n) + ") " + name + "_lanes;");
  for (int i = 0; i < n; ++i) {
    lines.push_back("RT_SET_LANE(" + type + ", " + num(n) + ", " + name + "_lanes, " + num(i) + ", " +
                    one(offset + i * stride) + ");");
  }
  return name + "_lanes";
}

std::string FusedText::call(int n, const FusedNode& node) const {
  std::vector<std::string> values;
  for (const int argument : node.arguments) values.push_back(fused_value(argument));
  const DType in = g_.nodes[static_cast<std::size_t>(node.arguments.back())].dtype;
  const std::string words = word(in) + ", " + num(n) + ", " + join(values, ", ") + ")";
  const std::string function(name(node.op));
  switch (info(node.op).types) {
    case ScalarTypes::kCast:
      return converted(in, node.dtype, n, values[0]);
    case ScalarTypes::kCompare:
      return "RT_F_COMPARE(" + function + ", " + words;
    case ScalarTypes::kSelect:
      return "RT_F_SELECT(" + words;
    case ScalarTypes::kTruth:
      return "RT_F_" + num(info(node.op).arguments) + "(" + function + ", " + words;
    default:
      break;
  }
  const std::string value = "RT_F_" + num(info(node.op).arguments) + "(" + function + ", " + words;
  const bool chooses = node.op == ScalarOp::kMin || node.op == ScalarOp::kMax;
  return chooses ? value : narrowed(node.dtype, n, value);
}

std::vector<std::string> FusedText::nodes(int n, const PlanStatement& s, const std::vector<bool>& wanted,
                                          const std::vector<std::string>& results) const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < g_.nodes.size(); ++i) {
    if (!wanted[i]) continue;
    const FusedNode& node = g_.nodes[i];
    const std::string name = fused_value(static_cast<int>(i)), type = word(node.dtype);
    std::string value;
    switch (node.kind) {
      case FusedNode::Kind::kNumber: {
        const double number = info(node.dtype).is_float ? node.number : static_cast<double>(node.integer);
        const DType held = bytes_of(node.dtype) == 2 ? DType::kF32 : node.dtype;
        const std::uint64_t bits =
            info(node.dtype).is_float ? number_bits(held, number) : static_cast<std::uint64_t>(node.integer);
        value = "RT_SPLAT(" + type + ", " + num(n) + ", " + constant_text(held, bits) + ")";
        if (bytes_of(node.dtype) == 2) value = narrowed(node.dtype, n, value);
        break;
      }
      case FusedNode::Kind::kLoad:
        value = load(n, node.index, s, lines, name);
        break;
      case FusedNode::Kind::kReduced: {
        const FusedReduction& reduction = g_.reductions[static_cast<std::size_t>(node.index)];
        value = converted(finished_type(reduction.op, reduction.accumulator), node.dtype, n,
                          results[static_cast<std::size_t>(node.index)]);
        break;
      }
      case FusedNode::Kind::kCall:
        value = call(n, node);
        break;
    }
    lines.push_back("const RT_VEC(" + type + ", " + num(n) + ") " + name + " = " + value + ";");
  }
  return lines;
}

std::vector<std::string> FusedText::store(int n, const FusedStore& store, const PlanStatement& s) const {
  const FusedAccess& a = g_.accesses[static_cast<std::size_t>(store.access)];
  const DType from = g_.nodes[static_cast<std::size_t>(store.node)].dtype;
  const std::string words = "(" + word(from) + ", " + word(a.dtype) + ", ", value = fused_value(store.node);
  const Expr& offset = s.accesses[static_cast<std::size_t>(store.access)];
  if (n == 1) return {"RT_STORE1" + words + pointer(store.access, offset) + ", " + value + ");"};
  const std::int64_t stride = lane_stride(store.access);
  std::vector<std::string> lanes;
  for (int i = 0; i < n; ++i) {
    const Condition mine = Condition::less_equal(s.first_lane, Expr(i));
    if (mine.is_false()) continue;
    lanes.push_back((mine.is_true() ? "" : "if (" + mine.text() + ") ") + "RT_STORE1" + words +
                    pointer(store.access, offset + i * stride) + ", RT_LANE(" + word(from) + ", " + num(n) +
                    ", " + value + ", " + num(i) + "));");
  }
  if (stride != 1 || !(plan_.unaligned_loads || aligned(n, store.access))) return lanes;
  const std::string whole =
      "RT_STORE" + words + num(n) + ", " + pointer(store.access, offset) + ", " + value + ");";
  const Condition all = Condition::equal(s.first_lane, 0);
  if (all.is_true()) return {whole};
  std::vector<std::string> lines{"if (" + all.text() + ") {", "  " + whole, "} else {"};
  for (const std::string& lane : lanes) lines.push_back("  " + lane);
  lines.emplace_back("}");
  return lines;
}

std::vector<std::string> FusedText::body(int n, const PlanStatement& s) const {
  std::vector<std::string> lines = nodes(n, s, body_, {});
  for (const FusedStore& each : g_.body_stores) {
    for (const std::string& line : store(n, each, s)) lines.push_back(line);
  }
  return lines;
}

std::string FusedText::element(int n, int reduction) const {
  const FusedReduction& r = g_.reductions[static_cast<std::size_t>(reduction)];
  const std::string value = fused_value(r.node);
  if (info(r.op).arithmetic == Arithmetic::kTruth)
    return "RT_TRUTH(" + word(r.element) + ", " + num(n) + ", " + value + ")";
  // Registers hold a narrow type in the type that its accumulator computes in.
  const DType from = member_type(r.element), to = member_type(r.accumulator);
  return from == to ? value : converted(from, to, n, value);
}

std::string FusedText::element_from(int n, int reduction, const Expr& first_lane) const {
  const FusedReduction& r = g_.reductions[static_cast<std::size_t>(reduction)];
  const DType type = member_type(r.accumulator);
  return "RT_KEEP_FROM(" + word(type) + ", " + num(n) + ", " + element(n, reduction) + ", " +
         first_lane.text() + ", " + constant_text(r.accumulator, identity_bits(r.op, r.accumulator)) + ")";
}

std::vector<std::string> FusedText::tail(int n, const PlanStatement& s,
                                         const std::vector<std::string>& results) const {
  std::vector<std::string> lines = nodes(n, s, tail_, results);
  for (const FusedStore& each : g_.tail_stores) {
    for (const std::string& line : store(n, each, s)) lines.push_back(line);
  }
  return lines;
}

std::vector<FusedMember> fused_members(const FusedGroup& group) {
  std::vector<FusedMember> members;
  for (std::size_t i = 0; i < group.reductions.size(); ++i) {
    const FusedReduction& r = group.reductions[i];
    const DType type = member_type(r.accumulator);
    members.push_back({static_cast<int>(i), std::string(info(r.op).combine), word(type), type});
  }
  // The widest first: no gaps between members.
  std::stable_sort(members.begin(), members.end(), [](const FusedMember& a, const FusedMember& b) {
    return bytes_of(a.type) > bytes_of(b.type);
  });
  return members;
}

std::string fused_state_declarations(const KernelPlan& plan, int n) {
  const FusedGroup& group = *plan.fused;
  const bool peeks = has_tickets(plan.schedule.grid);
  const std::vector<FusedMember> members = fused_members(group);
  const std::string prefix = plan.state + "_", type = prefix + num(n), lanes = num(n);
  const auto function = [&](const std::string& result, const std::string& name, const std::string& parameters,
                            const auto& member) {
    std::string text =
        "RT_F_INLINE " + result + " RT_F_NAME(" + name + ")(" + parameters + ") {\n  " + result + " r;\n";
    for (const FusedMember& m : members)
      text += "  r.m" + num(m.reduction) + " = " + member(m, ".m" + num(m.reduction)) + ";\n";
    return text + "  return r;\n}\n";
  };
  std::string text = "typedef struct {\n";
  for (const FusedMember& m : members)
    text += "  RT_VEC(" + m.word + ", " + lanes + ") m" + num(m.reduction) + ";\n";
  text += "} RT_F_NAME(" + type + ");\n";
  text += function(type, prefix + "identity_" + lanes, "void", [&](const FusedMember& m, const std::string&) {
    const FusedReduction& r = group.reductions[static_cast<std::size_t>(m.reduction)];
    return "RT_SPLAT(" + m.word + ", " + lanes + ", " +
           constant_text(r.accumulator, identity_bits(r.op, r.accumulator)) + ")";
  });
  text += function(type, prefix + "combine_" + lanes, type + " a, " + type + " b",
                   [&](const FusedMember& m, const std::string& member) {
                     return "RT_COMBINE(" + m.op + ", " + m.word + ", " + lanes + ", a" + member + ", b" +
                            member + ")";
                   });
  if (n > 1) {
    text += function(prefix + "1", prefix + "fold_" + lanes, type + " a",
                     [&](const FusedMember& m, const std::string& member) {
                       return "RT_FOLD(" + m.op + ", " + m.word + ", " + lanes + ", a" + member + ")";
                     });
  }
  if (peeks && n == 1) {
    text += function(type, prefix + "peek", "RT_GLOBAL " + type + "* p",
                     [&](const FusedMember& m, const std::string&) {
                       return "RT_PEEK(" + m.word + ", &p->m" + num(m.reduction) + ")";
                     });
  }
  return text;
}

}  // namespace redtune
