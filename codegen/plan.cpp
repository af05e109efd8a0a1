#include "codegen/plan.h"

#include "support/error.h"

namespace redtune {
namespace {

PlanStatement substitute(const PlanStatement& s, const std::string& name, const Expr& value) {
  PlanStatement r = s;
  r.output = s.output.substitute(name, value);
  r.item = s.item.substitute(name, value);
  r.input_offset = s.input_offset.substitute(name, value);
  r.output_offset = s.output_offset.substitute(name, value);
  r.first_lane = s.first_lane.substitute(name, value);
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

PlanNode guarded(const Condition& condition, PlanNode body) {
  if (condition.is_true()) return body;
  PlanNode node;
  node.kind = PlanNode::Kind::kIf;
  node.condition = condition;
  node.body.push_back(std::move(body));
  return node;
}

PlanNode unrolled_loop(const PlanNode& loop, std::int64_t limit) {
  const std::int64_t first = loop.lower.constant();
  const std::int64_t last = loop.upper.is_constant() ? loop.upper.constant() : first + (limit - 1) * loop.step;
  PlanNode block;
  for (std::int64_t i = first; i <= last; i += loop.step) {
    const Condition runs = Condition::less_equal(Expr(i), loop.upper);
    if (runs.is_false()) break;
    for (const PlanNode& child : loop.body) block.body.push_back(guarded(runs, substitute(child, loop.variable, i)));
  }
  return block;
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

PlanNode unroll(const PlanNode& node, const std::string& variable, std::int64_t limit, OpenLoops open) {
  PlanNode result = node;
  for (PlanNode& child : result.body) child = unroll(child, variable, limit, open);
  const bool is_the_loop = node.kind == PlanNode::Kind::kFor && node.variable == variable;
  if (!is_the_loop || !node.lower.is_constant()) return result;
  if (!node.upper.is_constant() && open == OpenLoops::kKeep) return result;
  const bool known = node.upper.is_constant();
  if (known && (node.upper.constant() - node.lower.constant()) / node.step + 1 > limit) return result;
  return unrolled_loop(result, limit);
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
