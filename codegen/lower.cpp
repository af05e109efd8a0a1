#include "codegen/lower.h"

#include <isl/ast_build.h>
#include <isl/cpp.h>
#include <isl/id.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "space/polyhedral.h"
#include "support/error.h"
#include "support/text.h"

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

/// Names that a schedule really has: a block or thread index with one value is 0, a loop with one iteration is none.
/// Every name costs isl time.
struct Names {
  std::vector<std::string> parameters;  // indices of blocks, tiles and threads
  std::vector<std::string> loops;       // of V, outermost first: ro, k, a, q
  std::string tile, tj, po, bo, bi, tx, ty;
  std::string ro, a, q;                 // "0" when there is no such loop

  explicit Names(const Shape& h) {
    const Schedule& s = h.s;
    const bool row = h.axes.row_type;
    const auto parameter = [this](const char* n, std::int64_t extent) -> std::string {
      if (extent == 1) return "0";
      parameters.emplace_back(n);
      return n;
    };
    tile = parameter("tile", row ? h.t.tiles : 1);
    po = parameter("po0", row ? 1 : h.axes.outer);
    tj = parameter("tj", h.t.tiles_inner);
    bo = parameter("bo", h.t.split_outer);
    bi = parameter("bi", h.t.split_inner);
    tx = parameter("tx", row ? s.rx : s.px);
    ty = parameter("ty", row ? s.px : s.rx);
    const auto loop = [this](const char* n, std::int64_t extent) -> std::string {
      if (extent == 1) return "0";
      loops.emplace_back(n);
      return n;
    };
    ro = loop("ro", row ? h.axes.outer : 1);
    loops.emplace_back("k");
    a = loop("a", s.items);
    q = loop("q", s.rows);
  }

  std::string head() const { return "[" + join(parameters, ", ") + "] -> "; }
  std::string tuple(const char* statement) const { return std::string(statement) + "[" + join(loops, ", ") + "]"; }
  /// Loops of a statement without k and a.
  std::vector<std::string> outer_loops() const {
    std::vector<std::string> names;
    for (const std::string& n : loops) {
      if (n != "k" && n != "a") names.push_back(n);
    }
    return names;
  }
};

std::string context_text(const Shape& h, const Names& n) {
  const Schedule& s = h.s;
  const bool row = h.axes.row_type;
  std::vector<std::string> bounds;
  const auto bound = [&bounds](const std::string& name, std::int64_t extent) {
    if (name != "0") bounds.push_back("0 <= " + name + " < " + num(extent));
  };
  bound(n.tile, h.t.tiles);
  bound(n.po, h.axes.outer);
  bound(n.tj, h.t.tiles_inner);
  bound(n.bo, h.t.split_outer);
  bound(n.bi, h.t.split_inner);
  bound(n.tx, row ? s.rx : s.px);
  bound(n.ty, row ? s.px : s.rx);
  return n.head() + "{ : " + join(bounds, " and ") + " }";
}

/// Which iterations k of the loop along the reduced axis belong to block `bi`.
std::string walk_text(const Shape& h, const Names& n) {
  if (h.t.split_inner == 1) return "";
  if (h.s.walk == Walk::kStrided) return " and exists (e : k = " + num(h.t.split_inner) + " e + " + n.bi + ")";
  const std::string chunk = num(h.t.chunk / h.t.reduced_tile);
  return " and " + chunk + " " + n.bi + " <= k < " + chunk + " " + n.bi + " + " + chunk;
}

std::string outer_walk_text(const Shape& h, const Names& n) {
  if (h.t.split_outer == 1) return "";
  if (h.s.walk == Walk::kStrided) return " and exists (f : ro = " + num(h.t.split_outer) + " f + " + n.bo + ")";
  const std::string chunk = num(h.t.outer_chunk);
  return " and " + chunk + " " + n.bo + " <= ro < " + chunk + " " + n.bo + " + " + chunk;
}

/// Output of a thread's register q: p (row type) or vector j of the kept axis (column type).
std::string row_output(const Shape& h, const Names& n) {
  return "p = " + num(h.t.kept_tile) + " * " + n.tile + " + " + num(h.s.px) + " * " + n.q + " + " + n.ty + " and 0 <= " + n.q +
         " < " + num(h.s.rows);
}

std::string column_output(const Shape& h, const Names& n) {
  return "j = " + num(h.t.kept_tile) + " * " + n.tj + " + " + num(h.s.px) + " * " + n.q + " + " + n.tx + " and 0 <= " + n.q +
         " < " + num(h.s.rows) + " and 0 <= j < " + num(h.t.inner_units);
}

std::string lanes_text(const Shape& h, const char* axis) {
  return " and " + num(h.s.vec) + " j <= " + axis + " < " + num(h.s.vec) + " j + " + num(h.s.vec);
}

std::string iteration_text(const Shape& h, const Names& n, const char* axis, const std::string& thread) {
  return std::string(" and ") + axis + " = " + num(h.t.reduced_tile) + " k + " + num(h.s.rx) + " * " + n.a + " + " + thread +
         " and 0 <= " + n.a + " < " + num(h.s.items);
}

/// Where each instance of S goes: S -> V[ro, k, a, q], one vector load.
std::string load_map(const Shape& h, const Names& n) {
  if (h.axes.row_type) {
    const std::string outer = n.ro == "0" ? "0" : "ro";
    return n.head() + "{ S[p, " + outer + ", ri] -> " + n.tuple("V") + " : exists (j : " + row_output(h, n) +
           lanes_text(h, "ri") + " and 0 <= j < " + num(h.t.inner_units) + iteration_text(h, n, "j", n.tx) + ")" +
           walk_text(h, n) + outer_walk_text(h, n) + " }";
  }
  return n.head() + "{ S[po, r, pi] -> " + n.tuple("V") + " : po = " + n.po + " and exists (j : " + column_output(h, n) +
         lanes_text(h, "pi") + ")" + iteration_text(h, n, "r", n.ty) + walk_text(h, n) + " }";
}

/// Row type: the tail goes to lane 0 (masked: one load) or round robin over the lanes (element loads), and to the
/// last of the blocks that share a row.
std::string tail_map(const Shape& h, const Names& n) {
  std::vector<std::string> loops = n.outer_loops();
  loops.emplace_back("e");
  const std::string first = num(h.t.inner_units * h.s.vec), outer = n.ro == "0" ? "0" : "ro";
  std::string m = n.head() + "{ S[p, " + outer + ", ri] -> T[" + join(loops, ", ") + "] : exists (g : " + row_output(h, n) +
                  " and ri >= " + first;
  m += h.masked_tail ? " and e = 0 and " + n.tx + " = 0" : " and e = ri - " + first + " and e = " + num(h.s.rx) + " g + " + n.tx;
  if (n.bi != "0") m += " and bi = " + num(h.t.split_inner - 1);
  return m + ")" + outer_walk_text(h, n) + " }";
}

/// Full tiles: no guard is needed inside them, so their loops unroll. Empty when every tile is full.
std::string isolate_text(const Shape& h, const Names& n) {
  std::string full;
  const std::int64_t units = h.axes.row_type ? h.t.inner_units : h.axes.reduced;
  const std::int64_t kept = h.axes.row_type ? h.axes.kept : h.t.inner_units;
  const std::string tile = num(h.t.reduced_tile);
  if (units % h.t.reduced_tile != 0) full = tile + " k + " + tile + " <= " + num(units);
  if (kept % h.t.kept_tile != 0) {
    if (!full.empty()) full += " and ";
    full += num(h.t.kept_tile) + " * " + (h.axes.row_type ? n.tile : n.tj) + " + " + num(h.t.kept_tile) + " <= " + num(kept);
  }
  if (full.empty()) return "";
  std::vector<std::string> band = n.loops;
  std::string outer = "[]";
  if (n.ro != "0") {
    band.erase(band.begin());
    outer = "[ro]";
  }
  return n.head() + "{ isolate[" + outer + " -> [" + join(band, ", ") + "]] : " + full + " }";
}

// ---- trees ---------------------------------------------------------------------------------------------------------

struct MappedTree {
  isl::set context;
  isl::schedule accumulate;
};

/// A band whose members are the named dimensions of one statement, in order.
isl::multi_union_pw_aff band_of(isl::ctx ctx, const std::string& tuple, const std::vector<std::string>& members) {
  std::vector<std::string> parts;
  for (const std::string& m : members) parts.push_back("{ " + tuple + " -> [(" + m + ")] }");
  return isl::multi_union_pw_aff(ctx, "[" + join(parts, ", ") + "]");
}

/// domain -> band (ro) -> sequence { V: band (k, a, q) ; T: band (q, e) }, members with one value left out.
isl::schedule accumulate_tree(isl::ctx ctx, const Shape& h, const Names& n, const isl::union_set& loads,
                              const isl::union_set& tails) {
  const bool has_tail = !tails.is_empty();
  std::vector<std::string> tail_loops = n.outer_loops();
  tail_loops.emplace_back("e");
  const std::string v = n.tuple("V"), t = "T[" + join(tail_loops, ", ") + "]";
  isl::schedule_node node = isl::schedule_node::from_domain(loads.unite(tails)).child(0);
  std::vector<std::string> band = n.loops;
  if (n.ro != "0") {
    band.erase(band.begin());
    const std::string both = "[{ " + v + " -> [(ro)]" + (has_tail ? "; " + t + " -> [(ro)]" : "") + " }]";
    node = node.insert_partial_schedule(isl::multi_union_pw_aff(ctx, both)).child(0);
  }
  if (has_tail) {
    isl::union_set_list filters(ctx, 2);
    node = node.insert_sequence(filters.add(loads.universe()).add(tails.universe())).child(1).child(0);
    // The members of V's band in the same places, so that loops carry the same names.
    std::vector<std::string> members;
    for (const std::string& member : band) members.push_back(member == "q" ? "q" : "0");
    members.emplace_back("e");
    node = node.insert_partial_schedule(band_of(ctx, t, members)).parent().parent().child(0).child(0);
  }
  node = node.insert_partial_schedule(band_of(ctx, v, band));
  if (const std::string isolate = isolate_text(h, n); !isolate.empty()) {
    node = node.as<isl::schedule_node_band>().set_ast_build_options(isl::union_set(ctx, isolate));
  }
  return node.schedule();
}

/// Per thread: an isl context and the models of the tasks lowered lately, since a tuning run lowers many schedules of
/// one task, with the reduction of its partials as a second.
struct ThreadModel {
  static constexpr std::size_t kModels = 64, kPlans = 256;
  IslContext context;
  std::map<std::string, PolyhedralModel> models;
  std::map<std::string, PlanNode> plans;  // by everything that isl was told: schedules that differ in how they combine

  const PolyhedralModel& of(const Axes& axes) {
    context.refill();
    const std::string key = (axes.row_type ? "row " : "column ") + num(axes.kept) + " " + num(axes.outer) + " " +
                            num(axes.reduced) + " " + num(axes.inner);
    const auto found = models.find(key);
    if (found != models.end()) return found->second;
    if (models.size() == kModels) models.clear();
    return models.emplace(key, build_model(context.get(), axes)).first->second;
  }

  template <typename Build>
  const PlanNode& plan(const std::string& key, Build build) {
    const auto found = plans.find(key);
    if (found != plans.end()) return found->second;
    if (plans.size() == kPlans) plans.clear();
    return plans.emplace(key, build()).first->second;
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

MappedTree map_tree(isl::ctx ctx, const PolyhedralModel& model, const Shape& h, const Names& n) {
  const isl::union_set loads = model.domain.apply(isl::union_map(ctx, load_map(h, n)));
  isl::union_set tails = isl::union_set(ctx, "{ }");
  if (h.t.tail > 0) tails = model.domain.apply(isl::union_map(ctx, tail_map(h, n)));
  return {isl::set(ctx, context_text(h, n)), accumulate_tree(ctx, h, n, loads, tails)};
}

// ---- isl AST -> plan -----------------------------------------------------------------------------------------------

class PlanBuilder {
 public:
  PlanBuilder(const Task& task, const Shape& h, const Names& n) : task_(task), h_(h), n_(n) {}

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

  /// The outputs of a thread, each behind its bound: one affine condition per register, so nothing for isl to find.
  PlanNode stores() const {
    PlanNode block;
    const std::int64_t last = (h_.axes.row_type ? h_.axes.kept : h_.t.inner_units) - 1;
    const bool partial = (last + 1) % h_.t.kept_tile != 0;
    for (std::int64_t q = 0; q < h_.s.rows; ++q) {
      PlanNode node;
      node.kind = PlanNode::Kind::kStatement;
      node.statement = store(q);
      const Condition exists = Condition::less_equal(h_.axes.row_type ? row(q) : column(q), last);
      if (partial && exists.is_false()) break;
      if (partial && !exists.is_true()) {
        PlanNode guard;
        guard.kind = PlanNode::Kind::kIf;
        guard.condition = exists;
        guard.body.push_back(std::move(node));
        node = std::move(guard);
      }
      block.body.push_back(std::move(node));
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

  /// The call's arguments are the loops that the statement has, in the order of its tuple.
  PlanNode statement(const isl::ast_expr& call_expr) const {
    const isl::ast_expr_op call = call_expr.as<isl::ast_expr_op>();
    const bool is_load = name_of(call.arg(0)) == "V";
    std::vector<std::string> names = is_load ? n_.loops : n_.outer_loops();
    if (!is_load) names.emplace_back("e");
    std::map<std::string, Expr> at;
    for (std::size_t i = 0; i < names.size(); ++i) at[names[i]] = expr(call.arg(static_cast<int>(i) + 1));
    PlanNode node;
    node.kind = PlanNode::Kind::kStatement;
    node.statement = is_load ? load(at) : tail(at);
    node.statement.output = at["q"];
    return node;
  }

  static Expr index(const std::string& name) { return name == "0" ? Expr(0) : Expr::var(name); }
  /// Row type: the output of register q. The same equation as in row_output.
  Expr row(const Expr& q) const { return index(n_.tile) * h_.t.kept_tile + q * h_.s.px + index(n_.ty); }
  /// Column type: the vector of register q. The same equation as in column_output.
  Expr column(const Expr& q) const { return index(n_.tj) * h_.t.kept_tile + q * h_.s.px + index(n_.tx); }

  PlanStatement load(std::map<std::string, Expr>& at) const {
    PlanStatement s;
    s.item = at["a"];
    const std::int64_t inner_stride = h_.axes.inner_groups.empty() ? 1 : h_.axes.inner_groups.back().stride;
    const Expr unit = at["k"] * h_.t.reduced_tile + at["a"] * h_.s.rx + index(h_.axes.row_type ? n_.tx : n_.ty);
    if (h_.axes.row_type) {
      s.input_offset = base() + flat(row(at["q"]), h_.axes.kept_groups, false) +
                       flat(at["ro"], h_.axes.outer_groups, false) + unit * h_.s.vec * inner_stride;
    } else {
      s.input_offset = base() + flat(index(n_.po), h_.axes.outer_groups, false) +
                       flat(unit, h_.axes.reduced_groups, false) + lane_start(column(at["q"])) * inner_stride;
    }
    return s;
  }

  PlanStatement tail(std::map<std::string, Expr>& at) const {
    PlanStatement s;
    const std::int64_t stride = h_.axes.inner_groups.back().stride;
    s.input_offset = base() + flat(row(at["q"]), h_.axes.kept_groups, false) + flat(at["ro"], h_.axes.outer_groups, false);
    if (h_.masked_tail) {
      s.kind = PlanStatement::Kind::kMaskedTail;
      s.input_offset = s.input_offset + Expr(h_.axes.inner - h_.s.vec) * stride;
      s.first_lane = Expr(h_.s.vec - h_.t.tail);
    } else {
      s.kind = PlanStatement::Kind::kScalarTail;
      s.input_offset = s.input_offset + (at["e"] + h_.t.inner_units * h_.s.vec) * stride;
    }
    return s;
  }

  PlanStatement store(const Expr& q) const {
    PlanStatement s;
    s.kind = PlanStatement::Kind::kStore;
    s.output = q;
    if (h_.axes.row_type) {
      s.output_offset = flat(row(q), h_.axes.kept_groups, true);
    } else {
      const Expr j = column(q), first = lane_start(j);
      const std::int64_t stride = h_.axes.inner_groups.empty() ? 1 : h_.axes.inner_groups.back().output_stride;
      s.output_offset = flat(index(n_.po), h_.axes.outer_groups, true) + first * stride;
      s.first_lane = j * h_.s.vec - first;
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
  const Names& n_;
};

isl::ast_node build_ast(isl::ctx ctx, const isl::set& context, const isl::schedule& tree,
                        const std::vector<std::string>& loops) {
  isl_id_list* names = isl_id_list_alloc(ctx.get(), static_cast<int>(loops.size()));
  for (const std::string& n : loops) names = isl_id_list_add(names, isl_id_alloc(ctx.get(), n.c_str(), nullptr));
  const isl::ast_build build = isl::manage(
      isl_ast_build_set_iterators(isl_ast_build_from_context(context.copy()), names));
  return build.node_from(tree);
}

/// Outputs index registers, so their loop always unrolls; items unroll where isl left no guard.
PlanNode finish(PlanNode node, const Schedule& s) {
  node = unroll(node, "q", s.rows, OpenLoops::kGuard);
  node = unroll(node, "a", s.items, OpenLoops::kGuard);
  for (const char* loop : {"ro", "k", "e"}) node = unroll(node, loop, 1, OpenLoops::kKeep);  // one iteration: no loop
  return node;
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
  const PolyhedralModel& model = cache.of(plan.axes);
  const isl::ctx ctx = cache.context.get();
  check_combines(h);
  const Names names(h);
  const PlanBuilder builder(task, h, names);
  plan.accumulate = cache.plan(task.key() + load_map(h, names) + tail_map(h, names) + isolate_text(h, names), [&] {
    std::vector<std::string> loops = names.loops;
    loops.emplace_back("e");
    const MappedTree tree = map_tree(ctx, model, h, names);
    return finish(builder.build(build_ast(ctx, tree.context, tree.accumulate, loops)), schedule);
  });
  plan.store = builder.stores();
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
  const PolyhedralModel& model = cache.of(axes);
  const MappedTree tree = map_tree(cache.context.get(), model, h, Names(h));
  return {printed(model.domain), printed(model.flow.unite(model.reduction)), printed(model.schedule),
          printed(tree.accumulate)};
}

}  // namespace redtune
