#include "space/fusion_check.h"

#include <isl/cpp.h>

#include <map>
#include <set>

#include "space/polyhedral.h"
#include "support/text.h"

namespace redtune {
namespace {

std::string isl_text(const Index& index, const std::string& iterator) {
  std::string sum = std::to_string(index.constant());
  for (const Index::Term& term : index.terms()) {
    std::string atom = iterator + std::to_string(term.atom.iterator);
    if (term.atom.kind != IndexAtom::Kind::kIterator) {
      const std::string inner = "(" + isl_text(*term.atom.inner, iterator) + ")",
                        by = std::to_string(term.atom.divisor);
      atom = term.atom.kind == IndexAtom::Kind::kDiv ? "floor(" + inner + "/" + by + ")"
                                                     : "(" + inner + " mod " + by + ")";
    }
    sum += " + " + std::to_string(term.coefficient) + "*" + atom;
  }
  return sum;
}

/// "[i0, i1] : 0 <= i0 < 4 and 0 <= i1 < 6"
struct Box {
  std::string tuple, bounds;
  Box(const std::vector<std::int64_t>& extents, const std::string& iterator) {
    std::vector<std::string> names, limits{"true"};
    for (std::size_t i = 0; i < extents.size(); ++i) {
      names.push_back(iterator + std::to_string(i));
      limits.push_back("0 <= " + names.back() + " < " + std::to_string(extents[i]));
    }
    tuple = "[" + join(names, ", ") + "]";
    bounds = join(limits, " and ");
  }
};

class FusionCheck {
 public:
  FusionCheck(const Graph& graph, const std::vector<FusedGroup>& groups) : graph_(graph), groups_(groups) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (const FusedReduction& reduction : groups[g].reductions) home_[reduction.statement] = g;
      for (const FusedStore& store : groups[g].body_stores) {
        home_.emplace(groups[g].accesses[static_cast<std::size_t>(store.access)].tensor, g);
      }
    }
  }

  std::string run() {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const FusedGroup& group = groups_[g];
      context_.refill();
      for (const FusedReduction& reduction : group.reductions) {
        const std::string broken =
            check(g, reduction.statement, kept_results(group, reduction.statement).reverse(), true);
        if (!broken.empty()) return broken;
      }
      for (const bool tail : {false, true}) {
        for (const FusedStore& store : tail ? group.tail_stores : group.body_stores) {
          const FusedAccess& target = group.accesses[static_cast<std::size_t>(store.access)];
          const std::string broken =
              check(g, target.tensor,
                    accessed(group, target, tail ? group.kept : group.extents.size()).reverse(), tail);
          if (!broken.empty()) return broken;
        }
      }
    }
    return "";
  }

 private:
  /// Tensors by number: isl's names are narrower.
  std::string tuple(const std::string& tensor) {
    const auto [place, unused] = tuples_.emplace(tensor, "t" + std::to_string(tuples_.size()));
    return place->second;
  }

  /// Elementwise results that the group loads instead of computing them again.
  std::set<std::string> loaded_by(const FusedGroup& group) const {
    std::set<std::string> names;
    for (const FusedNode& node : group.nodes) {
      if (node.kind != FusedNode::Kind::kLoad) continue;
      const std::string& tensor = group.accesses[static_cast<std::size_t>(node.index)].tensor;
      const GraphStatement* producer = graph_.statement_of(tensor);
      if (producer != nullptr && !producer->reduce) names.insert(tensor);
    }
    return names;
  }

  /// Elements of results: { T[e] -> U[f] }, flat offsets, U a reduction's result, an input or one of
  /// `loaded`; other elementwise statements are composed away.
  isl::union_map dependences(const std::string& tensor, const std::set<std::string>& loaded) {
    const auto key = std::make_pair(tensor, loaded);
    if (const auto known = dependences_.find(key); known != dependences_.end()) return known->second;
    const GraphStatement& s = *graph_.statement_of(tensor);
    isl::union_map all(context_.get(), "{ }");
    std::vector<std::int64_t> extents;
    for (const Iterator& iterator : s.iterators) extents.push_back(iterator.extent);
    const Box box(extents, "i");
    Index written;
    for (std::size_t a = 0; a < s.axes.size(); ++a) {
      if (s.axes[a] < 0) continue;
      const auto iterator = static_cast<std::size_t>(s.axes[a]);
      written = written + Index::iterator(s.axes[a], s.iterators[iterator].extent) * s.result.strides[a];
    }
    for (const GraphNode& node : s.nodes) {
      if (node.kind != GraphNode::Kind::kAccess) continue;
      const Tensor& read = *graph_.find(node.tensor);
      Index offset(read.offset);
      for (std::size_t a = 0; a < node.at.size(); ++a) offset = offset + node.at[a] * read.strides[a];
      const std::string text =
          "{ " + tuple(tensor) + "[e] -> " + tuple(node.tensor) + "[f] : exists " +
          (extents.empty() ? std::string("z") : box.tuple.substr(1, box.tuple.size() - 2)) + " : " +
          box.bounds + " and e = " + isl_text(written, "i") + " and f = " + isl_text(offset, "i") + " }";
      isl::union_map step(context_.get(), text);
      const GraphStatement* producer = graph_.statement_of(node.tensor);
      const bool composed = producer != nullptr && !producer->reduce && !loaded.contains(node.tensor);
      if (composed) step = step.apply_range(dependences(node.tensor, loaded));
      all = all.unite(step);
    }
    dependences_.emplace(key, all);
    return all;
  }

  /// { g[kept] -> T[offset] } or over the whole domain.
  isl::union_map accessed(const FusedGroup& group, const FusedAccess& access, std::size_t axes) {
    const std::vector<std::int64_t> extents(group.extents.begin(),
                                            group.extents.begin() + static_cast<std::ptrdiff_t>(axes));
    const Box box(extents, "k");
    std::string offset = std::to_string(access.offset);
    for (std::size_t i = 0; i < axes; ++i)
      offset += " + " + std::to_string(access.strides[i]) + "*k" + std::to_string(i);
    return isl::union_map(context_.get(), "{ g" + box.tuple + " -> " + tuple(access.tensor) + "[" + offset +
                                              "] : " + box.bounds + " }");
  }

  /// The points of a group as those of its outputs.
  isl::union_map to_kept(const FusedGroup& group) {
    const Box box(group.extents, "k");
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < group.kept; ++i) kept.push_back("k" + std::to_string(i));
    return isl::union_map(context_.get(),
                          "{ g" + box.tuple + " -> g[" + join(kept, ", ") + "] : " + box.bounds + " }");
  }

  /// `at`: { T[e] -> g[point] }, where the group computes each element of the tensor; for a tail the point is
  /// an output.
  std::string check(std::size_t g, const std::string& tensor, const isl::union_map& at, bool tail) {
    const FusedGroup& group = groups_[g];
    const isl::union_map wanted = dependences(tensor, loaded_by(group));
    isl::union_map given(context_.get(), "{ }");
    for (const FusedNode& node : group.nodes) {
      if (node.kind != FusedNode::Kind::kLoad) continue;
      const FusedAccess& access = group.accesses[static_cast<std::size_t>(node.index)];
      const auto home = home_.find(access.tensor);
      if (home != home_.end() && home->second >= g)
        return "group " + std::to_string(g) + " reads " + access.tensor + " before it is computed";
      isl::union_map reads = accessed(group, access, group.extents.size());
      // A tail follows the whole reduction of its output.
      if (tail) reads = to_kept(group).reverse().apply_range(reads);
      given = given.unite(at.apply_range(reads));
    }
    for (const FusedReduction& reduction : group.reductions) {
      if (reduction.statement == tensor) continue;
      if (tail) given = given.unite(at.apply_range(kept_results(group, reduction.statement)));
    }
    if (wanted.is_subset(given)) return "";
    return "group " + std::to_string(g) + " computes " + tensor + " without all that it depends on";
  }

  /// { g[kept] -> R[offset] }: the finished results that a point of the tail knows.
  isl::union_map kept_results(const FusedGroup& group, const std::string& result) {
    const GraphStatement& s = *graph_.statement_of(result);
    FusedAccess access{result, s.result.dtype, 0, std::vector<std::int64_t>(group.extents.size(), 0)};
    // Where iterators were split the strides of the parts follow from the whole's.
    std::vector<std::int64_t> strides(s.kept, 0);
    for (std::size_t a = 0; a < s.axes.size(); ++a) {
      if (s.axes[a] >= 0) strides[static_cast<std::size_t>(s.axes[a])] = s.result.strides[a];
    }
    std::size_t axis = group.kept;
    for (std::size_t k = s.kept; k-- > 0;) {
      std::int64_t done = 1;
      while (done < s.iterators[k].extent && axis > 0) {
        --axis;
        access.strides[axis] = strides[k] * done;
        done *= group.extents[axis];
      }
      if (s.iterators[k].extent == 1 && axis > 0 && group.extents[axis - 1] == 1) --axis;
    }
    return accessed(group, access, group.kept);
  }

  const Graph& graph_;
  const std::vector<FusedGroup>& groups_;
  IslContext context_;
  std::map<std::string, std::string> tuples_;
  std::map<std::string, std::size_t> home_;
  std::map<std::pair<std::string, std::set<std::string>>, isl::union_map> dependences_;
};

}  // namespace

std::string check_fusion(const Graph& graph, const std::vector<FusedGroup>& groups) {
  try {
    return FusionCheck(graph, groups).run();
  } catch (const isl::exception& error) {
    return std::string("isl gave up: ") + error.what();
  }
}

}  // namespace redtune
