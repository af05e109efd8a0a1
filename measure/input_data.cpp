#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/answers.h"
#include "measure/parallel.h"
#include "measure/reference.h"
#include "support/half.h"
#include "support/rng.h"

namespace redtune {
namespace {

std::uint64_t hash_of(std::uint64_t seed, std::int64_t i) {
  return mix64(mix64(seed) + static_cast<std::uint64_t>(i));
}

/// Uniform in [0, bound), from the upper half of a hash.
std::int64_t below(std::uint64_t hash, std::uint64_t bound) {
  return static_cast<std::int64_t>(((hash >> 32) * bound) >> 32);
}

double unit_interval(std::uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1p-52 - 1.0;
}  // [-1, 1)

/// Factors 1 + k * step and 1 - k * step with equal chance, some of them 1, with random signs. The logarithm
/// of n of them walks at random: its spread is kept near 1, so that neither overflow nor zero comes of it.
class Factors {
 public:
  Factors(DType dtype, std::int64_t length) {
    // Above 1 the type has no finer step; below it has, but two grids would pull the walk to one side.
    step_ = dtype == DType::kBF16 ? 0x1p-7 : dtype == DType::kF16 ? 0x1p-10 : 0x1p-23;
    const double wanted = std::min(0.5, 1.5 / std::sqrt(static_cast<double>(length)));
    most_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted / step_));
    share_ = std::min(1.0, wanted * wanted / (step_ * step_));
    if (most_ > 1) share_ = 1;
  }

  double operator()(std::uint64_t hash) const {
    // Arithmetic: a branch on a random bit is mispredicted half the time.
    const double sign = static_cast<double>(hash & 1) * 2 - 1, side = static_cast<double>(hash & 2) - 1;
    if (share_ < 1 && static_cast<double>(mix64(hash) >> 11) * 0x1p-53 >= share_) return sign;
    return sign * (1.0 + side * step_ * static_cast<double>(1 + below(hash, most_)));
  }

 private:
  double step_ = 0, share_ = 1;
  std::uint64_t most_ = 1;
};

/// Fills elements [begin, end) with 16 equally likely values: four bits of a hash for each.
template <typename T, typename Convert>
void fill_eighths(T* to, std::uint64_t seed, std::int64_t begin, std::int64_t end, const Convert& convert) {
  constexpr std::int64_t kPerHash = 16;
  T table[kPerHash];
  for (int i = 0; i < kPerHash; ++i) table[i] = convert((i - 7.5) * 0.25);
  for (std::int64_t i = begin; i < end;) {
    std::uint64_t bits = hash_of(seed, i / kPerHash) >> (4 * (i % kPerHash));
    const std::int64_t stop = std::min(end, (i / kPerHash + 1) * kPerHash);
    for (; i < stop; ++i, bits >>= 4) to[i] = table[bits & 15];
  }
}

std::uint16_t to_f16(double x) { return f16_from_f32(static_cast<float>(x)); }
std::uint16_t to_bf16(double x) { return bf16_from_f32(static_cast<float>(x)); }

enum class Kind : std::uint8_t { kEighths, kFactors, kUniform, kTruth };

Kind kind_of(const Operator& op) {
  switch (op.reduction().op) {
    case ReduceOp::kProd:
      return Kind::kFactors;
    case ReduceOp::kMax:
    case ReduceOp::kMin:
    case ReduceOp::kArgMax:
    case ReduceOp::kArgMin:
      return Kind::kUniform;
    case ReduceOp::kAny:
    case ReduceOp::kAll:
      return Kind::kTruth;
    default:
      return Kind::kEighths;
  }
}

struct Fill {
  const Operator& op;
  std::uint64_t seed;
  std::int64_t begin, end;

  std::int64_t length() const {
    return std::max<std::int64_t>(1, reduced_elements(op.input(), op.reduction().axes));
  }

  /// For any and all: a rare element decides, about 0.7 of them for each output. Other than zero it is a
  /// number that becomes zero as an integer or in a byte cut off too early.
  template <typename T, typename Convert>
  void truths(T* to, const Convert& convert, double other_than_zero) const {
    const double share = std::min(0.5, 0.7 / static_cast<double>(length()));
    const bool rare_is_zero = op.reduction().op == ReduceOp::kAll;
    for (std::int64_t i = begin; i < end; ++i) {
      const bool rare = static_cast<double>(hash_of(seed, i) >> 11) * 0x1p-53 < share;
      to[i] = convert(rare == rare_is_zero ? 0.0 : other_than_zero);
    }
  }

  template <typename T, typename Convert>
  void floats(T* to, const Convert& convert) const {
    switch (kind_of(op)) {
      case Kind::kEighths:
        return fill_eighths(to, seed, begin, end, convert);
      case Kind::kTruth:
        return truths(to, convert, -0.25);
      case Kind::kUniform:
        for (std::int64_t i = begin; i < end; ++i) to[i] = convert(unit_interval(hash_of(seed, i)));
        return;
      case Kind::kFactors:
        break;
    }
    const Factors factors(op.input().dtype, length());
    for (std::int64_t i = begin; i < end; ++i) to[i] = convert(factors(hash_of(seed, i)));
  }

  template <typename T>
  void integers(T* to) const {
    if (kind_of(op) == Kind::kTruth) {
      // Its lowest byte is zero where there are more.
      return truths(
          to, [](double x) { return static_cast<T>(x); }, sizeof(T) == 1 ? 64 : 0x700);
    }
    constexpr std::int64_t kLow = sizeof(T) == 1 ? -100 : -1'000'000;
    constexpr std::uint64_t kCount = sizeof(T) == 1 ? 200 : 2'000'001;
    const std::int64_t low_bit =
        op.reduction().op == ReduceOp::kProd ? 1 : 0;  // a product of odd numbers is never 0
    for (std::int64_t i = begin; i < end; ++i) {
      to[i] = static_cast<T>((kLow + below(hash_of(seed, i), kCount)) | low_bit);
    }
  }

  void bools(unsigned char* to) const {
    if (kind_of(op) == Kind::kTruth)
      return truths(
          to, [](double x) { return static_cast<unsigned char>(x); }, 1);
    const bool all = op.reduction().op == ReduceOp::kProd;
    for (std::int64_t i = begin; i < end; ++i) to[i] = all || hash_of(seed, i) >> 63 ? 1 : 0;
  }

  void run(unsigned char* to) const {
    switch (op.input().dtype) {
      case DType::kBool:
        return bools(to);
      case DType::kI8:
        return integers(reinterpret_cast<std::int8_t*>(to));
      case DType::kU8:
        return integers(to);
      case DType::kI32:
        return integers(reinterpret_cast<std::int32_t*>(to));
      case DType::kI64:
        return integers(reinterpret_cast<std::int64_t*>(to));
      // By way of f32: eighths and factors fit it, and a uniform number may be rounded twice.
      case DType::kF16:
        return floats(reinterpret_cast<std::uint16_t*>(to), to_f16);
      case DType::kBF16:
        return floats(reinterpret_cast<std::uint16_t*>(to), to_bf16);
      case DType::kF32:
        return floats(reinterpret_cast<float*>(to), [](double x) { return static_cast<float>(x); });
      case DType::kF64:
        return floats(reinterpret_cast<double*>(to), [](double x) { return x; });
    }
  }
};

const char* distribution_of(const Operator& op) {
  if (kind_of(op) == Kind::kTruth) return "a rare element decides";
  if (op.input().dtype == DType::kBool) return "uniform bool";
  if (!info(op.input().dtype).is_float) return "uniform integers";
  switch (kind_of(op)) {
    case Kind::kEighths:
      return "odd eighths in (-2, 2)";
    case Kind::kFactors:
      return "+-1 +- 1.5/sqrt(length)";
    default:
      return "uniform [-1, 1)";
  }
}

}  // namespace

std::vector<unsigned char> make_input(const Operator& op, std::uint64_t seed, std::string* distribution) {
  constexpr std::int64_t kGrain = 1 << 20;
  if (op.graph) {
    if (distribution) *distribution = "odd eighths in (-2, 2), integers, without signs where a function needs it";
    return make_graph_inputs(op, seed);
  }
  const Tensor& in = op.input();
  const std::int64_t count = in.storage_elements();
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count * bytes_of(in.dtype)));
  if (distribution) *distribution = distribution_of(op);
  parallel_pieces(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    Fill{op, seed, begin, end}.run(bytes.data());
  });
  return bytes;
}

}  // namespace redtune
