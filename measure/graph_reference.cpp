#include "measure/graph_reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "measure/elements.h"
#include "measure/graph_values.h"
#include "measure/parallel.h"
#include "measure/rounding.h"
#include "space/task.h"
#include "support/error.h"

namespace redtune {
namespace {

/// A computed tensor, row-major, or an input as it lies in memory.
struct Array {
  DType dtype = DType::kF32;
  const unsigned char* storage = nullptr;  // an input
  std::vector<double> values;              // floats
  std::vector<std::int64_t> integers;      // the others
  std::vector<double> e0, e1;              // empty: exact

  Bounded at(std::int64_t place) const {
    Bounded x;
    const auto i = static_cast<std::size_t>(place);
    if (storage != nullptr) {
      if (info(dtype).is_float)
        load_elements(dtype, storage, place, 1, 1, &x.value);
      else
        load_elements(dtype, storage, place, 1, 1, &x.integer);
      return x;
    }
    if (info(dtype).is_float)
      x.value = values[i];
    else
      x.integer = integers[i];
    if (!e0.empty()) x.e0 = e0[i];
    if (!e1.empty()) x.e1 = e1[i];
    return x;
  }

  void resize(std::int64_t count) {
    const auto n = static_cast<std::size_t>(count);
    (info(dtype).is_float ? values.resize(n) : integers.resize(n));
    e0.resize(n);
    e1.resize(n);
  }

  void set(std::int64_t place, const Bounded& x) {
    const auto i = static_cast<std::size_t>(place);
    if (info(dtype).is_float)
      values[i] = x.value;
    else
      integers[i] = x.integer;
    e0[i] = x.e0;
    e1[i] = x.e1;
  }
};

/// Collects the elements of one output.
class Total {
 public:
  Total(ReduceOp op, DType element, DType accumulator)
      : op_(op), element_(element), accumulator_(accumulator) {
    if (!info(element).is_float) product_ = 1;
    keeps_ = info(op).state != State::kValue && info(op).state != State::kArg;
  }

  void take(const Bounded& x) {
    const bool is_float = info(element_).is_float;
    const double v = is_float ? x.value : static_cast<double>(x.integer);
    e0_ += x.e0;
    e1_ += x.e1;
    most0_ = std::max(most0_, x.e0);
    most1_ = std::max(most1_, x.e1);
    if (keeps_) kept_.push_back(v);
    switch (op_) {
      case ReduceOp::kSum:
      case ReduceOp::kMean:
        sum_ += v;
        whole_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(whole_) +
                                           static_cast<std::uint64_t>(x.integer));
        absolute_ += std::abs(v);
        in_64ths_ = in_64ths_ && std::abs(v) < 0x1p40 && v * 64 == std::nearbyint(v * 64);
        break;
      case ReduceOp::kProd:
        product_real_ *= v;
        product_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(product_) *
                                             static_cast<std::uint64_t>(x.integer));
        relative0_ += x.e0 / std::abs(v);
        relative1_ += x.e1 / std::abs(v);
        break;
      case ReduceOp::kAny:
      case ReduceOp::kAll: {
        const bool yes = is_float ? x.value != 0 : x.integer != 0;
        const double slack = bound_of(x);
        const bool sure = slack == 0 || (is_float && !(std::abs(x.value) <= slack));
        const bool deciding = op_ == ReduceOp::kAny;
        if (yes == deciding && sure) decided_ = true;
        if (!sure) unsure_ = true;
        found_ = found_ || yes == deciding;
        break;
      }
      default:
        extreme(x, v);
        break;
    }
    ++count_;
  }

  Bounded result(DType out) const {
    Bounded x;
    const auto n = static_cast<double>(count_);
    const double u = info(accumulator_).is_float ? unit_roundoff(accumulator_) : 0;
    switch (op_) {
      case ReduceOp::kSum:
        if (!info(element_).is_float) return whole(whole_, out);
        x = {sum_, 0, e0_, e1_ + sum_step(u)};
        break;
      case ReduceOp::kMean: {
        // Atomics add parts that have been divided.
        x = {sum_ / n, 0, e0_ / n + 2 * u * std::abs(sum_ / n), (e1_ + u * absolute_) / n};
        break;
      }
      case ReduceOp::kProd:
        if (!info(element_).is_float) return whole(product_, out);
        x = {product_real_, 0, std::abs(product_real_) * (relative0_ + u * n),
             std::abs(product_real_) * relative1_};
        break;
      case ReduceOp::kAny:
      case ReduceOp::kAll: {
        const bool value = op_ == ReduceOp::kAny ? found_ : !found_;
        return {0, value ? 1 : 0, unsure_ && !decided_ ? 1.0 : 0.0, 0};
      }
      case ReduceOp::kArgMax:
      case ReduceOp::kArgMin:
        return {0, position_, most0_ + most1_ > 0 && runner_up_ ? 0x1p62 : 0.0, 0};
      case ReduceOp::kMax:
      case ReduceOp::kMin:
        if (!info(element_).is_float) return {0, best_.integer, most0_, most1_};
        x = {best_.value, 0, most0_, most1_};
        break;
      default:
        x = of_many(u);
        break;
    }
    return info(out).is_float ? rounded(out, clean(x), 0) : x;
  }

 private:
  static Bounded clean(Bounded x) {
    if (!std::isfinite(x.e0)) x.e0 = 0;
    if (!std::isfinite(x.e1)) x.e1 = 0;
    return x;
  }
  static Bounded whole(std::int64_t value, DType out) {
    Bounded x;
    x.integer = info(out).is_float ? value : wrap_integer(out, value);
    x.value = static_cast<double>(value);
    return x;
  }

  double sum_step(double u) const {
    if (in_64ths_ && e0_ + e1_ == 0 && absolute_ * 64 * u < 1) return 0;
    return u * absolute_ + smallest_normal(accumulator_);
  }

  void extreme(const Bounded& x, double v) {
    const bool larger = op_ == ReduceOp::kMax || op_ == ReduceOp::kArgMax;
    const double best = info(element_).is_float ? best_.value : static_cast<double>(best_.integer);
    bool wins = count_ == 0;
    if (!wins && info(element_).is_float)
      wins = !std::isnan(best) && (std::isnan(v) || (larger ? v > best : v < best));
    else if (!wins)
      wins = larger ? x.integer > best_.integer : x.integer < best_.integer;
    if (count_ > 0 && std::abs(v - best) <= 2 * (bound_of(x) + bound_of(best_)) &&
        bound_of(x) + bound_of(best_) > 0)
      runner_up_ = true;
    if (!wins) return;
    best_ = x;
    position_ = count_;
  }

  /// Operators with more than one number of state, from all their elements.
  Bounded of_many(double u) const {
    const auto n = static_cast<double>(kept_.size());
    long double squares = 0, sum = 0;
    double highest = -std::numeric_limits<double>::infinity();
    for (const double v : kept_) {
      squares += static_cast<long double>(v) * v;
      sum += v;
      highest = std::isnan(v) || std::isnan(highest) ? std::numeric_limits<double>::quiet_NaN()
                                                     : std::max(highest, v);
    }
    if (op_ == ReduceOp::kL2Norm) {
      const auto v = static_cast<double>(std::sqrt(squares));
      return {v, 0, e0_ + 4 * u * v, e1_ + u * v};
    }
    if (op_ == ReduceOp::kLogSumExp) {
      long double scaled = 0;
      for (const double v : kept_)
        scaled += std::exp(v == highest ? 0.0L : static_cast<long double>(v) - highest);
      const auto v = static_cast<double>(highest + std::log(scaled));
      return {v, 0,
              most0_ + u * (8 + std::log(std::max(1.0, n)) + 2 * std::abs(highest) +
                            2 * std::abs(std::log(static_cast<double>(scaled)))),
              most1_ + 8 * u};
    }
    const long double mean = sum / n;
    long double distances = 0;
    for (const double v : kept_) distances += (v - mean) * (v - mean);
    const auto variance = static_cast<double>(distances / n);
    const double s = static_cast<double>(squares) / n, spread = std::sqrt(variance);
    const double lost = smallest_normal(accumulator_);
    const double fixed = 4 * u * variance + lost + 2 * most0_ * (spread + most0_);
    const double step = 4 * u * std::sqrt(s) * spread + 4 * u * u * s * kNominalDepth +
                        2 * most1_ * (spread + most0_ + most1_);
    if (op_ == ReduceOp::kVar) return {variance, 0, fixed, step};
    if (spread > std::sqrt(lost + step * kNominalDepth))
      return {spread, 0, fixed / spread + u * spread, step / spread};
    return {spread, 0, std::sqrt(fixed + step * kNominalDepth) + u * spread, step > 0 ? std::sqrt(step) : 0};
  }

  ReduceOp op_;
  DType element_, accumulator_;
  bool keeps_ = false, in_64ths_ = true, decided_ = false, unsure_ = false, found_ = false,
       runner_up_ = false;
  std::int64_t count_ = 0, whole_ = 0, product_ = 1, position_ = 0;
  double sum_ = 0, absolute_ = 0, product_real_ = 1, relative0_ = 0, relative1_ = 0;
  double e0_ = 0, e1_ = 0, most0_ = 0, most1_ = 0;
  Bounded best_;
  std::vector<double> kept_;
};

/// Computes one statement from arrays of what it reads.
class StatementRun {
 public:
  StatementRun(const GraphStatement& statement, const std::map<std::string, Array>& arrays,
               const Graph& graph)
      : s_(statement) {
    for (const GraphNode& node : s_.nodes) {
      const Array* array = nullptr;
      Index offset;
      if (node.kind == GraphNode::Kind::kAccess) {
        const Tensor& tensor = *graph.find(node.tensor);
        array = &arrays.at(node.tensor);
        offset = offset + tensor.offset;
        for (std::size_t i = 0; i < node.at.size(); ++i) offset = offset + node.at[i] * tensor.strides[i];
      }
      arrays_.push_back(array);
      offsets_.push_back(offset);
      steps_.push_back(step_of(offset));
    }
  }

  Array run() const {
    Array result;
    result.dtype = s_.result.dtype;
    result.resize(s_.result.elements());
    // Statements that keep less than this many elements are cut by rows of the reduction instead.
    const std::int64_t kept = s_.result.elements();
    const std::int64_t work = kept == 0 ? 0 : s_.instances() / kept;
    const std::int64_t grain = std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(1, work));
    parallel_pieces(kept, grain, [&](std::int64_t begin, std::int64_t end) {
      std::vector<Bounded> numbers(s_.nodes.size());
      std::vector<std::int64_t> at(std::max<std::size_t>(1, s_.iterators.size()), 0),
          places(s_.nodes.size(), 0);
      for (std::int64_t place = begin; place < end; ++place) {
        coordinates(place, 0, s_.kept, at);
        if (s_.reduce) {
          Total total(*s_.reduce, s_.value().dtype, s_.accumulator);
          reduce(at, places, numbers, total);
          result.set(place, total.result(s_.result.dtype));
        } else {
          find_places(at, places);
          result.set(place, point(places, numbers));
        }
      }
    });
    drop_zeros(result.e0);
    drop_zeros(result.e1);
    return result;
  }

 private:
  static void drop_zeros(std::vector<double>& bounds) {
    if (std::all_of(bounds.begin(), bounds.end(), [](double e) { return e == 0; })) bounds = {};
  }

  /// What the last iterator moves an offset by; nothing where it stands under a quotient.
  std::optional<std::int64_t> step_of(const Index& offset) const {
    const int last = static_cast<int>(s_.iterators.size()) - 1;
    std::int64_t step = 0;
    for (const Index::Term& term : offset.terms()) {
      if (term.atom.kind != IndexAtom::Kind::kIterator) return std::nullopt;
      if (term.atom.iterator == last) step = term.coefficient;
    }
    return step;
  }

  void coordinates(std::int64_t flat, std::size_t first, std::size_t end,
                   std::vector<std::int64_t>& at) const {
    for (std::size_t i = end; i-- > first;) {
      const std::int64_t extent = s_.iterators[i].extent;
      at[i] = flat % extent;
      flat /= extent;
    }
  }

  void find_places(const std::vector<std::int64_t>& at, std::vector<std::int64_t>& places) const {
    for (std::size_t i = 0; i < s_.nodes.size(); ++i) {
      if (arrays_[i] != nullptr) places[i] = offsets_[i].evaluate(at.data());
    }
  }

  void reduce(std::vector<std::int64_t>& at, std::vector<std::int64_t>& places, std::vector<Bounded>& numbers,
              Total& total) const {
    const std::size_t last = s_.iterators.size() - 1;
    const std::int64_t run = s_.iterators[last].extent;
    std::int64_t rows = 1;
    for (std::size_t i = s_.kept; i < last; ++i) rows *= s_.iterators[i].extent;
    for (std::int64_t row = 0; row < rows && run > 0; ++row) {
      coordinates(row, s_.kept, last, at);
      at[last] = 0;
      find_places(at, places);
      for (std::int64_t i = 0; i < run; ++i) {
        if (i > 0) {
          at[last] = i;
          for (std::size_t node = 0; node < s_.nodes.size(); ++node) {
            if (arrays_[node] == nullptr) continue;
            if (steps_[node])
              places[node] += *steps_[node];
            else
              places[node] = offsets_[node].evaluate(at.data());
          }
        }
        total.take(point(places, numbers));
      }
    }
  }

  Bounded point(const std::vector<std::int64_t>& places, std::vector<Bounded>& numbers) const {
    for (std::size_t i = 0; i < s_.nodes.size(); ++i) {
      const GraphNode& node = s_.nodes[i];
      switch (node.kind) {
        case GraphNode::Kind::kNumber:
          numbers[i] = number(node);
          break;
        case GraphNode::Kind::kAccess:
          numbers[i] = arrays_[i]->at(places[i]);
          break;
        case GraphNode::Kind::kCall: {
          Bounded arguments[3];
          for (std::size_t a = 0; a < node.arguments.size(); ++a)
            arguments[a] = numbers[static_cast<std::size_t>(node.arguments[a])];
          const DType in = s_.nodes[static_cast<std::size_t>(node.arguments.back())].dtype;
          numbers[i] = apply(node.op, in, node.dtype, arguments);
          break;
        }
      }
    }
    return numbers.back();
  }

  static Bounded number(const GraphNode& node) {
    Bounded x;
    x.value = node.number;
    x.integer = node.dtype == DType::kBool ? (node.integer != 0) : wrap_integer(node.dtype, node.integer);
    // The text of a kernel holds the constant in its type.
    if (info(node.dtype).is_float) x = apply(ScalarOp::kCast, DType::kF64, node.dtype, &x);
    x.e0 = x.e1 = 0;
    if (node.dtype == DType::kF32) x.value = static_cast<double>(static_cast<float>(node.number));
    return x;
  }

  const GraphStatement& s_;
  std::vector<const Array*> arrays_;
  std::vector<Index> offsets_;
  std::vector<std::optional<std::int64_t>> steps_;
};

Reference reference_of(Array array) {
  Reference reference;
  if (array.e0.empty()) array.e0.assign(std::max(array.values.size(), array.integers.size()), 0);
  if (array.e1.empty()) array.e1.assign(array.e0.size(), 0);
  if (!info(array.dtype).is_float) {
    reference.integers = std::move(array.integers);
    reference.slack.resize(array.e0.size());
    for (std::size_t i = 0; i < array.e0.size(); ++i)
      reference.slack[i] = array.e0[i] + kNominalDepth * array.e1[i];
    return reference;
  }
  reference.values = std::move(array.values);
  // What is stored has been rounded to its type already; f32 results that are exact to more bits round once
  // more.
  for (std::size_t i = 0; i < array.e0.size(); ++i) {
    const double stored =
        array.dtype == DType::kF32
            ? std::abs(static_cast<double>(static_cast<float>(reference.values[i])) - reference.values[i])
            : 0;
    if (std::isfinite(stored)) array.e0[i] += stored;
  }
  reference.fixed = std::move(array.e0);
  reference.per_step = std::move(array.e1);
  reference.at_depth(1);
  return reference;
}

}  // namespace

std::vector<Reference> compute_graph_reference(const Operator& op, const std::vector<unsigned char>& inputs) {
  const Graph& graph = *op.graph;
  const InputLayout layout = input_layout(op);
  RT_CHECK(static_cast<std::int64_t>(inputs.size()) == layout.bytes,
           "inputs have " + std::to_string(inputs.size()) + " bytes");
  std::map<std::string, Array> arrays;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    Array& array = arrays[graph.inputs[i].name];
    array.dtype = graph.inputs[i].dtype;
    array.storage = inputs.data() + layout.offsets[i];
  }
  std::map<std::string, std::size_t> last_use;
  for (std::size_t i = 0; i < graph.statements.size(); ++i) {
    last_use[graph.statements[i].result.name] = i;
    for (const GraphNode& node : graph.statements[i].nodes) {
      if (node.kind == GraphNode::Kind::kAccess) last_use[node.tensor] = i;
    }
  }
  for (std::size_t i = 0; i < graph.statements.size(); ++i) {
    const GraphStatement& statement = graph.statements[i];
    arrays[statement.result.name] = StatementRun(statement, arrays, graph).run();
    for (const auto& [tensor, last] : last_use) {
      if (last == i && !graph.is_output(tensor)) arrays.erase(tensor);
    }
  }
  std::vector<Reference> references;
  for (const std::string& output : graph.outputs)
    references.push_back(reference_of(std::move(arrays.at(output))));
  return references;
}

}  // namespace redtune
