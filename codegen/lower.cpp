#include "codegen/lower.h"

#include <isl/ast_build.h>
#include <isl/cpp.h>
#include <isl/id.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "codegen/lower_tiles.h"
#include "space/polyhedral.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

/// Per thread: an isl context and the plans lowered lately, since a tuning run lowers many schedules of one task that
/// differ only in how they combine.
struct ThreadPlans {
  static constexpr std::size_t kPlans = 256;
  IslContext context;
  std::map<std::string, PlanNode> plans;

  template <typename Build>
  const PlanNode& plan(const std::string& key, Build build) {
    const auto found = plans.find(key);
    if (found != plans.end()) return found->second;
    context.refill();
    if (plans.size() == kPlans) plans.clear();
    return plans.emplace(key, build()).first->second;
  }
};

ThreadPlans& thread_plans() {
  thread_local ThreadPlans plans;
  return plans;
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
    const std::int64_t units = kept_units(h_);
    for (std::int64_t q = 0; q < h_.s.rows; ++q) {
      const Condition exists = units % h_.t.kept_tile == 0
                                   ? Condition{}
                                   : Condition::less_equal(h_.axes.row_type ? row(q) : column(q), units - 1);
      add_guarded(exists, store(q), q, block);
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

  /// One iteration: the loads of a thread, items before rows, each behind the bounds that cut its tile.
  PlanNode statement(const isl::ast_expr& call_expr) const {
    const isl::ast_expr_op call = call_expr.as<isl::ast_expr_op>();
    const std::string kind = name_of(call.arg(0));
    std::map<std::string, Expr> at;
    if (n_.ro != "0") at["ro"] = expr(call.arg(1));
    const Expr inner = expr(call.arg(static_cast<int>(call.n_arg()) - 1));
    PlanNode block;
    for (const Part& part : kTailParts) {
      if (kind == part.name) tail_loads(part, inner, at, block);
    }
    for (const Part& part : kParts) {
      if (kind == part.name) loads(part, inner, at, block);
    }
    return block;
  }

  void loads(const Part& part, const Expr& iteration, std::map<std::string, Expr>& at, PlanNode& block) const {
    at["k"] = iteration;
    // Only the last iteration is cut.
    const std::int64_t left = reduced_units(h_) % h_.t.reduced_tile;
    for (std::int64_t a = 0; a < h_.s.items; ++a) {
      at["a"] = a;
      const Condition exists =
          part.reduced_cut ? below(h_.axes.row_type ? n_.tx : n_.ty, h_.s.rx, a * h_.s.rx, left) : Condition{};
      PlanNode rows;
      for (std::int64_t q = 0; q < h_.s.rows; ++q) {
        at["q"] = q;
        add_guarded(row_exists(part, q), load(at), q, rows);
      }
      add_guarded(exists, std::move(rows), block);
    }
  }

  void tail_loads(const Part& part, const Expr& turn, std::map<std::string, Expr>& at, PlanNode& block) const {
    const Expr element = turn * h_.s.rx + index(n_.tx);
    at["e"] = element;
    const Condition mine = h_.masked_tail ? Condition::less_equal(index(n_.tx), 0)
                                          : Condition::less_equal(element, h_.t.tail - 1);
    PlanNode rows;
    for (std::int64_t q = 0; q < h_.s.rows; ++q) {
      at["q"] = q;
      add_guarded(row_exists(part, q), tail(at), q, rows);
    }
    add_guarded(h_.t.tail % h_.s.rx == 0 && !h_.masked_tail ? Condition{} : mine, std::move(rows), block);
  }

  /// Only the last tile is cut, so its index is known.
  Condition row_exists(const Part& part, std::int64_t q) const {
    if (!part.kept_cut) return {};
    return below(h_.axes.row_type ? n_.ty : n_.tx, h_.s.px, q * h_.s.px, kept_units(h_) % h_.t.kept_tile);
  }

  /// first + thread < bound, for a thread index below `threads`.
  static Condition below(const std::string& thread, std::int64_t threads, std::int64_t first, std::int64_t bound) {
    if (first + threads <= bound) return {};
    if (first >= bound) return Condition::less_equal(1, 0);
    return Condition::less_equal(index(thread), bound - first - 1);
  }

  static void add_guarded(const Condition& condition, PlanNode body, PlanNode& block) {
    if (condition.is_false() || (body.kind == PlanNode::Kind::kBlock && body.body.empty())) return;
    if (condition.is_true()) {
      block.body.push_back(std::move(body));
      return;
    }
    PlanNode guard;
    guard.kind = PlanNode::Kind::kIf;
    guard.condition = condition;
    guard.body.push_back(std::move(body));
    block.body.push_back(std::move(guard));
  }

  static void add_guarded(const Condition& condition, PlanStatement statement, const Expr& output, PlanNode& block) {
    PlanNode node;
    node.kind = PlanNode::Kind::kStatement;
    node.statement = std::move(statement);
    node.statement.output = output;
    add_guarded(condition, std::move(node), block);
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
      s.input_offset = base() + flat(row(at["q"]), h_.axes.kept_groups, &Group::stride) +
                       flat(at["ro"], h_.axes.outer_groups, &Group::stride) + unit * h_.s.vec * inner_stride;
      s.position = row_position(at["ro"], unit * h_.s.vec);
      fill_accesses(s, [&](std::size_t a) {
        return flat(row(at["q"]), h_.axes.kept_groups, a) + flat(at["ro"], h_.axes.outer_groups, a) + unit * h_.s.vec * inner_stride_of(a);
      });
    } else {
      s.input_offset = base() + flat(index(n_.po), h_.axes.outer_groups, &Group::stride) +
                       flat(unit, h_.axes.reduced_groups, &Group::stride) + lane_start(column(at["q"])) * inner_stride;
      s.position = flat(unit, h_.axes.reduced_groups, &Group::position_stride);
      fill_accesses(s, [&](std::size_t a) {
        return flat(index(n_.po), h_.axes.outer_groups, a) + flat(unit, h_.axes.reduced_groups, a) + lane_start(column(at["q"])) * inner_stride_of(a);
      });
    }
    return s;
  }

  PlanStatement tail(std::map<std::string, Expr>& at) const {
    PlanStatement s;
    const std::int64_t stride = h_.axes.inner_groups.back().stride;
    s.input_offset = base() + flat(row(at["q"]), h_.axes.kept_groups, &Group::stride) +
                     flat(at["ro"], h_.axes.outer_groups, &Group::stride);
    if (h_.masked_tail) {
      s.kind = PlanStatement::Kind::kMaskedTail;
      s.input_offset = s.input_offset + Expr(h_.axes.inner - h_.s.vec) * stride;
      s.position = row_position(at["ro"], h_.axes.inner - h_.s.vec);
      s.first_lane = Expr(h_.s.vec - h_.t.tail);
    } else {
      s.kind = PlanStatement::Kind::kScalarTail;
      const Expr element = at["e"] + h_.t.inner_units * h_.s.vec;
      s.input_offset = s.input_offset + element * stride;
      s.position = row_position(at["ro"], element);
    }
    const Expr first = h_.masked_tail ? Expr(h_.axes.inner - h_.s.vec) : at["e"] + h_.t.inner_units * h_.s.vec;
    fill_accesses(s, [&](std::size_t a) {
      return flat(row(at["q"]), h_.axes.kept_groups, a) + flat(at["ro"], h_.axes.outer_groups, a) + first * inner_stride_of(a);
    });
    return s;
  }

  PlanStatement store(const Expr& q) const {
    PlanStatement s;
    s.kind = PlanStatement::Kind::kStore;
    s.output = q;
    if (h_.axes.row_type) {
      s.output_offset = flat(row(q), h_.axes.kept_groups, &Group::output_stride);
      fill_accesses(s, [&](std::size_t a) { return flat(row(q), h_.axes.kept_groups, a); });
    } else {
      const Expr j = column(q), first = lane_start(j);
      const std::int64_t stride = h_.axes.inner_groups.empty() ? 1 : h_.axes.inner_groups.back().output_stride;
      s.output_offset = flat(index(n_.po), h_.axes.outer_groups, &Group::output_stride) + first * stride;
      s.first_lane = j * h_.s.vec - first;
      fill_accesses(s, [&](std::size_t a) { return flat(index(n_.po), h_.axes.outer_groups, a) + first * inner_stride_of(a); });
    }
    return s;
  }

  /// First element of vector j of the kept axis: the last vector is moved back so that it ends with the axis.
  Expr lane_start(const Expr& j) const {
    const Expr start = j * h_.s.vec;
    return h_.overlap == 0 ? start : min(start, Expr(h_.axes.inner - h_.s.vec));
  }

  Expr row_position(const Expr& outer, const Expr& inner) const {
    const std::int64_t step = h_.axes.inner_groups.empty() ? 0 : h_.axes.inner_groups.back().position_stride;
    return flat(outer, h_.axes.outer_groups, &Group::position_stride) + inner * step;
  }

  Expr base() const { return task_.nest().input().offset; }

  template <typename Stride>
  static Expr walk(const Expr& coordinate, const std::vector<Group>& groups, Stride stride) {
    Expr offset;
    Expr rest = coordinate;
    for (std::size_t i = groups.size(); i-- > 0;) {
      const Group& g = groups[i];
      const Expr index = i == 0 ? rest : mod(rest, g.extent);
      offset = offset + index * stride(g);
      rest = floor_div(rest, g.extent);
    }
    return offset;
  }

  static Expr flat(const Expr& coordinate, const std::vector<Group>& groups, std::int64_t Group::* stride) {
    return walk(coordinate, groups, [stride](const Group& g) { return g.*stride; });
  }
  /// The same for access number `access` of a fused group.
  static Expr flat(const Expr& coordinate, const std::vector<Group>& groups, std::size_t access) {
    return walk(coordinate, groups, [access](const Group& g) { return g.strides[access]; });
  }
  std::int64_t inner_stride_of(std::size_t access) const {
    return h_.axes.inner_groups.empty() ? 0 : h_.axes.inner_groups.back().strides[access];
  }

  template <typename Offset>
  void fill_accesses(PlanStatement& s, Offset offset) const {
    if (!task_.fused) return;
    for (std::size_t a = 0; a < task_.fused->accesses.size(); ++a) {
      s.accesses.push_back(Expr(task_.fused->accesses[a].offset) + offset(a));
    }
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

isl::ast_node build_ast(isl::ctx ctx, const isl::set& context, const isl::schedule& tree, const Names& n) {
  isl_id_list* names = isl_id_list_alloc(ctx.get(), 2);
  if (n.ro != "0") names = isl_id_list_add(names, isl_id_alloc(ctx.get(), "ro", nullptr));
  names = isl_id_list_add(names, isl_id_alloc(ctx.get(), "k", nullptr));
  const isl::ast_build build = isl::manage(
      isl_ast_build_set_iterators(isl_ast_build_from_context(context.copy()), names));
  return build.node_from(tree);
}

}  // namespace

namespace {

/// How many outputs of a thread combine at once. The budget leaves a multiprocessor room for more blocks; on a CPU
/// shared memory is memory like any other, and its caches are the limit. One output fits always (a constraint of the
/// space).
int rows_at_once(const KernelPlan& plan, const Target& target) {
  constexpr std::int64_t kGpuBytes = 8 << 10, kCpuBytes = 32 << 10;
  const std::int64_t budget = std::min<std::int64_t>(target.kind == TargetKind::kCuda ? kGpuBytes : kCpuBytes,
                                                     target.shared_bytes_per_block);
  const std::int64_t bytes = std::max<std::int64_t>(1, combine_bytes(plan));
  return static_cast<int>(std::clamp<std::int64_t>(budget / bytes, 1, plan.schedule.rows));
}

/// Groups of one operator have its key: their loops and accesses tell them apart.
std::string plan_key(const Task& task) {
  std::string key = task.key();
  if (!task.fused) return key;
  for (const Group& group : task.canonical.groups) {
    key += static_cast<char>(group.role) + std::to_string(group.extent) + ":" + std::to_string(group.stride);
    for (const std::int64_t stride : group.strides) key += "," + std::to_string(stride);
  }
  for (const FusedAccess& access : task.fused->accesses) key += ";" + std::to_string(access.offset);
  return key + " ";
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
  plan.count = plan.axes.reduced;
  plan.fused = task.fused;
  plan.ddof = task.nest().reduction().ddof;
  plan.schedule = schedule;
  plan.index = task.needs_64bit_index() ? IndexWidth::k64 : IndexWidth::k32;
  plan.warp = task.target.warp;
  plan.unaligned_loads = !task.target.aligned_vectors;
  const Shape h = shape_of(task, plan.axes, schedule);
  plan.tiling = h.t;
  plan.rows_at_once = rows_at_once(plan, task.target);

  check_combines(h);
  ThreadPlans& cache = thread_plans();
  const isl::ctx ctx = cache.context.get();
  const Names names(h);
  const PlanBuilder builder(task, h, names);
  // Schedules that differ only in how they combine share what isl found.
  Schedule accumulates = schedule;
  accumulates.block = BlockCombine::kNone;
  accumulates.grid = GridCombine::kNone;
  accumulates.acc = 1;
  accumulates.prefetch = 0;
  accumulates.copies = 1;
  plan.accumulate = cache.plan(plan_key(task) + accumulates.text(), [&] {
    const MappedTree tree = map_tree(ctx, h, names);
    PlanNode node = builder.build(build_ast(ctx, tree.context, tree.accumulate, names));
    for (const char* loop : {"ro", "k", "e"}) node = without_single_iterations(node, loop);
    return node;
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
  IslContext context;
  const PolyhedralModel model = build_model(context.get(), axes);
  const MappedTree tree = map_tree(context.get(), h, Names(h));
  return {printed(model.domain), printed(model.flow.unite(model.reduction)), printed(model.schedule),
          printed(tree.accumulate)};
}

}  // namespace redtune
