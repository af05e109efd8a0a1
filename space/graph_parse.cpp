// Statements as they were written -> statements of a graph: types and extents are found on the way.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "space/graph_reader.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

/// Tree -> statement.
class NodeBuilder {
 public:
  NodeBuilder(Graph& graph, const Complaint& complaint, GraphStatement& statement)
      : graph_(graph), complaint_(complaint), s_(statement) {}

  /// Extents from indices that are an iterator alone.
  void find_extents(const Tree& tree) {
    if (tree.kind == Tree::Kind::kAccess) {
      const Tensor& tensor = *graph_.find(tree.text);
      if (tree.children.size() != tensor.shape.size()) {
        fail(tree.at, tensor.name + " has " + std::to_string(tensor.shape.size()) + " axes, is read with " +
                          std::to_string(tree.children.size()) + " indices");
      }
      for (std::size_t i = 0; i < tree.children.size(); ++i) {
        const Tree& index = tree.children[i];
        check_iterators(index);
        if (index.kind != Tree::Kind::kName) continue;
        Iterator& iterator = s_.iterators[position(index)];
        const std::int64_t extent = tensor.shape[i];
        if (known_[index.text] && iterator.extent != extent) {
          fail(index.at, "iterator " + index.text + " runs to " + std::to_string(iterator.extent) +
                             " and axis " + std::to_string(i) + " of " + tensor.name + " has " +
                             std::to_string(extent) + " elements");
        }
        known_[index.text] = true;
        iterator.extent = extent;
      }
      return;
    }
    for (const Tree& child : tree.children) find_extents(child);
  }

  void know(const std::string& iterator, std::int64_t extent, std::size_t at) {
    for (Iterator& i : s_.iterators) {
      if (i.name != iterator) continue;
      if (known_[iterator] && i.extent != extent) {
        fail(at, "the result's shape gives " + iterator + " " + std::to_string(extent) + " steps, its use " +
                     std::to_string(i.extent));
      }
      i.extent = extent;
      known_[iterator] = true;
    }
  }

  void check_extents(std::size_t at) const {
    for (const Iterator& iterator : s_.iterators) {
      const auto found = known_.find(iterator.name);
      if (found == known_.end() || !found->second) {
        fail(at, "how far does iterator " + iterator.name +
                     " run? Index an axis with it alone, or give the result's shape in 'shapes'");
      }
    }
  }

  /// The node of `tree`; `wanted` types a number that stands alone.
  int node(const Tree& tree) {
    switch (tree.kind) {
      case Tree::Kind::kNumber:
        return number(tree);
      case Tree::Kind::kAccess:
        return access(tree);
      case Tree::Kind::kCast: {
        const int argument = node(tree.children[0]);
        if (weak_.contains(argument)) return typed(argument, tree.dtype, tree.at);
        GraphNode n = call_node(ScalarOp::kCast, {argument}, tree.dtype);
        return add(std::move(n));
      }
      case Tree::Kind::kCall:
        return call(tree);
      default:
        fail(tree.at, "a reduction stands here that was not taken apart");
    }
  }

  int finish(int root, std::size_t at) {
    if (!weak_.contains(root)) return root;
    const bool whole = s_.nodes[static_cast<std::size_t>(root)].dtype == DType::kI64;
    return typed(root, whole ? DType::kI64 : DType::kF32, at);
  }

  std::size_t position(const Tree& name) const {
    for (std::size_t i = 0; i < s_.iterators.size(); ++i) {
      if (s_.iterators[i].name == name.text) return i;
    }
    std::vector<std::string> known;
    for (const Iterator& i : s_.iterators) known.push_back(i.name);
    fail(name.at, unknown_word_message("iterator", name.text, known));
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& what) const { complaint_.fail(at, what); }

  void check_iterators(const Tree& index) const {
    if (index.kind == Tree::Kind::kName) position(index);
    for (const Tree& child : index.children) check_iterators(child);
  }

  int add(GraphNode n) {
    s_.nodes.push_back(std::move(n));
    return static_cast<int>(s_.nodes.size()) - 1;
  }
  static GraphNode call_node(ScalarOp op, std::vector<int> arguments, DType dtype) {
    GraphNode n;
    n.kind = GraphNode::Kind::kCall;
    n.op = op;
    n.arguments = std::move(arguments);
    n.dtype = dtype;
    return n;
  }

  int number(const Tree& tree) {
    GraphNode n;
    const char* end = tree.text.data() + tree.text.size();
    const bool whole = tree.text.find_first_of(".eE") == std::string::npos;
    if (whole) {
      const auto [stop, error] = std::from_chars(tree.text.data(), end, n.integer);
      if (error != std::errc() || stop != end) fail(tree.at, "'" + tree.text + "' does not fit 64 bits");
      n.number = static_cast<double>(n.integer);
      n.dtype = DType::kI64;
    } else {
      const auto [stop, error] = std::from_chars(tree.text.data(), end, n.number);
      if (error != std::errc() || stop != end) fail(tree.at, "'" + tree.text + "' is not a number");
      n.dtype = DType::kF64;
    }
    const int place = add(n);
    weak_.insert(place);
    return place;
  }

  /// A number without a type of its own, as one of type `dtype`.
  int typed(int place, DType dtype, std::size_t at) {
    GraphNode& n = s_.nodes[static_cast<std::size_t>(place)];
    if (!info(dtype).is_float && n.dtype == DType::kF64) {
      if (n.number != std::trunc(n.number))
        fail(at, "a fraction among " + std::string(name(dtype)) + "; cast the others to a float type");
      n.integer = static_cast<std::int64_t>(n.number);
    }
    n.dtype = dtype;
    weak_.erase(place);
    return place;
  }

  int access(const Tree& tree) {
    const Tensor& tensor = *graph_.find(tree.text);
    GraphNode n;
    n.kind = GraphNode::Kind::kAccess;
    n.tensor = tensor.name;
    n.dtype = tensor.dtype;
    for (std::size_t i = 0; i < tree.children.size(); ++i) {
      const Index at = index(tree.children[i]);
      if (tensor.shape[i] > 0 && (at.low() < 0 || at.high() >= tensor.shape[i])) {
        fail(tree.children[i].at, "this index runs from " + std::to_string(at.low()) + " to " +
                                      std::to_string(at.high()) + ", axis " + std::to_string(i) + " of " +
                                      tensor.name + " from 0 to " + std::to_string(tensor.shape[i] - 1));
      }
      n.at.push_back(at);
    }
    return add(std::move(n));
  }

  Index index(const Tree& tree) const {
    if (tree.kind == Tree::Kind::kNumber) {
      std::int64_t value = 0;
      const auto [stop, error] =
          std::from_chars(tree.text.data(), tree.text.data() + tree.text.size(), value);
      if (error != std::errc()) fail(tree.at, "'" + tree.text + "' does not fit 64 bits");
      return value;
    }
    if (tree.kind == Tree::Kind::kName) {
      const std::size_t at = position(tree);
      return Index::iterator(static_cast<int>(at), s_.iterators[at].extent);
    }
    const Index a = index(tree.children[0]);
    if (tree.op == ScalarOp::kNeg) return a * -1;
    const Index b = index(tree.children[1]);
    if (tree.op == ScalarOp::kAdd) return a + b;
    if (tree.op == ScalarOp::kSub) return a - b;
    if (tree.op == ScalarOp::kMul) {
      if (!a.is_constant() && !b.is_constant()) fail(tree.at, "an index may multiply by numbers only");
      return a.is_constant() ? b * a.constant() : a * b.constant();
    }
    if (!b.is_constant() || b.constant() <= 0) fail(tree.at, "an index may divide by positive numbers only");
    if (a.low() < 0) fail(tree.at, "an index that is divided must be 0 or more");
    return tree.remainder ? a.mod(b.constant()) : a.div(b.constant());
  }

  int call(const Tree& tree) {
    std::vector<int> arguments;
    for (const Tree& child : tree.children) arguments.push_back(node(child));
    const ScalarOpInfo& row = info(tree.op);
    const std::string what = std::string(row.symbol.empty() ? row.name : row.symbol);
    const std::size_t first = row.types == ScalarTypes::kSelect ? 1 : 0;
    if (first == 1 && dtype_of(arguments[0]) != DType::kBool)
      fail(tree.children[0].at,
           "the first argument of select must be bool, is " + std::string(name(dtype_of(arguments[0]))));
    std::optional<DType> common;
    for (std::size_t i = first; i < arguments.size(); ++i) {
      if (weak_.contains(arguments[i])) continue;
      const DType type = dtype_of(arguments[i]);
      if (common && *common != type) {
        fail(tree.at, "'" + what + "' of " + std::string(name(*common)) + " and " + std::string(name(type)) +
                          "; cast one of them, as in " + std::string(name(*common)) + "(...)");
      }
      common = type;
    }
    if (!common) return folded(tree, arguments);
    for (std::size_t i = first; i < arguments.size(); ++i) {
      if (weak_.contains(arguments[i])) typed(arguments[i], *common, tree.at);
    }
    const bool is_float = info(*common).is_float;
    if (row.types == ScalarTypes::kFloat && !is_float)
      fail(tree.at,
           "'" + what + "' needs a float type, has " + std::string(name(*common)) + "; cast, as in f32(...)");
    if (row.types == ScalarTypes::kNumber && *common == DType::kBool)
      fail(tree.at, "'" + what + "' needs numbers, has bool; cast, as in i32(...)");
    if (row.types == ScalarTypes::kTruth && *common != DType::kBool)
      fail(tree.at, "'" + what + "' needs bool, has " + std::string(name(*common)));
    const bool truth = row.types == ScalarTypes::kCompare || row.types == ScalarTypes::kTruth;
    return add(call_node(tree.op, std::move(arguments), truth ? DType::kBool : *common));
  }

  /// Numbers alone: a sign, or f32.
  int folded(const Tree& tree, const std::vector<int>& arguments) {
    GraphNode& n = s_.nodes[static_cast<std::size_t>(arguments[0])];
    if (tree.op == ScalarOp::kNeg) {
      n.number = -n.number;
      n.integer = -n.integer;
      return arguments[0];
    }
    for (const int argument : arguments) typed(argument, DType::kF32, tree.at);
    const bool truth = info(tree.op).types == ScalarTypes::kCompare;
    return add(call_node(tree.op, arguments, truth ? DType::kBool : DType::kF32));
  }

  DType dtype_of(int place) const { return s_.nodes[static_cast<std::size_t>(place)].dtype; }

  Graph& graph_;
  const Complaint& complaint_;
  GraphStatement& s_;
  std::map<std::string, bool> known_;
  std::set<int> weak_;  // numbers without a type of their own
};

class StatementMaker {
 public:
  StatementMaker(Graph& graph, const Complaint& complaint) : graph_(graph), complaint_(complaint) {}

  void make(const WrittenStatement& left, Tree tree, const std::string& text,
            const std::optional<std::vector<std::int64_t>>& shape) {
    check_name(left);
    std::vector<std::string> kept;
    for (const Token& axis : left.axes) {
      if (axis.text == "0") continue;
      if (std::find(kept.begin(), kept.end(), axis.text) != kept.end())
        complaint_.fail(axis.at, "iterator " + axis.text + " occurs twice on the left");
      kept.push_back(axis.text);
    }
    int parts = 0;
    if (tree.kind == Tree::Kind::kReduce)
      take_apart(tree.children[0], kept, left, parts);
    else
      take_apart(tree, kept, left, parts);
    append(left.name, left.at, left.axes, tree, text, shape);
  }

 private:
  void check_name(const WrittenStatement& left) const {
    if (graph_.find(left.name) != nullptr)
      complaint_.fail(left.at, "tensor '" + left.name + "' exists already; every result needs a new name");
  }

  /// Reductions inside of expressions become statements of their own, over the iterators of the result that
  /// they use.
  void take_apart(Tree& tree, const std::vector<std::string>& outer, const WrittenStatement& left,
                  int& parts) {
    for (Tree& child : tree.children) {
      if (tree.kind != Tree::Kind::kAccess) take_apart(child, outer, left, parts);
    }
    if (tree.kind != Tree::Kind::kReduce) return;
    std::set<std::string> used;
    names_in(tree, used);
    std::vector<Token> axes;
    Tree access;
    access.kind = Tree::Kind::kAccess;
    access.at = tree.at;
    for (const std::string& iterator : outer) {
      if (!used.contains(iterator)) continue;
      axes.push_back({TokenKind::kName, iterator, tree.at});
      Tree index;
      index.kind = Tree::Kind::kName;
      index.at = tree.at;
      index.text = iterator;
      access.children.push_back(index);
    }
    access.text = left.name + "." + std::to_string(++parts);
    append(access.text, tree.at, axes, tree, "", std::nullopt);
    tree = access;
  }

  static void names_in(const Tree& tree, std::set<std::string>& names) {
    if (tree.kind == Tree::Kind::kName) names.insert(tree.text);
    for (const Tree& child : tree.children) names_in(child, names);
  }

  void append(const std::string& name, std::size_t at, const std::vector<Token>& axes, const Tree& tree,
              const std::string& text, const std::optional<std::vector<std::int64_t>>& shape) {
    GraphStatement s;
    s.text = text;
    for (const Token& axis : axes) {
      s.axes.push_back(axis.text == "0" ? -1 : static_cast<int>(s.iterators.size()));
      if (axis.text != "0") s.iterators.push_back({axis.text, 1});
    }
    s.kept = s.iterators.size();
    const Tree& value = tree.kind == Tree::Kind::kReduce ? tree.children[0] : tree;
    if (tree.kind == Tree::Kind::kReduce) {
      s.reduce = tree.reduce;
      for (const std::string& iterator : tree.iterators) {
        for (const Iterator& other : s.iterators) {
          if (other.name == iterator)
            complaint_.fail(tree.at, "iterator " + iterator + " is reduced and kept at once");
        }
        s.iterators.push_back({iterator, 1});
      }
    }
    NodeBuilder builder(graph_, complaint_, s);
    builder.find_extents(value);
    if (shape) {
      if (shape->size() != axes.size())
        complaint_.fail(at, "'shapes' gives " + name + " " + std::to_string(shape->size()) +
                                " axes, it has " + std::to_string(axes.size()));
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].text != "0")
          builder.know(axes[i].text, (*shape)[i], at);
        else if ((*shape)[i] != 1)
          complaint_.fail(at, "axis " + std::to_string(i) + " of " + name + " is a unit axis");
      }
    }
    builder.check_extents(at);
    const int root = builder.finish(builder.node(value), tree.at);
    if (root + 1 != static_cast<int>(s.nodes.size()))
      s.nodes.push_back(s.nodes[static_cast<std::size_t>(root)]);
    s.result.name = name;
    for (const int axis : s.axes)
      s.result.shape.push_back(axis < 0 ? 1 : s.iterators[static_cast<std::size_t>(axis)].extent);
    s.result.strides = row_major_strides(s.result.shape);
    s.result.dtype = s.value().dtype;
    if (s.reduce) finish_reduction(s, tree);
    graph_.statements.push_back(std::move(s));
  }

  void finish_reduction(GraphStatement& s, const Tree& tree) const {
    const DType element = s.value().dtype;
    s.result.dtype = default_result(*s.reduce, element);
    s.accumulator = accumulator_of(*s.reduce, element);
    std::int64_t count = 1;
    for (std::size_t i = s.kept; i < s.iterators.size(); ++i) count *= s.iterators[i].extent;
    if (count == 0 && info(*s.reduce).nothing == OfNothing::kError && s.result.elements() > 0) {
      complaint_.fail(tree.at, std::string(redtune::name(*s.reduce)) + " of nothing has no answer");
    }
  }

  Graph& graph_;
  const Complaint& complaint_;
};

}  // namespace

void parse_statement(Graph& graph, const std::string& text, const std::string& where,
                     const std::optional<std::vector<std::int64_t>>& shape) {
  const Complaint complaint(text, where);
  const WrittenStatement statement = read_statement(graph, text, complaint);
  StatementMaker(graph, complaint).make(statement, statement.value, text, shape);
}

}  // namespace redtune
