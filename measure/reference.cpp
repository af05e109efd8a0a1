#include "measure/reference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "support/error.h"
#include "support/half.h"
#include "support/json.h"
#include "support/rng.h"

namespace redtune {
namespace {

// ---- element access ------------------------------------------------------------------------------------------------

struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};

template <typename T>
auto widen(T x) {
  if constexpr (std::is_same_v<T, F16>) {
    return static_cast<double>(f32_from_f16(x.bits));
  } else if constexpr (std::is_same_v<T, BF16>) {
    return static_cast<double>(f32_from_bf16(x.bits));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(x);
  } else if constexpr (std::is_same_v<T, bool>) {
    return static_cast<std::int64_t>(x);
  } else {
    return static_cast<std::int64_t>(x);
  }
}

/// Calls `f` with a value of the C++ type of `dtype`.
template <typename F>
auto with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::kBool: return f(std::uint8_t{});
    case DType::kI8: return f(std::int8_t{});
    case DType::kU8: return f(std::uint8_t{});
    case DType::kI32: return f(std::int32_t{});
    case DType::kI64: return f(std::int64_t{});
    case DType::kF16: return f(F16{});
    case DType::kBF16: return f(BF16{});
    case DType::kF32: return f(float{});
    case DType::kF64: return f(double{});
  }
  throw InternalError("dtype without a C++ type");
}

/// Runs f(begin, end) over [0, count) on all cores.
template <typename F>
void parallel(std::int64_t count, F f) {
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t parts = std::min<std::int64_t>(cores, std::max<std::int64_t>(count, 1));
  std::vector<std::thread> threads;
  for (std::int64_t i = 1; i < parts; ++i) threads.emplace_back(f, count * i / parts, count * (i + 1) / parts);
  f(std::int64_t{0}, count / parts);
  for (std::thread& t : threads) t.join();
}

// ---- inputs --------------------------------------------------------------------------------------------------------

/// Odd multiples of 1/8 in (-2, 2): no element is zero, every dtype holds them exactly, and so are their sums, in
/// any order, up to 2^24 eighths in f32. A kernel that skips or repeats one element cannot hide behind rounding.
double sum_value(std::uint64_t h) { return (static_cast<double>(h & 15) - 7.5) * 0.25; }

template <typename T>
T element(ReduceOp op, std::uint64_t h, double prod_range) {
  if constexpr (std::is_same_v<T, F16> || std::is_same_v<T, BF16> || std::is_floating_point_v<T>) {
    const double unit = static_cast<double>(h >> 11) * 0x1p-52 - 1.0;  // [-1, 1)
    double x = unit;
    if (op == ReduceOp::kSum) x = sum_value(h);
    if (op == ReduceOp::kProd) x = (h & 1 ? 1.0 : -1.0) * (1.0 + unit * prod_range);
    if constexpr (std::is_same_v<T, F16>) return {f16_from_f32(static_cast<float>(x))};
    if constexpr (std::is_same_v<T, BF16>) return {bf16_from_f32(static_cast<float>(x))};
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(x);
  } else {
    const std::int64_t small = static_cast<std::int64_t>(h % 200) - 100;
    const std::int64_t value = sizeof(T) == 1 ? small : static_cast<std::int64_t>(h % 2'000'001) - 1'000'000;
    if (op == ReduceOp::kProd) return static_cast<T>(value | 1);  // odd: a product of them never becomes zero
    return static_cast<T>(value);
  }
}

// ---- reduction -----------------------------------------------------------------------------------------------------

/// What is known of the elements of one output after seeing some of them.
struct Partial {
  double sum = 0, carry = 0;         // compensated (Neumaier)
  double absolute = 0, squares = 0;  // of the elements, for the tolerance
  bool eighths = true;               // all elements are multiples of 1/8
  double extreme = 0, product = 1;
  std::uint64_t integer = 0;         // wrapping sum or product; bits of the extreme
  std::int64_t count = 0;

  void add_double(double x) {
    const double t = sum + x;
    carry += std::abs(sum) >= std::abs(x) ? (sum - t) + x : (x - t) + sum;
    sum = t;
  }
};

double keep_nan_extreme(bool max, double a, double b) {
  if (max) return a >= b || a != a ? a : b;
  return a <= b || a != a ? a : b;
}

template <typename T>
void take(ReduceOp op, T raw, Partial& p) {
  const auto x = widen(raw);
  const bool first = p.count++ == 0;
  if constexpr (std::is_same_v<decltype(x), const double>) {
    switch (op) {
      case ReduceOp::kSum:
        p.add_double(x);
        p.absolute += std::abs(x);
        p.squares += x * x;
        p.eighths = p.eighths && x * 8 == std::trunc(x * 8);
        break;
      case ReduceOp::kProd: p.product *= x; break;
      case ReduceOp::kMax:
      case ReduceOp::kMin: p.extreme = first ? x : keep_nan_extreme(op == ReduceOp::kMax, p.extreme, x); break;
    }
  } else {
    const auto bits = static_cast<std::uint64_t>(x);
    const auto so_far = static_cast<std::int64_t>(p.integer);
    switch (op) {
      case ReduceOp::kSum: p.integer += bits; break;
      case ReduceOp::kProd: p.integer = first ? bits : p.integer * bits; break;
      case ReduceOp::kMax: p.integer = first || x > so_far ? bits : p.integer; break;
      case ReduceOp::kMin: p.integer = first || x < so_far ? bits : p.integer; break;
    }
  }
}

/// Sums of float runs in eight lanes, so that the compiler can use vectors; good enough for types whose elements
/// have fewer bits than the f64 they are added in.
template <typename T>
void take_sum_run(const T* x, std::int64_t n, std::int64_t stride, Partial& p) {
  constexpr int kLanes = 8;
  double sum[kLanes] = {}, absolute[kLanes] = {}, squares[kLanes] = {}, fraction[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      const double v = widen(x[(i + l) * stride]);
      sum[l] += v;
      absolute[l] += std::abs(v);
      squares[l] += v * v;
      fraction[l] += std::abs(v * 8 - std::nearbyint(v * 8));
    }
  }
  double fractions = 0;
  for (int l = 0; l < kLanes; ++l) {
    p.add_double(sum[l]);
    p.absolute += absolute[l];
    p.squares += squares[l];
    fractions += fraction[l];
  }
  p.eighths = p.eighths && fractions == 0;
  p.count += i;
  for (; i < n; ++i) take(ReduceOp::kSum, x[i * stride], p);
}

template <typename T>
void take_run(ReduceOp op, const T* x, std::int64_t n, std::int64_t stride, Partial& p) {
  constexpr bool narrow = std::is_same_v<T, F16> || std::is_same_v<T, BF16> || std::is_same_v<T, float>;
  if constexpr (narrow) {
    if (op == ReduceOp::kSum) return take_sum_run(x, n, stride, p);
  }
  for (std::int64_t i = 0; i < n; ++i) take(op, x[i * stride], p);
}

Partial merge(ReduceOp op, bool is_float, const Partial& a, const Partial& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  Partial r = a;
  r.count += b.count;
  r.add_double(b.sum);
  r.carry += b.carry;
  r.absolute += b.absolute;
  r.squares += b.squares;
  r.eighths = a.eighths && b.eighths;
  r.product *= b.product;
  const bool max = op == ReduceOp::kMax;
  if (is_float) {
    r.extreme = keep_nan_extreme(max, a.extreme, b.extreme);
  } else {
    const auto x = static_cast<std::int64_t>(a.integer), y = static_cast<std::int64_t>(b.integer);
    switch (op) {
      case ReduceOp::kSum: r.integer = a.integer + b.integer; break;
      case ReduceOp::kProd: r.integer = a.integer * b.integer; break;
      case ReduceOp::kMax:
      case ReduceOp::kMin: r.integer = static_cast<std::uint64_t>(max ? std::max(x, y) : std::min(x, y)); break;
    }
  }
  return r;
}

struct Axis {
  std::int64_t extent, stride;
};

std::int64_t offset_of(std::int64_t flat, const std::vector<Axis>& axes) {
  std::int64_t offset = 0;
  for (std::size_t i = axes.size(); i-- > 0;) {
    offset += flat % axes[i].extent * axes[i].stride;
    flat /= axes[i].extent;
  }
  return offset;
}

std::int64_t product_of(const std::vector<Axis>& axes) {
  std::int64_t n = 1;
  for (const Axis& a : axes) n *= a.extent;
  return n;
}

/// Kept and reduced axes of the operator, in logical order.
struct Walk2 {
  std::vector<Axis> kept, reduced;
};

Walk2 walk_of(const Operator& op) {
  Walk2 w;
  const Tensor& in = op.input();
  const std::vector<int>& axes = op.reduction().axes;
  for (std::size_t i = 0; i < in.shape.size(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(i)) != axes.end();
    (reduced ? w.reduced : w.kept).push_back({in.shape[i], in.strides[i]});
  }
  return w;
}

/// All outputs. Runs along the last reduced axis where it is the contiguous one; else blocks of neighbouring outputs
/// walk the reduced axes together, so that memory is read in order.
template <typename T>
std::vector<Partial> reduce_all(const Operator& op, const T* x) {
  constexpr bool is_float = std::is_same_v<decltype(widen(T{})), double>;
  const ReduceOp what = op.reduction().op;
  Walk2 w = walk_of(op);
  const std::int64_t outputs = product_of(w.kept);
  std::vector<Partial> result(static_cast<std::size_t>(outputs));
  if (product_of(w.reduced) == 0 || outputs == 0) return result;
  Axis inner{1, 0};
  if (!w.reduced.empty()) {
    inner = w.reduced.back();
    w.reduced.pop_back();
  }
  const std::int64_t outer = product_of(w.reduced);
  const bool by_rows = w.kept.empty() || std::abs(w.kept.back().stride) >= std::abs(inner.stride);
  if (outputs == 1) {  // split the elements, not the outputs
    std::vector<Partial> parts(static_cast<std::size_t>(std::max(1u, std::thread::hardware_concurrency())));
    parallel(static_cast<std::int64_t>(parts.size()), [&](std::int64_t begin, std::int64_t end) {
      const auto n = static_cast<std::int64_t>(parts.size());
      for (std::int64_t part = begin; part < end; ++part) {
        const std::int64_t first = inner.extent * part / n, last = inner.extent * (part + 1) / n;
        for (std::int64_t o = 0; o < outer; ++o) {
          take_run(what, x + offset_of(o, w.reduced) + first * inner.stride, last - first, inner.stride,
                   parts[static_cast<std::size_t>(part)]);
        }
      }
    });
    for (const Partial& p : parts) result[0] = merge(what, is_float, result[0], p);
    return result;
  }
  parallel(outputs, [&](std::int64_t begin, std::int64_t end) {
    if (by_rows) {
      for (std::int64_t i = begin; i < end; ++i) {
        const T* row = x + offset_of(i, w.kept);
        for (std::int64_t o = 0; o < outer; ++o) {
          take_run(what, row + offset_of(o, w.reduced), inner.extent, inner.stride, result[static_cast<std::size_t>(i)]);
        }
      }
      return;
    }
    constexpr std::int64_t kBlock = 1024;
    std::vector<std::int64_t> starts;
    for (std::int64_t first = begin; first < end; first += kBlock) {
      const std::int64_t last = std::min(end, first + kBlock);
      starts.clear();
      for (std::int64_t i = first; i < last; ++i) starts.push_back(offset_of(i, w.kept));
      for (std::int64_t o = 0; o < outer; ++o) {
        const T* block = x + offset_of(o, w.reduced);
        for (std::int64_t r = 0; r < inner.extent; ++r, block += inner.stride) {
          for (std::int64_t i = first; i < last; ++i) {
            take(what, block[starts[static_cast<std::size_t>(i - first)]], result[static_cast<std::size_t>(i)]);
          }
        }
      }
    }
  });
  return result;
}

// ---- tolerance -----------------------------------------------------------------------------------------------------

/// Largest relative error of one rounding to the type, and its smallest step near zero.
double unit_roundoff(DType t) {
  switch (t) {
    case DType::kF16: return 0x1p-11;
    case DType::kBF16: return 0x1p-8;
    case DType::kF32: return 0x1p-24;
    case DType::kF64: return 0x1p-53;
    default: return 0;
  }
}

double smallest_step(DType t) {
  switch (t) {
    case DType::kF16: return 0x1p-24;
    case DType::kBF16: return 0x1p-133;
    case DType::kF32: return 0x1p-149;
    default: return std::numeric_limits<double>::denorm_min();
  }
}

/// Whether sums of these elements round nowhere, in whatever order: all are multiples of 1/8, and partial sums of
/// signs as random as these stay below what the accumulator holds exactly (eight standard deviations).
bool sums_exactly(const Partial& p, double roundoff) {
  return p.eighths && std::abs(p.sum) + 8 * std::sqrt(p.squares) < 0.125 / roundoff;
}

double tolerance_of(const Operator& op, const Partial& p, double value, std::int64_t depth) {
  const double u = unit_roundoff(op.reduction().accumulator);
  const DType out = op.output().dtype;
  const double storing = unit_roundoff(out) * std::abs(value) + smallest_step(out);
  switch (op.reduction().op) {
    case ReduceOp::kSum:
      return storing + (sums_exactly(p, u) ? 0 : u * static_cast<double>(depth) * p.absolute);
    case ReduceOp::kProd:  // every factor but one costs a rounding, in whatever order
      return storing + u * static_cast<double>(p.count) * std::abs(value);
    case ReduceOp::kMax:
    case ReduceOp::kMin: return storing;
  }
  return storing;
}

}  // namespace

std::vector<unsigned char> make_input(const Operator& op, std::uint64_t seed, std::string* distribution) {
  const Tensor& in = op.input();
  const std::int64_t n = in.storage_elements();
  std::vector<unsigned char> bytes(static_cast<std::size_t>(n * bytes_of(in.dtype)));
  const ReduceOp what = op.reduction().op;
  // Products walk at random in their logarithm: this keeps its standard deviation near 1.
  std::int64_t length = 1;
  for (int axis : op.reduction().axes) length *= std::max<std::int64_t>(1, in.shape[static_cast<std::size_t>(axis)]);
  const double prod_range = std::min(0.5, 1.5 / std::sqrt(static_cast<double>(length)));
  if (distribution) {
    *distribution = !info(in.dtype).is_float   ? "uniform integers"
                    : what == ReduceOp::kSum   ? "odd eighths in (-2, 2)"
                    : what == ReduceOp::kProd  ? "+-1 +- 1.5/sqrt(length)"
                                               : "uniform [-1, 1)";
  }
  with_type(in.dtype, [&](auto type) {
    using T = decltype(type);
    T* x = reinterpret_cast<T*>(bytes.data());
    const bool is_bool = in.dtype == DType::kBool;
    parallel(n, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::uint64_t h = mix64(static_cast<std::uint64_t>(i) + (seed << 40));
        x[i] = element<T>(what, h, prod_range);
        if constexpr (std::is_same_v<T, std::uint8_t>) {
          if (is_bool) x[i] = static_cast<T>(h >> 63);
        }
      }
    });
  });
  return bytes;
}

Reference compute_reference(const Operator& op, const std::vector<unsigned char>& input, std::int64_t depth) {
  const Tensor& in = op.input();
  RT_CHECK(static_cast<std::int64_t>(input.size()) == in.storage_elements() * bytes_of(in.dtype),
           "input has " + std::to_string(input.size()) + " bytes");
  const std::vector<Partial> partials = with_type(in.dtype, [&](auto type) {
    using T = decltype(type);
    return reduce_all<T>(op, reinterpret_cast<const T*>(input.data()) + in.offset);
  });
  Reference reference;
  const bool is_float = info(in.dtype).is_float;
  for (const Partial& p : partials) {
    if (!is_float) {
      const bool empty_product = p.count == 0 && op.reduction().op == ReduceOp::kProd;
      reference.integers.push_back(empty_product ? 1 : static_cast<std::int64_t>(p.integer));
      reference.values.push_back(static_cast<double>(reference.integers.back()));
      reference.tolerance.push_back(unit_roundoff(op.output().dtype) * std::abs(reference.values.back()));
      continue;
    }
    // The compensation of an infinite sum is NaN: infinities speak for themselves.
    double value = std::isfinite(p.sum) ? p.sum + p.carry : p.sum;
    if (op.reduction().op == ReduceOp::kProd) value = p.product;
    if (op.reduction().op == ReduceOp::kMax || op.reduction().op == ReduceOp::kMin) value = p.extreme;
    reference.values.push_back(value);
    reference.tolerance.push_back(tolerance_of(op, p, value, depth));
  }
  return reference;
}

namespace {

std::int64_t wrapped(std::int64_t value, DType out) {
  switch (out) {
    case DType::kBool: return value != 0;
    case DType::kI8: return static_cast<std::int8_t>(value);
    case DType::kU8: return static_cast<std::uint8_t>(value);
    case DType::kI32: return static_cast<std::int32_t>(value);
    default: return value;
  }
}

double largest(DType t) {
  switch (t) {
    case DType::kF16: return 65504;
    case DType::kBF16: return 0x1.fep127;
    case DType::kF32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

/// Error over tolerance; 0 when both are the same NaN or infinity, infinity when they can never agree.
double float_error(double got, double wanted, double tolerance, DType out) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (std::isnan(got) || std::isnan(wanted)) return std::isnan(got) && std::isnan(wanted) ? 0 : kNever;
  if (std::isinf(wanted)) return got == wanted ? 0 : kNever;
  if (std::isinf(got)) {  // a narrow type may overflow where the wide reference does not
    const bool overflows = std::abs(wanted) + tolerance >= largest(out) && (got > 0) == (wanted > 0);
    return overflows ? 0 : kNever;
  }
  return std::abs(got - wanted) / tolerance;
}

}  // namespace

Verdict check_output(const Operator& op, const Reference& reference, const std::vector<unsigned char>& output) {
  const DType out = op.output().dtype;
  const std::int64_t n = op.output().elements();
  RT_CHECK(static_cast<std::int64_t>(output.size()) == n * bytes_of(out), "output has another size");
  Verdict verdict;
  with_type(out, [&](auto type) {
    using T = decltype(type);
    const T* y = reinterpret_cast<const T*>(output.data());
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto got = widen(y[i]);
      double error = 0;
      if constexpr (std::is_same_v<decltype(got), const std::int64_t>) {
        const bool from_integers = !reference.integers.empty();
        const std::int64_t wanted = from_integers ? wrapped(reference.integers[at], out)
                                                  : static_cast<std::int64_t>(reference.values[at]);
        error = got == wanted ? 0 : std::numeric_limits<double>::infinity();
      } else {
        error = float_error(got, reference.values[at], reference.tolerance[at], out);
      }
      if (error > verdict.max_error || verdict.worst_index < 0) {
        verdict.max_error = error;
        verdict.worst_index = i;
      }
    }
  });
  verdict.pass = verdict.max_error <= 1;
  if (!verdict.pass) {
    const auto at = static_cast<std::size_t>(verdict.worst_index);
    const double got = with_type(out, [&](auto type) {
      using T = decltype(type);
      return static_cast<double>(widen(reinterpret_cast<const T*>(output.data())[at]));
    });
    verdict.detail = "out[" + std::to_string(at) + "] = " + std::to_string(got) + ", reference " +
                     std::to_string(reference.values[at]) + ", tolerance " + std::to_string(reference.tolerance[at]);
    verdict.max_error = std::min(verdict.max_error, 1e30);  // records hold finite numbers only
  }
  return verdict;
}

}  // namespace redtune
