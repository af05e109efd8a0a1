#include "codegen/plan.h"

#include <algorithm>

#include "space/reduction_ops.h"
#include "support/error.h"

namespace redtune {
namespace {

PlanStatement substitute(const PlanStatement& s, const std::string& name, const Expr& value) {
  PlanStatement r = s;
  r.output = s.output.substitute(name, value);
  r.item = s.item.substitute(name, value);
  r.input_offset = s.input_offset.substitute(name, value);
  r.position = s.position.substitute(name, value);
  r.output_offset = s.output_offset.substitute(name, value);
  r.first_lane = s.first_lane.substitute(name, value);
  for (Expr& access : r.accesses) access = access.substitute(name, value);
  return r;
}

PlanNode substitute(const PlanNode& node, const std::string& name, const Expr& value) {
  PlanNode r = node;
  r.lower = node.lower.substitute(name, value);
  r.upper = node.upper.substitute(name, value);
  r.condition = node.condition.substitute(name, value);
  r.statement = substitute(node.statement, name, value);
  for (PlanNode& child : r.body) child = substitute(child, name, value);
  return r;
}

void print(const PlanNode& node, int depth, std::string& out) {
  const std::string pad(static_cast<std::size_t>(depth) * 2, ' ');
  switch (node.kind) {
    case PlanNode::Kind::kBlock:
      for (const PlanNode& child : node.body) print(child, depth, out);
      break;
    case PlanNode::Kind::kFor:
      out += pad + "for " + node.variable + " = " + node.lower.text() + " .. " + node.upper.text();
      if (node.step != 1) out += " step " + std::to_string(node.step);
      out += "\n";
      for (const PlanNode& child : node.body) print(child, depth + 1, out);
      break;
    case PlanNode::Kind::kIf:
      out += pad + "if " + node.condition.text() + "\n";
      print(node.body[0], depth + 1, out);
      if (node.body.size() > 1) {
        out += pad + "else\n";
        print(node.body[1], depth + 1, out);
      }
      break;
    case PlanNode::Kind::kStatement: {
      const PlanStatement& s = node.statement;
      switch (s.kind) {
        case PlanStatement::Kind::kLoad:
          out += pad + "load out " + s.output.text() + " item " + s.item.text() + " from " + s.input_offset.text();
          break;
        case PlanStatement::Kind::kMaskedTail:
          out += pad + "tail out " + s.output.text() + " from " + s.input_offset.text() + " lanes from " +
                 s.first_lane.text();
          break;
        case PlanStatement::Kind::kScalarTail:
          out += pad + "tail out " + s.output.text() + " element " + s.input_offset.text();
          break;
        case PlanStatement::Kind::kStore:
          out += pad + "store out " + s.output.text() + " to " + s.output_offset.text();
          break;
      }
      out += "\n";
    }
  }
}

}  // namespace

PlanNode without_single_iterations(const PlanNode& node, const std::string& variable) {
  PlanNode result = node;
  for (PlanNode& child : result.body) child = without_single_iterations(child, variable);
  if (node.kind != PlanNode::Kind::kFor || node.variable != variable) return result;
  if (!(node.upper - node.lower).is_constant() || (node.upper - node.lower).constant() >= node.step) return result;
  PlanNode block;
  for (const PlanNode& child : result.body) block.body.push_back(substitute(child, variable, node.lower));
  return block;
}

std::int64_t result_bytes(const KernelPlan& plan) {
  const std::int64_t state =
      plan.joint() ? plan.fused->state_bytes() : std::max(4, bytes_of(plan.accumulator)) * state_members(plan.op);
  return state * (plan.axes.row_type ? 1 : plan.schedule.vec) * plan.schedule.px;
}

std::int64_t combine_bytes(const KernelPlan& plan) {
  const Schedule& s = plan.schedule;
  if (!plan.reduces()) return 0;
  switch (s.block) {
    case BlockCombine::kNone:
    case BlockCombine::kWarp:
      return 0;
    case BlockCombine::kLane:
    case BlockCombine::kTree:
      return result_bytes(plan) * s.rx;
    case BlockCombine::kShared:
      return result_bytes(plan);
    case BlockCombine::kRedux:
      if (s.rx <= plan.warp) return 0;
      [[fallthrough]];
    case BlockCombine::kShuffle:
      return result_bytes(plan) * std::max(1, s.rx / plan.warp);
  }
  RT_CHECK(false, "block combine without a size");
}

std::int64_t ticket_bytes(GridCombine grid) { return grid == GridCombine::kLastBlock ? 4 : 0; }

std::int64_t shared_bytes(const KernelPlan& plan) {
  const bool cluster = plan.schedule.grid == GridCombine::kCluster;
  return ticket_bytes(plan.schedule.grid) + std::max(plan.rows_at_once * combine_bytes(plan),
                                                     cluster ? plan.schedule.rows * result_bytes(plan) : 0);
}

bool has_tickets(GridCombine grid) { return grid == GridCombine::kLastBlock || grid == GridCombine::kGridSync; }

bool packs_states(const KernelPlan& plan) {
  return plan.schedule.grid == GridCombine::kPrivateAtomic && info(plan.op).state == State::kArg;
}

std::string plan_text(const KernelPlan& plan) {
  std::string out = "kernel " + plan.entry + ": " + std::to_string(plan.tiling.blocks()) + " blocks of " +
                    std::to_string(plan.schedule.px) + "x" + std::to_string(plan.schedule.rx) +
                    " threads (kept x reduced), " + std::to_string(plan.tiling.tiles) + " tiles\n";
  out += "accumulate:\n";
  print(plan.accumulate, 1, out);
  out += "combine: " + std::string(name(plan.schedule.block)) + " in the block, " +
         std::string(name(plan.schedule.grid)) + " across blocks\nstore:\n";
  print(plan.store, 1, out);
  return out;
}

}  // namespace redtune
