#include "space/fusion.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "space/fused_group_builder.h"
#include "support/error.h"

namespace redtune {
namespace {

/// Decides which statements share a group.
class Fusion {
 public:
  explicit Fusion(const Graph& graph) : graph_(graph) {}

  std::vector<FusedGroup> run() {
    find_needed();
    plan_reductions();
    place_elementwise();
    std::vector<FusedGroup> groups;
    const std::vector<Plan> order = ordered();
    RT_CHECK(order.size() == plans_.size(), "groups wait for each other");
    for (const Plan& plan : order) groups.push_back(build(plan));
    return groups;
  }

  std::vector<FusedGroup> run_apart() {
    std::set<std::string> wanted(graph_.outputs.begin(), graph_.outputs.end());
    std::vector<FusedGroup> groups;
    for (auto s = graph_.statements.rbegin(); s != graph_.statements.rend(); ++s) {
      if (!wanted.contains(s->result.name)) continue;
      for (const GraphNode& node : s->nodes) {
        if (node.kind == GraphNode::Kind::kAccess) wanted.insert(node.tensor);
      }
      groups.push_back(build_apart(*s));
    }
    std::reverse(groups.begin(), groups.end());
    return groups;
  }

 private:
  /// An elementwise output, with its iterators at a point of the group.
  struct Member {
    const GraphStatement* statement;
    std::vector<Index> at;
  };
  struct Plan {
    std::vector<const GraphStatement*> reductions;
    std::vector<Member> bodies, tails;
    std::vector<std::int64_t> extents;
    std::size_t kept = 0;
  };

  /// Reductions that the value of a statement reads, through elementwise statements.
  const std::set<std::string>& reads(const GraphStatement& statement) {
    const auto known = reads_.find(statement.result.name);
    if (known != reads_.end()) return known->second;
    std::set<std::string> found;
    for (const GraphNode& node : statement.nodes) {
      if (node.kind != GraphNode::Kind::kAccess) continue;
      const GraphStatement* producer = graph_.statement_of(node.tensor);
      if (producer == nullptr) continue;
      if (producer->reduce)
        found.insert(producer->result.name);
      else
        found.merge(std::set<std::string>(reads(*producer)));
    }
    return reads_[statement.result.name] = found;
  }

  /// All reductions that must have ended before this statement.
  const std::set<std::string>& needs(const GraphStatement& statement) {
    const auto known = needs_.find(statement.result.name);
    if (known != needs_.end()) return known->second;
    std::set<std::string> all = reads(statement);
    for (const std::string& name : std::set<std::string>(all)) {
      const std::set<std::string>& more = needs(*graph_.statement_of(name));
      all.insert(more.begin(), more.end());
    }
    return needs_[statement.result.name] = all;
  }

  void find_needed() {
    for (const std::string& output : graph_.outputs) {
      const GraphStatement& statement = *graph_.statement_of(output);
      const std::set<std::string> before = needs(statement);
      needed_.insert(before.begin(), before.end());
      if (statement.reduce) needed_.insert(output);
    }
  }

  static std::vector<std::int64_t> extents_of(const GraphStatement& statement) {
    std::vector<std::int64_t> extents;
    for (const Iterator& iterator : statement.iterators) extents.push_back(iterator.extent);
    return extents;
  }

  void plan_reductions() {
    for (const GraphStatement& statement : graph_.statements) {
      if (!statement.reduce || !needed_.contains(statement.result.name)) continue;
      const std::vector<std::int64_t> extents = extents_of(statement);
      Plan* home = nullptr;
      for (Plan& plan : plans_) {
        if (home == nullptr && plan.extents == extents && plan.kept == statement.kept &&
            joins(plan, statement))
          home = &plan;
      }
      if (home == nullptr) {
        plans_.push_back({{}, {}, {}, extents, statement.kept});
        home = &plans_.back();
      }
      home->reductions.push_back(&statement);
      group_of_[statement.result.name] = static_cast<int>(home - plans_.data());
    }
  }

  /// Independent of every reduction there, and of numbers that one state can hold.
  bool joins(const Plan& plan, const GraphStatement& statement) {
    if (info(*statement.reduce).state != State::kValue) return false;
    for (const GraphStatement* other : plan.reductions) {
      if (info(*other->reduce).state != State::kValue) return false;
      if (needs(statement).contains(other->result.name) || needs(*other).contains(statement.result.name))
        return false;
    }
    // No way around through another group: that one would have to run between the two.
    for (const std::string& name : needs(statement)) {
      for (const GraphStatement* other : plan.reductions) {
        if (needs(*graph_.statement_of(name)).contains(other->result.name)) return false;
      }
    }
    return true;
  }

  /// Whether `statement` reads the results of the group point by point, so that it can follow in the same
  /// kernel: fills `at`, the statement's iterators as indices over the group's kept ones.
  bool follows(const Plan& plan, const GraphStatement& statement, std::vector<Index>& at) {
    std::vector<int> to(statement.iterators.size(), -1);
    std::set<std::string> seen;
    if (!matches(plan, statement, identity(statement), to, seen)) return false;
    // Every kept axis must be walked: other statements would be written once per point of it.
    return one_to_one(plan, statement, to, 0, plan.kept, at);
  }

  static std::vector<Index> identity(const GraphStatement& statement) {
    std::vector<Index> list;
    for (std::size_t i = 0; i < statement.iterators.size(); ++i)
      list.push_back(Index::iterator(static_cast<int>(i), statement.iterators[i].extent));
    return list;
  }

  /// Walks the elementwise producers of `statement`; every access to a result of the group must be its own
  /// iterators.
  bool matches(const Plan& plan, const GraphStatement& statement, const std::vector<Index>& at,
               std::vector<int>& to, std::set<std::string>& seen) {
    for (const GraphNode& node : statement.nodes) {
      if (node.kind != GraphNode::Kind::kAccess) continue;
      const GraphStatement* producer = graph_.statement_of(node.tensor);
      if (producer == nullptr) continue;
      std::vector<Index> indices(producer->iterators.size());
      for (std::size_t a = 0; a < producer->axes.size(); ++a) {
        if (producer->axes[a] >= 0)
          indices[static_cast<std::size_t>(producer->axes[a])] = node.at[a].substitute(at);
      }
      if (!producer->reduce) {
        if (!matches(plan, *producer, indices, to, seen)) return false;
        continue;
      }
      if (std::find(plan.reductions.begin(), plan.reductions.end(), producer) == plan.reductions.end())
        continue;
      for (std::size_t k = 0; k < producer->kept; ++k) {
        if (producer->iterators[k].extent == 1) continue;
        const int lone = indices[k].lone_iterator();
        if (lone < 0) return false;
        int& place = to[static_cast<std::size_t>(lone)];
        if (place >= 0 && place != static_cast<int>(k)) return false;
        place = static_cast<int>(k);
      }
    }
    return true;
  }

  void place_elementwise() {
    for (const std::string& output : graph_.outputs) {
      const GraphStatement& statement = *graph_.statement_of(output);
      if (statement.reduce) continue;
      if (!joins_tail(statement) && !joins_beside(statement)) own_group(statement);
    }
  }

  bool joins_tail(const GraphStatement& statement) {
    std::set<int> homes;
    for (const std::string& name : reads(statement)) homes.insert(group_of_.at(name));
    for (auto home = homes.rbegin(); home != homes.rend(); ++home) {
      Plan& plan = plans_[static_cast<std::size_t>(*home)];
      std::vector<Index> at;
      if (!follows(plan, statement, at)) continue;
      plan.tails.push_back({&statement, at});
      if (ordered().size() == plans_.size()) return true;
      plan.tails.pop_back();  // two groups would wait for each other
    }
    return false;
  }

  /// An output over the domain of a group is stored on the way where it shares an operand with the reduction;
  /// one over the outputs of a group beside its results.
  bool joins_beside(const GraphStatement& statement) {
    for (Plan& plan : plans_) {
      if (plan.reductions.empty()) continue;
      const bool waits =
          std::any_of(plan.reductions.begin(), plan.reductions.end(),
                      [&](const GraphStatement* r) { return needs(statement).contains(r->result.name); });
      if (waits) continue;
      std::vector<Index> at;
      const bool in_body = walks_domain(plan, statement, at);
      if (!in_body && !walks_outputs(plan, statement, at)) continue;
      std::vector<Member>& list = in_body ? plan.bodies : plan.tails;
      list.push_back({&statement, at});
      if (ordered().size() == plans_.size()) return true;
      list.pop_back();  // two groups would wait for each other
    }
    return false;
  }

  /// Tensors that a statement loads in the end, with the iterator that each axis is indexed by alone (-1:
  /// none).
  struct Leaf {
    std::string tensor;
    std::vector<int> iterators;
  };
  std::vector<Leaf> leaves(const GraphStatement& statement, const std::vector<Index>& at) const {
    std::vector<Leaf> found;
    for (const GraphNode& node : statement.nodes) {
      if (node.kind != GraphNode::Kind::kAccess) continue;
      const GraphStatement* producer = graph_.statement_of(node.tensor);
      std::vector<Index> indices;
      for (const Index& index : node.at) indices.push_back(index.substitute(at));
      if (producer != nullptr && !producer->reduce) {
        std::vector<Index> inner(producer->iterators.size());
        for (std::size_t a = 0; a < producer->axes.size(); ++a) {
          if (producer->axes[a] >= 0) inner[static_cast<std::size_t>(producer->axes[a])] = indices[a];
        }
        for (Leaf& leaf : leaves(*producer, inner)) found.push_back(std::move(leaf));
        continue;
      }
      Leaf leaf{node.tensor, {}};
      for (const Index& index : indices) leaf.iterators.push_back(index.lone_iterator());
      found.push_back(std::move(leaf));
    }
    return found;
  }

  /// One to one from the iterators of `statement` to those of the group's domain, as a shared operand says.
  bool walks_domain(const Plan& plan, const GraphStatement& statement, std::vector<Index>& at) const {
    const GraphStatement& reader = *plan.reductions.front();
    std::vector<int> to(statement.iterators.size(), -1);
    const std::vector<Leaf> theirs = leaves(reader, identity(reader));
    bool shares = false;
    for (const Leaf& mine : leaves(statement, identity(statement))) {
      for (const Leaf& other : theirs) {
        if (mine.tensor != other.tensor) continue;
        for (std::size_t a = 0; a < mine.iterators.size(); ++a) {
          if (mine.iterators[a] < 0 || other.iterators[a] < 0) continue;
          int& place = to[static_cast<std::size_t>(mine.iterators[a])];
          if (place < 0) place = other.iterators[a];
          shares = true;
        }
      }
    }
    return shares && one_to_one(plan, statement, to, 0, plan.extents.size(), at);
  }

  static bool walks_outputs(const Plan& plan, const GraphStatement& statement, std::vector<Index>& at) {
    std::vector<int> to(statement.iterators.size(), -1);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      if (statement.iterators[i].extent == 1) continue;
      while (kept < plan.kept && plan.extents[kept] == 1) ++kept;
      if (kept == plan.kept) return false;
      to[i] = static_cast<int>(kept++);
    }
    return one_to_one(plan, statement, to, 0, plan.kept, at);
  }

  /// `at` from `to`, where that covers the group's axes [first, end) once each.
  static bool one_to_one(const Plan& plan, const GraphStatement& statement, const std::vector<int>& to,
                         std::size_t first, std::size_t end, std::vector<Index>& at) {
    at.assign(to.size(), Index());
    std::set<int> used;
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::int64_t extent = statement.iterators[i].extent;
      if (extent == 1) continue;
      if (to[i] < 0 || !used.insert(to[i]).second || plan.extents[static_cast<std::size_t>(to[i])] != extent)
        return false;
      at[i] = Index::iterator(to[i], extent);
    }
    for (std::size_t k = first; k < end; ++k) {
      if (plan.extents[k] > 1 && !used.contains(static_cast<int>(k))) return false;
    }
    return true;
  }

  void own_group(const GraphStatement& statement) {
    const std::vector<std::int64_t> extents = extents_of(statement);
    for (Plan& plan : plans_) {
      if (!plan.reductions.empty() || plan.extents != extents) continue;
      if (needs(*plan.bodies.front().statement) != needs(statement)) continue;
      plan.bodies.push_back({&statement, identity(statement)});
      return;
    }
    plans_.push_back({{}, {{&statement, identity(statement)}}, {}, extents, extents.size()});
  }

  static std::vector<const GraphStatement*> statements_of(const Plan& plan) {
    std::vector<const GraphStatement*> all = plan.reductions;
    for (const auto* list : {&plan.bodies, &plan.tails}) {
      for (const Member& member : *list) all.push_back(member.statement);
    }
    return all;
  }

  std::set<std::string> needs_of(const Plan& plan) {
    std::set<std::string> all;
    for (const GraphStatement* statement : statements_of(plan)) {
      for (const std::string& name : needs(*statement)) {
        const bool own = std::any_of(plan.reductions.begin(), plan.reductions.end(),
                                     [&](const GraphStatement* r) { return r->result.name == name; });
        if (!own) all.insert(name);
      }
    }
    return all;
  }

  /// In an order that computes before it uses; shorter than the plans where some wait for each other.
  std::vector<Plan> ordered() {
    std::vector<Plan> order;
    std::set<std::string> done;
    std::vector<Plan> waiting = plans_;
    while (!waiting.empty()) {
      const auto ready = std::find_if(waiting.begin(), waiting.end(), [&](const Plan& plan) {
        const std::set<std::string> before = needs_of(plan);
        return std::includes(done.begin(), done.end(), before.begin(), before.end());
      });
      if (ready == waiting.end()) return order;
      for (const GraphStatement* reduction : ready->reductions) done.insert(reduction->result.name);
      order.push_back(*ready);
      waiting.erase(ready);
    }
    return order;
  }

  bool is_read_elsewhere(const std::string& result) {
    for (const Plan& other : plans_) {
      if (std::find_if(other.reductions.begin(), other.reductions.end(),
                       [&](auto* r) { return r->result.name == result; }) != other.reductions.end())
        continue;
      for (const GraphStatement* statement : statements_of(other)) {
        if (reads(*statement).contains(result)) return true;
      }
    }
    return false;
  }

  static std::vector<Index> result_indices(const GraphStatement& statement, const std::vector<Index>& at) {
    std::vector<Index> indices;
    for (const int axis : statement.axes)
      indices.push_back(axis < 0 ? Index() : at[static_cast<std::size_t>(axis)]);
    return indices;
  }

  FusedGroup build(const Plan& plan) {
    GroupBuilder builder(graph_, plan.extents, plan.kept);
    const std::vector<Index> here = builder.iterators();
    for (const Member& body : plan.bodies) {
      const std::vector<Index> indices = result_indices(*body.statement, body.at);
      builder.store_body(body.statement->result, indices,
                         builder.element(body.statement->result.name, indices));
    }
    for (const GraphStatement* reduction : plan.reductions) builder.reduce(*reduction, here);
    for (const GraphStatement* reduction : plan.reductions) {
      const std::string& name = reduction->result.name;
      if (!graph_.is_output(name) && !is_read_elsewhere(name)) continue;
      const std::vector<Index> indices = result_indices(*reduction, here);
      builder.store_tail(reduction->result, indices, builder.element(name, indices));
    }
    for (const Member& tail : plan.tails) {
      const std::vector<Index> indices = result_indices(*tail.statement, tail.at);
      builder.store_tail(tail.statement->result, indices,
                         builder.element(tail.statement->result.name, indices));
    }
    return finished(builder,
                    plan.reductions.empty() ? *plan.bodies.front().statement : *plan.reductions.front());
  }

  FusedGroup build_apart(const GraphStatement& statement) const {
    GroupBuilder builder(graph_, extents_of(statement), statement.kept, false);
    const std::vector<Index> here = builder.iterators(), indices = result_indices(statement, here);
    if (statement.reduce) {
      builder.reduce(statement, here);
      builder.store_tail(statement.result, indices, builder.element(statement.result.name, indices));
    } else {
      builder.store_body(statement.result, indices, builder.value(statement, here));
    }
    return finished(builder, statement);
  }

  static FusedGroup finished(GroupBuilder& builder, const GraphStatement& statement) {
    std::string problem;
    std::optional<FusedGroup> group = builder.finish(problem);
    if (!group) throw UserError("statement of " + statement.result.name + ": " + problem);
    return *group;
  }

  const Graph& graph_;
  std::set<std::string> needed_;
  std::map<std::string, std::set<std::string>> reads_, needs_;
  std::map<std::string, int> group_of_;
  std::vector<Plan> plans_;
};

}  // namespace

std::int64_t FusedGroup::points() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  return count;
}

std::int64_t FusedGroup::outputs() const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < kept; ++i) count *= extents[i];
  return count;
}

std::int64_t FusedGroup::state_bytes() const {
  if (reductions.size() == 1)
    return redtune::state_bytes(reductions.front().op, reductions.front().accumulator);
  // Members of one struct: no narrower than registers.
  std::int64_t bytes = 0, widest = 4;
  for (const FusedReduction& reduction : reductions) {
    const std::int64_t member = std::max(4, bytes_of(reduction.accumulator));
    bytes += member;
    widest = std::max(widest, member);
  }
  return (bytes + widest - 1) / widest * widest;
}

namespace {

std::vector<bool> reached(const FusedGroup& group, const std::vector<int>& roots) {
  std::vector<bool> found(group.nodes.size(), false);
  for (const int root : roots) found[static_cast<std::size_t>(root)] = true;
  for (std::size_t i = found.size(); i-- > 0;) {
    if (!found[i]) continue;
    for (const int argument : group.nodes[i].arguments) found[static_cast<std::size_t>(argument)] = true;
  }
  return found;
}

}  // namespace

std::vector<bool> FusedGroup::body_nodes() const {
  std::vector<int> roots;
  for (const FusedReduction& reduction : reductions) roots.push_back(reduction.node);
  for (const FusedStore& store : body_stores) roots.push_back(store.node);
  return reached(*this, roots);
}

std::vector<bool> FusedGroup::tail_nodes() const {
  std::vector<int> roots;
  for (const FusedStore& store : tail_stores) roots.push_back(store.node);
  return reached(*this, roots);
}

bool FusedGroup::stores_results() const {
  if (tail_stores.empty()) return false;
  const FusedNode& node = nodes[static_cast<std::size_t>(tail_stores.front().node)];
  if (node.kind != FusedNode::Kind::kReduced || node.index != 0) return false;
  const FusedAccess& access = accesses[static_cast<std::size_t>(tail_stores.front().access)];
  const std::vector<std::int64_t> dense =
      row_major_strides({extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(kept)});
  for (std::size_t i = 0; i < kept; ++i) {
    if (extents[i] > 1 && access.strides[i] != dense[i]) return false;
  }
  return access.offset == 0;
}

std::vector<FusedGroup> fuse(const Graph& graph) { return Fusion(graph).run(); }
std::vector<FusedGroup> fuse_nothing(const Graph& graph) { return Fusion(graph).run_apart(); }

Operator nest_of(const FusedGroup& group) {
  Operator op;
  Tensor input;
  input.name = "domain";
  input.shape = group.extents;
  input.strides.assign(group.extents.size(), 0);
  if (group.main >= 0) {
    const FusedAccess& main = group.accesses[static_cast<std::size_t>(group.main)];
    input.strides = main.strides;
    input.offset = main.offset;
    input.dtype = main.dtype;
  }
  Tensor output;
  output.name = "results";
  output.shape.assign(group.extents.begin(), group.extents.begin() + static_cast<std::ptrdiff_t>(group.kept));
  output.strides = row_major_strides(output.shape);
  ReduceStatement statement;
  statement.input = input.name;
  statement.output = output.name;
  for (std::size_t i = group.kept; i < group.extents.size(); ++i)
    statement.axes.push_back(static_cast<int>(i));
  statement.op = ReduceOp::kMax;
  statement.accumulator = accumulator_of(statement.op, input.dtype);
  output.dtype = input.dtype;
  if (!group.reductions.empty()) {
    const FusedReduction& first = group.reductions.front();
    statement.op = first.op;
    statement.accumulator = first.accumulator;
    output.dtype = first.result;
  }
  op.inputs = {input};
  op.outputs = {output};
  op.statements = {statement};
  return op;
}

}  // namespace redtune
