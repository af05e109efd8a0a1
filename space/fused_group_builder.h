// One group while it is put together. Internal to space/.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "space/fusion.h"

namespace redtune {

/// An access before its index is known to be affine.
struct OpenAccess {
  std::string tensor;
  DType dtype;
  Index offset;  // in elements, over the iterators of the group
};

/// One group while it is put together.
class GroupBuilder {
 public:
  /// `substitutes`: elementwise producers are computed where they are read; else they are loads too.
  GroupBuilder(const Graph& graph, std::vector<std::int64_t> extents, std::size_t kept, bool substitutes = true)
      : graph_(graph), extents_(std::move(extents)), kept_(kept), substitutes_(substitutes) {}

  std::vector<Index> iterators() const {
    std::vector<Index> list;
    for (std::size_t i = 0; i < extents_.size(); ++i)
      list.push_back(Index::iterator(static_cast<int>(i), extents_[i]));
    return list;
  }
  const std::vector<std::int64_t>& extents() const { return extents_; }
  std::size_t kept() const { return kept_; }

  /// The value of `statement` (before its reduction) at the point where its iterators have these values.
  /// Producers are substituted, except reductions: those of this group are its results, others are loads of a
  /// temporary.
  int value(const GraphStatement& statement, const std::vector<Index>& at) {
    std::vector<int> place(statement.nodes.size());
    for (std::size_t i = 0; i < statement.nodes.size(); ++i) {
      const GraphNode& node = statement.nodes[i];
      if (node.kind == GraphNode::Kind::kAccess) {
        std::vector<Index> indices;
        for (const Index& index : node.at) indices.push_back(index.substitute(at));
        place[i] = element(node.tensor, indices);
        continue;
      }
      FusedNode made;
      made.kind = node.kind == GraphNode::Kind::kNumber ? FusedNode::Kind::kNumber : FusedNode::Kind::kCall;
      made.dtype = node.dtype;
      made.number = node.number;
      made.integer = node.integer;
      made.op = node.op;
      for (const int argument : node.arguments)
        made.arguments.push_back(place[static_cast<std::size_t>(argument)]);
      place[i] = add(made);
    }
    return place.back();
  }

  int element(const std::string& tensor, const std::vector<Index>& indices) {
    std::string key = tensor;
    for (const Index& index : indices) key += "," + index.text([](int i) { return "i" + std::to_string(i); });
    if (const auto known = elements_.find(key); known != elements_.end()) return known->second;
    const GraphStatement* producer = graph_.statement_of(tensor);
    int node = -1;
    for (std::size_t r = 0; r < reductions.size() && node < 0; ++r) {
      if (reductions[r].statement == tensor) node = result(static_cast<int>(r));
    }
    if (node < 0 && producer != nullptr && !producer->reduce && substitutes_) {
      // Its iterators at these indices: axis by axis, unit axes have none.
      std::vector<Index> at(producer->iterators.size());
      for (std::size_t a = 0; a < producer->axes.size(); ++a) {
        if (producer->axes[a] >= 0) at[static_cast<std::size_t>(producer->axes[a])] = indices[a];
      }
      node = value(*producer, at);
    }
    if (node < 0) node = load(*graph_.find(tensor), indices);
    elements_[key] = node;
    return node;
  }

  int load(const Tensor& tensor, const std::vector<Index>& indices) {
    FusedNode node;
    node.kind = FusedNode::Kind::kLoad;
    node.dtype = tensor.dtype;
    node.index = access(tensor, indices);
    return add(node);
  }

  int access(const Tensor& tensor, const std::vector<Index>& indices) {
    Index offset(tensor.offset);
    for (std::size_t i = 0; i < indices.size(); ++i) offset = offset + indices[i] * tensor.strides[i];
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      if (accesses_[i].tensor == tensor.name && accesses_[i].offset == offset) return static_cast<int>(i);
    }
    accesses_.push_back({tensor.name, tensor.dtype, offset});
    return static_cast<int>(accesses_.size()) - 1;
  }

  void reduce(const GraphStatement& statement, const std::vector<Index>& at) {
    FusedReduction reduction;
    reduction.op = *statement.reduce;
    reduction.element = statement.value().dtype;
    reduction.accumulator = statement.accumulator;
    reduction.result = statement.result.dtype;
    reduction.node = value(statement, at);
    reduction.statement = statement.result.name;
    reductions.push_back(reduction);
  }

  /// The result of a reduction of this group.
  int result(int reduction) {
    FusedNode node;
    node.kind = FusedNode::Kind::kReduced;
    node.dtype = reductions[static_cast<std::size_t>(reduction)].result;
    node.index = reduction;
    return add(node);
  }

  void store_body(const Tensor& tensor, const std::vector<Index>& indices, int node) {
    body_stores_.push_back({node, access(tensor, indices)});
  }
  void store_tail(const Tensor& tensor, const std::vector<Index>& indices, int node) {
    tail_stores_.push_back({node, access(tensor, indices)});
  }

  std::optional<FusedGroup> finish(std::string& problem) {
    split_iterators();
    FusedGroup group;
    group.extents = extents_;
    group.kept = kept_;
    for (const OpenAccess& open : accesses_) {
      FusedAccess access{open.tensor, open.dtype, open.offset.constant(),
                         std::vector<std::int64_t>(extents_.size(), 0)};
      for (const Index::Term& term : open.offset.terms()) {
        if (term.atom.kind != IndexAtom::Kind::kIterator) {
          problem = "tensor " + open.tensor + " is read at " +
                    open.offset.text([](int i) { return "i" + std::to_string(i); }) + ", which is not affine";
          return std::nullopt;
        }
        access.strides[static_cast<std::size_t>(term.atom.iterator)] = term.coefficient;
      }
      group.accesses.push_back(std::move(access));
    }
    group.nodes = nodes;
    group.reductions = reductions;
    group.body_stores = body_stores_;
    group.tail_stores = tail_stores_;
    group.main = main_access(group);
    return group;
  }

  std::vector<FusedNode> nodes;
  std::vector<FusedReduction> reductions;

 private:
  int add(const FusedNode& node) {
    nodes.push_back(node);
    return static_cast<int>(nodes.size()) - 1;
  }

  /// The first iterator that occurs alone under a quotient or remainder whose divisor divides its extent.
  bool find_split(const Index& index, int& iterator, std::int64_t& divisor) const {
    for (const Index::Term& term : index.terms()) {
      if (term.atom.kind == IndexAtom::Kind::kIterator) continue;
      const int lone = term.atom.inner->lone_iterator();
      if (lone >= 0 && extents_[static_cast<std::size_t>(lone)] % term.atom.divisor == 0) {
        iterator = lone;
        divisor = term.atom.divisor;
        return true;
      }
      if (find_split(*term.atom.inner, iterator, divisor)) return true;
    }
    return false;
  }

  /// i becomes outer * divisor + inner where the accesses take it apart.
  void split_iterators() {
    int iterator = 0;
    std::int64_t divisor = 1;
    const auto wanted = [&] {
      return std::any_of(accesses_.begin(), accesses_.end(),
                         [&](const OpenAccess& a) { return find_split(a.offset, iterator, divisor); });
    };
    while (wanted()) {
      const auto at = static_cast<std::size_t>(iterator);
      std::vector<std::int64_t> extents = extents_;
      extents[at] = divisor;
      extents.insert(extents.begin() + iterator, extents_[at] / divisor);
      std::vector<Index> values;
      for (std::size_t i = 0; i < extents_.size(); ++i) {
        const std::size_t moved = i < at ? i : i + 1;
        Index value = Index::iterator(static_cast<int>(moved), extents[moved]);
        if (i == at) value = value + Index::iterator(iterator, extents[at]) * divisor;
        values.push_back(value);
      }
      for (OpenAccess& access : accesses_) access.offset = access.offset.substitute(values);
      kept_ += at < kept_ ? 1 : 0;
      extents_ = extents;
    }
  }

  /// The loops follow the load (or the store of a body without loads) that walks the most axes, the largest
  /// of equals.
  static int main_access(const FusedGroup& group) {
    std::vector<int> candidates;
    const std::vector<bool> body = group.body_nodes();
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i] && group.nodes[i].kind == FusedNode::Kind::kLoad)
        candidates.push_back(group.nodes[i].index);
    }
    // Where nothing is reduced the store walks every axis, and side by side.
    if (group.reductions.empty() || candidates.empty()) {
      candidates.clear();
      for (const FusedStore& store : group.body_stores) candidates.push_back(store.access);
    }
    const auto walked = [&](int access) {
      std::int64_t count = 1;
      for (std::size_t i = 0; i < group.extents.size(); ++i) {
        if (group.accesses[static_cast<std::size_t>(access)].strides[i] != 0) count *= group.extents[i];
      }
      return count * 16 + bytes_of(group.accesses[static_cast<std::size_t>(access)].dtype);
    };
    int best = candidates.empty() ? -1 : candidates.front();
    for (const int candidate : candidates) {
      if (walked(candidate) > walked(best)) best = candidate;
    }
    return best;
  }

  const Graph& graph_;
  std::vector<std::int64_t> extents_;
  std::size_t kept_;
  bool substitutes_;
  std::vector<OpenAccess> accesses_;
  std::vector<FusedStore> body_stores_, tail_stores_;
  std::map<std::string, int> elements_;
};

}  // namespace redtune
