#include "codegen/lower.h"

#include <isl/ast_build.h>
#include <isl/cpp.h>
#include <isl/id.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <vector>

#include "space/polyhedral.h"
#include "support/error.h"

namespace redtune {
namespace {

std::string num(std::int64_t v) { return std::to_string(v); }

/// Everything one lowering needs to know, as numbers.
struct Shape {
  const Axes& axes;
  const Schedule& s;
  Tiling t;
  std::int64_t overlap = 0;  // column type: how far the last vector is moved back
  bool masked_tail = false;  // row type: the tail is the last vector of the row, masked
};

Shape shape_of(const Task& task, const Axes& axes, const Schedule& schedule) {
  Shape shape{axes, schedule, tiling_of(axes, schedule, task.target.warp)};
  if (!axes.row_type && axes.inner % schedule.vec != 0) shape.overlap = schedule.vec - axes.inner % schedule.vec;
  shape.masked_tail = axes.row_type && shape.t.tail > 0 && !task.target.aligned_vectors;
  return shape;
}

// ---- isl texts -----------------------------------------------------------------------------------------------------

const char* parameters(bool row) { return row ? "[tile, bo, bi, tx, ty] -> " : "[po0, tj, bi, tx, ty] -> "; }

std::string context_text(const Shape& h) {
  const Schedule& s = h.s;
  std::string c = std::string(parameters(h.axes.row_type)) + "{ : ";
  if (h.axes.row_type) {
    c += "0 <= tile < " + num(h.t.tiles) + " and 0 <= bo < " + num(h.t.split_outer) + " and 0 <= bi < " +
         num(h.t.split_inner) + " and 0 <= tx < " + num(s.rx) + " and 0 <= ty < " + num(s.px);
  } else {
    c += "0 <= po0 < " + num(h.axes.outer) + " and 0 <= tj < " + num(h.t.tiles_inner) + " and 0 <= bi < " +
         num(h.t.split_inner) + " and 0 <= tx < " + num(s.px) + " and 0 <= ty < " + num(s.rx);
  }
  return c + " }";
}

/// Which k (iteration of a block's loop along the reduced axis) belong to block `bi`.
std::string walk_text(const Shape& h) {
  if (h.t.split_inner == 1) return "";
  if (h.s.walk == Walk::kStrided) return " and exists (e : k = " + num(h.t.split_inner) + " e + bi)";
  const std::int64_t chunk = h.t.chunk / h.t.reduced_tile;
  return " and " + num(chunk) + " bi <= k < " + num(chunk) + " bi + " + num(chunk);
}

std::string outer_walk_text(const Shape& h) {
  if (h.t.split_outer == 1) return "";
  if (h.s.walk == Walk::kStrided) return " and exists (f : ro = " + num(h.t.split_outer) + " f + bo)";
  return " and " + num(h.t.outer_chunk) + " bo <= ro < " + num(h.t.outer_chunk) + " bo + " + num(h.t.outer_chunk);
}

std::string row_output(const Shape& h) {
  return "p = " + num(h.t.kept_tile) + " tile + " + num(h.s.px) + " q + ty and 0 <= q < " + num(h.s.rows);
}

std::string column_output(const Shape& h) {
  return "j = " + num(h.t.kept_tile) + " tj + " + num(h.s.px) + " q + tx and 0 <= q < " + num(h.s.rows) +
         " and 0 <= j < " + num(h.t.inner_units);
}

/// Where each instance of S goes: S -> V (one vector load; j counts vectors, k iterations, a items, q outputs).
std::string load_map(const Shape& h) {
  const std::string v = num(h.s.vec), tile = num(h.t.reduced_tile), rx = num(h.s.rx);
  const std::string items = " and 0 <= a < " + num(h.s.items);
  if (h.axes.row_type) {
    return std::string(parameters(true)) + "{ S[p, ro, ri] -> V[p, ro, j, k, a, q] : " + row_output(h) +
           " and " + v + " j <= ri < " + v + " j + " + v + " and 0 <= j < " + num(h.t.inner_units) + " and j = " + tile +
           " k + " + rx + " a + tx" + items + walk_text(h) + outer_walk_text(h) + " }";
  }
  return std::string(parameters(false)) + "{ S[po, r, pi] -> V[po, r, j, k, a, q] : po = po0 and " + column_output(h) +
         " and " + v + " j <= pi < " + v + " j + " + v + " and r = " + tile + " k + " + rx + " a + ty" + items +
         walk_text(h) + " }";
}

/// Row type: the tail goes to lane 0 (masked: one load) or round robin over the lanes (element loads), and to the
/// last of the blocks that share a row.
std::string tail_map(const Shape& h) {
  const std::int64_t first = h.t.inner_units * h.s.vec;
  std::string m = std::string(parameters(true)) + "{ S[p, ro, ri] -> T[p, ro, e, q] : " + row_output(h) +
                  outer_walk_text(h) + " and bi = " + num(h.t.split_inner - 1) + " and ri >= " + num(first);
  if (h.masked_tail) return m + " and e = 0 and tx = 0 }";
  return m + " and e = ri - " + num(first) + " and exists (g : e = " + num(h.s.rx) + " g + tx) }";
}

std::string store_map(const Shape& h) {
  if (h.axes.row_type) return std::string(parameters(true)) + "{ U[p] -> W[p, q] : " + row_output(h) + " }";
  return std::string(parameters(false)) + "{ U[po, pi] -> W[po, j, q] : po = po0 and " + column_output(h) + " and " +
         num(h.s.vec) + " j <= pi < " + num(h.s.vec) + " j + " + num(h.s.vec) + " }";
}

/// Full tiles: no guard is needed inside them, so their loops unroll. Empty when every tile is full.
std::string isolate_text(const Shape& h) {
  std::string full;
  const std::int64_t units = h.axes.row_type ? h.t.inner_units : h.axes.reduced;
  const std::int64_t kept = h.axes.row_type ? h.axes.kept : h.t.inner_units;
  if (units % h.t.reduced_tile != 0) full = num(h.t.reduced_tile) + " k + " + num(h.t.reduced_tile) + " <= " + num(units);
  if (kept % h.t.kept_tile != 0) {
    const std::string tile = h.axes.row_type ? "tile" : "tj";
    if (!full.empty()) full += " and ";
    full += num(h.t.kept_tile) + " " + tile + " + " + num(h.t.kept_tile) + " <= " + num(kept);
  }
  if (full.empty()) return "";
  return std::string(parameters(h.axes.row_type)) + "{ isolate[" + (h.axes.row_type ? "[ro]" : "[z]") +
         " -> [k, a, q]] : " + full + " }";
}

// ---- trees ---------------------------------------------------------------------------------------------------------

struct MappedTree {
  isl::set context;
  isl::schedule accumulate, store;
};

isl::schedule_node insert_band(const isl::schedule_node& node, isl::ctx ctx, const std::string& text) {
  return node.insert_partial_schedule(isl::multi_union_pw_aff(ctx, text));
}

/// domain -> band (ro) -> sequence { V: band (k, a, q) ; T: band (0, 0, q) }. All statements carry the same depth, so
/// that loop names are positions.
isl::schedule accumulate_tree(isl::ctx ctx, const Shape& h, const isl::union_set& loads, const isl::union_set& tails) {
  const bool row = h.axes.row_type;
  const bool has_tail = !tails.is_empty();
  isl::schedule_node node = isl::schedule_node::from_domain(loads.unite(tails)).child(0);
  std::string outer = row ? "[{ V[p, ro, j, k, a, q] -> [(ro)]" : "[{ V[po, r, j, k, a, q] -> [(0)]";
  if (has_tail) outer += "; T[p, ro, e, q] -> [(ro)]";
  node = insert_band(node, ctx, outer + " }]").child(0);
  const std::string first = row ? "V[p, ro, j, k, a, q]" : "V[po, r, j, k, a, q]";
  const std::string band = "[{ " + first + " -> [(k)] }, { " + first + " -> [(a)] }, { " + first + " -> [(q)] }]";
  if (has_tail) {
    isl::union_set_list filters(ctx, 2);
    filters = filters.add(loads.universe()).add(tails.universe());
    node = node.insert_sequence(filters).child(1).child(0);
    node = insert_band(node, ctx,
                       "[{ T[p, ro, e, q] -> [(0)] }, { T[p, ro, e, q] -> [(e)] }, { T[p, ro, e, q] -> [(q)] }]");
    node = node.parent().parent().child(0).child(0);
  }
  node = insert_band(node, ctx, band);
  if (const std::string isolate = isolate_text(h); !isolate.empty()) {
    node = node.as<isl::schedule_node_band>().set_ast_build_options(isl::union_set(ctx, isolate));
  }
  return node.schedule();
}

isl::schedule store_tree(isl::ctx ctx, const Shape& h, const isl::union_set& stores) {
  const std::string w = h.axes.row_type ? "W[p, q]" : "W[po, j, q]";
  const std::string zero = "{ " + w + " -> [(0)] }";
  const isl::schedule_node node = isl::schedule_node::from_domain(stores).child(0);
  return insert_band(node, ctx, "[" + zero + ", " + zero + ", " + zero + ", { " + w + " -> [(q)] }]").schedule();
}

/// Per thread: an isl context and the model of the task lowered last, since a tuning run lowers many schedules of
/// one task.
struct ThreadModel {
  IslContext context;
  Canonical canonical;
  std::unique_ptr<PolyhedralModel> model;

  const PolyhedralModel& of(const Canonical& wanted, const Axes& axes) {
    context.refill();
    if (!model || !(canonical == wanted)) {
      model = std::make_unique<PolyhedralModel>(build_model(context.get(), axes));
      canonical = wanted;
    }
    return *model;
  }
};

ThreadModel& thread_model() {
  thread_local ThreadModel model;
  return model;
}

/// A mapping that spreads the reduction over threads or blocks breaks its self-dependence and must own a step that
/// puts the parts together again (the missing-combine fault of other compilers).
void check_combines(const Shape& h) {
  const Schedule& s = h.s;
  const bool spread_over_threads = s.rx > 1;
  const bool spread_over_blocks = h.t.split_outer * h.t.split_inner > 1;
  const bool joins_block = s.block != BlockCombine::kNone || s.grid == GridCombine::kAtomic;
  RT_CHECK(!spread_over_threads || joins_block, "reduction spread over threads without a combine step: " + s.text());
  RT_CHECK(!spread_over_blocks || s.grid != GridCombine::kNone,
           "reduction spread over blocks without a combine step: " + s.text());
}

MappedTree map_tree(isl::ctx ctx, const PolyhedralModel& model, const Shape& h) {
  check_combines(h);
  const isl::union_set loads = model.domain.apply(isl::union_map(ctx, load_map(h)));
  isl::union_set tails = isl::union_set(ctx, "{ }");
  if (h.t.tail > 0) tails = model.domain.apply(isl::union_map(ctx, tail_map(h)));
  const isl::union_set stores = model.domain.apply(isl::union_map(ctx, store_map(h)));
  return {isl::set(ctx, context_text(h)), accumulate_tree(ctx, h, loads, tails), store_tree(ctx, h, stores)};
}

// ---- isl AST -> plan -----------------------------------------------------------------------------------------------

class PlanBuilder {
 public:
  PlanBuilder(const Task& task, const Shape& h) : task_(task), h_(h) {}

  PlanNode build(const isl::ast_node& node) const {
    if (node.isa<isl::ast_node_for>()) return loop(node.as<isl::ast_node_for>());
    if (node.isa<isl::ast_node_if>()) return branch(node.as<isl::ast_node_if>());
    if (node.isa<isl::ast_node_user>()) return statement(node.as<isl::ast_node_user>().expr());
    PlanNode block;
    if (node.isa<isl::ast_node_mark>()) {
      block.body.push_back(build(node.as<isl::ast_node_mark>().node()));
    } else {
      const isl::ast_node_list children = node.as<isl::ast_node_block>().children();
      for (unsigned i = 0; i < children.size(); ++i) block.body.push_back(build(children.at(static_cast<int>(i))));
    }
    return block;
  }

 private:
  PlanNode loop(const isl::ast_node_for& node) const {
    if (node.is_degenerate()) {  // one iteration: the variable is its value
      PlanNode body = build(node.body());
      PlanNode shell;
      shell.kind = PlanNode::Kind::kFor;
      shell.variable = name_of(node.iterator());
      shell.lower = shell.upper = expr(node.init());
      shell.body.push_back(std::move(body));
      return shell;
    }
    PlanNode result;
    result.kind = PlanNode::Kind::kFor;
    result.variable = name_of(node.iterator());
    result.lower = expr(node.init());
    const isl::ast_expr_op bound = node.cond().as<isl::ast_expr_op>();
    RT_CHECK(bound.isa<isl::ast_expr_op_le>() || bound.isa<isl::ast_expr_op_lt>(), "isl loop bound is not < or <=");
    result.upper = expr(bound.arg(1));
    if (bound.isa<isl::ast_expr_op_lt>()) result.upper = result.upper - 1;
    result.step = expr(node.inc()).constant();
    result.body.push_back(build(node.body()));
    return result;
  }

  PlanNode branch(const isl::ast_node_if& node) const {
    PlanNode result;
    result.kind = PlanNode::Kind::kIf;
    result.condition = condition(node.cond());
    result.body.push_back(build(node.then_node()));
    if (node.has_else_node()) result.body.push_back(build(node.else_node()));
    return result;
  }

  PlanNode statement(const isl::ast_expr& call_expr) const {
    const isl::ast_expr_op call = call_expr.as<isl::ast_expr_op>();
    const std::string tuple = name_of(call.arg(0));
    std::vector<Expr> args;
    for (unsigned i = 1; i < call.n_arg(); ++i) args.push_back(expr(call.arg(static_cast<int>(i))));
    PlanNode node;
    node.kind = PlanNode::Kind::kStatement;
    node.statement = tuple == "V" ? load(args) : tuple == "T" ? tail(args) : store(args);
    return node;
  }

  PlanStatement load(const std::vector<Expr>& a) const {  // V[p, ro, j, k, a, q] or V[po, r, j, k, a, q]
    PlanStatement s;
    s.output = a[5];
    s.item = a[4];
    const std::int64_t inner_stride = h_.axes.inner_groups.empty() ? 1 : h_.axes.inner_groups.back().stride;
    const Expr first = h_.axes.row_type ? a[2] * h_.s.vec : lane_start(a[2]);
    s.input_offset = base() + first * inner_stride;
    if (h_.axes.row_type) {
      s.input_offset = s.input_offset + flat(a[0], h_.axes.kept_groups, false) + flat(a[1], h_.axes.outer_groups, false);
    } else {
      s.input_offset =
          s.input_offset + flat(a[0], h_.axes.outer_groups, false) + flat(a[1], h_.axes.reduced_groups, false);
    }
    return s;
  }

  PlanStatement tail(const std::vector<Expr>& a) const {  // T[p, ro, e, q]
    PlanStatement s;
    s.output = a[3];
    const std::int64_t stride = h_.axes.inner_groups.back().stride;
    const std::int64_t units = h_.t.inner_units * h_.s.vec;
    s.input_offset =
        base() + flat(a[0], h_.axes.kept_groups, false) + flat(a[1], h_.axes.outer_groups, false);
    if (h_.masked_tail) {
      s.kind = PlanStatement::Kind::kMaskedTail;
      s.input_offset = s.input_offset + Expr(h_.axes.inner - h_.s.vec) * stride;
      s.first_lane = Expr(h_.s.vec - h_.t.tail);
    } else {
      s.kind = PlanStatement::Kind::kScalarTail;
      s.input_offset = s.input_offset + (a[2] + units) * stride;
    }
    return s;
  }

  PlanStatement store(const std::vector<Expr>& a) const {  // W[p, q] or W[po, j, q]
    PlanStatement s;
    s.kind = PlanStatement::Kind::kStore;
    s.output = a.back();
    if (h_.axes.row_type) {
      s.output_offset = flat(a[0], h_.axes.kept_groups, true);
    } else {
      const Expr first = lane_start(a[1]);
      const std::int64_t stride = h_.axes.inner_groups.empty() ? 1 : h_.axes.inner_groups.back().output_stride;
      s.output_offset = flat(a[0], h_.axes.outer_groups, true) + first * stride;
      s.first_lane = a[1] * h_.s.vec - first;
    }
    return s;
  }

  /// First element of vector j of the kept axis: the last vector is moved back so that it ends with the axis.
  Expr lane_start(const Expr& j) const {
    const Expr start = j * h_.s.vec;
    return h_.overlap == 0 ? start : min(start, Expr(h_.axes.inner - h_.s.vec));
  }

  Expr base() const { return task_.op.input().offset; }

  static Expr flat(const Expr& coordinate, const std::vector<Group>& groups, bool output) {
    Expr offset;
    Expr rest = coordinate;
    for (std::size_t i = groups.size(); i-- > 0;) {
      const Group& g = groups[i];
      const Expr index = i == 0 ? rest : mod(rest, g.extent);
      offset = offset + index * (output ? g.output_stride : g.stride);
      rest = floor_div(rest, g.extent);
    }
    return offset;
  }

  static std::string name_of(const isl::ast_expr& e) { return e.as<isl::ast_expr_id>().id().name(); }

  static Expr expr(const isl::ast_expr& e) {
    if (e.isa<isl::ast_expr_int>()) return e.as<isl::ast_expr_int>().val().num_si();
    if (e.isa<isl::ast_expr_id>()) return Expr::var(name_of(e));
    const isl::ast_expr_op op = e.as<isl::ast_expr_op>();
    const Expr a = expr(op.arg(0));
    if (op.isa<isl::ast_expr_op_minus>()) return a * -1;
    if (op.isa<isl::ast_expr_op_max>() || op.isa<isl::ast_expr_op_min>()) {
      Expr all = a;
      for (unsigned i = 1; i < op.n_arg(); ++i) {
        const Expr next = expr(op.arg(static_cast<int>(i)));
        all = op.isa<isl::ast_expr_op_max>() ? max(all, next) : min(all, next);
      }
      return all;
    }
    const Expr b = expr(op.arg(1));
    if (op.isa<isl::ast_expr_op_add>()) return a + b;
    if (op.isa<isl::ast_expr_op_sub>()) return a - b;
    if (op.isa<isl::ast_expr_op_mul>()) return a * b;
    if (op.isa<isl::ast_expr_op_div>() || op.isa<isl::ast_expr_op_pdiv_q>()) return floor_div(a, b.constant());
    if (op.isa<isl::ast_expr_op_pdiv_r>() || op.isa<isl::ast_expr_op_zdiv_r>()) return mod(a, b.constant());
    // floor((x) / d) of a possibly negative x: shifted into the non-negative range; tiles never start below -2^20.
    if (op.isa<isl::ast_expr_op_fdiv_q>()) return floor_div(a + b * (1 << 20), b.constant()) - (1 << 20);
    throw InternalError("isl AST expression not understood: " + e.to_C_str());
  }

  static Condition condition(const isl::ast_expr& e) {
    const isl::ast_expr_op op = e.as<isl::ast_expr_op>();
    if (op.isa<isl::ast_expr_op_and>() || op.isa<isl::ast_expr_op_or>() || op.isa<isl::ast_expr_op_and_then>() ||
        op.isa<isl::ast_expr_op_or_else>()) {
      const bool conjunction = op.isa<isl::ast_expr_op_and>() || op.isa<isl::ast_expr_op_and_then>();
      Condition all = condition(op.arg(0));
      for (unsigned i = 1; i < op.n_arg(); ++i) {
        const Condition next = condition(op.arg(static_cast<int>(i)));
        all = conjunction ? Condition::both(all, next) : Condition::either(all, next);
      }
      return all;
    }
    const Expr a = expr(op.arg(0)), b = expr(op.arg(1));
    if (op.isa<isl::ast_expr_op_le>()) return Condition::less_equal(a, b);
    if (op.isa<isl::ast_expr_op_lt>()) return Condition::less_equal(a + 1, b);
    if (op.isa<isl::ast_expr_op_ge>()) return Condition::less_equal(b, a);
    if (op.isa<isl::ast_expr_op_gt>()) return Condition::less_equal(b + 1, a);
    if (op.isa<isl::ast_expr_op_eq>()) return Condition::equal(a, b);
    throw InternalError("isl AST condition not understood: " + e.to_C_str());
  }

  const Task& task_;
  const Shape& h_;
};

isl::ast_node build_ast(isl::ctx ctx, const isl::set& context, const isl::schedule& tree) {
  isl_id_list* names = isl_id_list_alloc(ctx.get(), 4);
  for (const char* n : {"ro", "k", "a", "q"}) names = isl_id_list_add(names, isl_id_alloc(ctx.get(), n, nullptr));
  const isl::ast_build build = isl::manage(
      isl_ast_build_set_iterators(isl_ast_build_from_context(context.copy()), names));
  return build.node_from(tree);
}

/// Outputs index registers, so their loop always unrolls; items unroll where isl left no guard.
PlanNode finish(PlanNode node, const Schedule& s) {
  node = unroll(node, "q", s.rows);
  node = unroll(node, "a", s.items);
  return unroll(unroll(node, "ro", 1), "k", 1);  // one iteration: no loop
}

}  // namespace

KernelPlan lower(const Task& task, const Schedule& schedule) {
  KernelPlan plan;
  plan.entry = "rt_main";
  plan.op = task.reduce_op();
  plan.input = task.input_dtype();
  plan.accumulator = task.accumulator();
  plan.result = task.output_dtype();
  plan.axes = axes_of(task.canonical);
  plan.schedule = schedule;
  plan.index = task.needs_64bit_index() ? IndexWidth::k64 : IndexWidth::k32;
  plan.warp = task.target.warp;
  plan.unaligned_loads = !task.target.aligned_vectors;
  const Shape h = shape_of(task, plan.axes, schedule);
  plan.tiling = h.t;

  ThreadModel& cache = thread_model();
  const PolyhedralModel& model = cache.of(task.canonical, plan.axes);
  const isl::ctx ctx = cache.context.get();
  const MappedTree tree = map_tree(ctx, model, h);
  const PlanBuilder builder(task, h);
  plan.accumulate = finish(builder.build(build_ast(ctx, tree.context, tree.accumulate)), schedule);
  plan.store = finish(builder.build(build_ast(ctx, tree.context, tree.store)), schedule);
  return plan;
}

namespace {

template <typename T>
std::string printed(const T& object) {
  std::ostringstream out;
  out << object;
  return out.str();
}

}  // namespace

TreeText schedule_trees(const Task& task, const Schedule& schedule) {
  const Axes axes = axes_of(task.canonical);
  const Shape h = shape_of(task, axes, schedule);
  ThreadModel& cache = thread_model();
  const PolyhedralModel& model = cache.of(task.canonical, axes);
  const MappedTree tree = map_tree(cache.context.get(), model, h);
  return {printed(model.domain), printed(model.flow.unite(model.reduction)), printed(model.schedule),
          printed(tree.accumulate)};
}

}  // namespace redtune
