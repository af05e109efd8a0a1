#include "measure/input_patterns.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "measure/reference.h"
#include "measure/rounding.h"
#include "support/error.h"
#include "support/half.h"
#include "support/rng.h"

namespace redtune {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double sign_of(const PatternSpot& spot) { return spot.index % 2 == 0 ? 1 : -1; }

// Steps of 1/8, as make_input has them, so that sums stay exact where the type allows it.
double eighths(const PatternSpot& spot) { return (static_cast<double>(spot.hash & 15) - 7.5) * 0.25; }

double zeros(const PatternSpot& spot) { return 0.0 * sign_of(spot); }
std::int64_t whole_zeros(const PatternSpot&) { return 0; }

double all_equal(const PatternSpot&) { return 1.25; }
std::int64_t whole_all_equal(const PatternSpot&) { return 7; }

double alternating(const PatternSpot& spot) { return 1.5 * sign_of(spot); }
std::int64_t whole_alternating(const PatternSpot& spot) { return spot.index % 2 == 0 ? 3 : -3; }

double few_values(const PatternSpot& spot) { return static_cast<double>(spot.index % 3); }
std::int64_t whole_few_values(const PatternSpot& spot) { return spot.index % 3; }

// 2 to the number of digits less a few: what is added to it loses its last bits.
double large(DType dtype) { return power_of_two(std::min(float_format(dtype).digits, 24) - 2); }

double cancellation(const PatternSpot& spot) {
  if (spot.index % 2 != 0) return eighths(spot);
  return spot.index % 4 == 0 ? large(spot.dtype) : -large(spot.dtype);
}

double large_offset(const PatternSpot& spot) { return large(spot.dtype) + eighths(spot); }
std::int64_t whole_large_offset(const PatternSpot& spot) {
  return (std::int64_t{1} << (8 * bytes_of(spot.dtype) - 2)) + static_cast<std::int64_t>(spot.hash & 15);
}

// At least one, in the middle.
bool sparse(const PatternSpot& spot) { return spot.hash % 89 == 0 || spot.index == spot.count / 2; }
double infinities(const PatternSpot& spot) { return spot.hash & 256 ? kInfinity : -kInfinity; }
double positive_infinities(const PatternSpot&) { return kInfinity; }

// Ends of the storage, and what lies on either side of a power of two: there tiles, blocks and vectors meet.
bool at_border(const PatternSpot& spot) {
  const auto i = static_cast<std::uint64_t>(spot.index);
  constexpr std::uint64_t kFirst = 64;  // some rows of a small task have none
  return spot.index + 1 == spot.count ||
         (i + 1 >= kFirst && (std::has_single_bit(i) || std::has_single_bit(i + 1)));
}
// One with its payload in the lowest bits only, or a plain one.
double nans(const PatternSpot& spot) {
  return spot.index % 2 == 0 ? std::numeric_limits<double>::quiet_NaN()
                             : std::numeric_limits<double>::signaling_NaN();
}

double subnormals(const PatternSpot& spot) {
  const FloatFormat format = float_format(spot.dtype);
  return std::ldexp(static_cast<double>(spot.hash & 15) - 7.5 > 0 ? 3.0 : -5.0,
                    format.min_exponent - format.digits + 1);
}

double extremes(const PatternSpot& spot) {
  const double most = float_format(spot.dtype).largest, least = smallest_normal(spot.dtype);
  const double values[] = {most, -most, least, -least};
  return values[spot.hash & 3];
}
std::int64_t whole_extremes(const PatternSpot& spot) {
  const int bits = 8 * bytes_of(spot.dtype);
  const bool is_signed = spot.dtype != DType::kU8 && spot.dtype != DType::kBool;
  const std::int64_t most =
      is_signed ? std::numeric_limits<std::int64_t>::max() >> (64 - bits) : (1 << bits) - 1;
  const std::int64_t least = is_signed ? -most - 1 : 0;
  const std::int64_t values[] = {most, least, is_signed ? -1 : 1, least + 1};
  return values[spot.hash & 3];
}

// Float values, integer values, where, exact operators only, products.
constexpr InputPattern kPatterns[] = {
    {"random", "as tuning measures on", nullptr, nullptr, nullptr, false, true},
    {"zeros", "zeros of both signs", zeros, whole_zeros, nullptr, false, true},
    {"all_equal", "one value everywhere", all_equal, whole_all_equal, nullptr, false, true},
    {"alternating", "one size, signs in turns", alternating, whole_alternating, nullptr, false, true},
    {"few_values", "0, 1, 2 in turns: many ties", few_values, whole_few_values, nullptr, false, true},
    {"cancellation", "large numbers that cancel, small ones between", cancellation, nullptr, nullptr, false,
     false},
    {"large_offset", "small differences far from zero", large_offset, whole_large_offset, nullptr, false,
     false},
    {"infinities", "a few infinities of both signs", infinities, nullptr, sparse, false, true},
    {"positive_infinities", "a few infinities of one sign", positive_infinities, nullptr, sparse, false,
     true},
    {"nan_at_borders", "NaN at both ends of tiles, blocks and vectors", nans, nullptr, at_border, false,
     true},
    {"subnormals", "numbers below the smallest normal one", subnormals, nullptr, nullptr, false, true},
    {"extremes", "largest and smallest numbers of the type", extremes, whole_extremes, nullptr, true, true},
};

template <typename T, typename Value, typename Convert>
void replace(std::vector<unsigned char>& bytes, const InputPattern& pattern, std::uint64_t seed, DType dtype,
             Value (*value)(const PatternSpot&), const Convert& convert) {
  T* const to = reinterpret_cast<T*>(bytes.data());
  const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(T));
  for (std::int64_t i = 0; i < count; ++i) {
    const PatternSpot spot{i, count, mix64(mix64(seed) + static_cast<std::uint64_t>(i)), dtype};
    if (!pattern.replaces || pattern.replaces(spot)) to[i] = convert(value(spot));
  }
}

// A signalling NaN is one whose payload is its lowest bit; the way through f32 would drop or quiet it.
template <typename Bits>
Bits float_bits(double x, Bits infinity, Bits (*convert)(double)) {
  if (x == x) return convert(x);
  const bool quiet = std::bit_cast<std::uint64_t>(x) >> 51 & 1;
  return quiet ? static_cast<Bits>(~Bits{0} >> 1) : static_cast<Bits>(infinity + 1);
}

std::uint16_t f16_bits(double x) { return f16_from_f32(static_cast<float>(x)); }
std::uint16_t bf16_bits(double x) { return bf16_from_f32(static_cast<float>(x)); }
std::uint32_t f32_bits(double x) { return std::bit_cast<std::uint32_t>(static_cast<float>(x)); }
std::uint64_t f64_bits(double x) { return std::bit_cast<std::uint64_t>(x); }

}  // namespace

std::span<const InputPattern> input_patterns() { return kPatterns; }

const InputPattern& parse_input_pattern(std::string_view word) {
  std::vector<std::string> known;
  for (const InputPattern& pattern : kPatterns) {
    if (pattern.name == word) return pattern;
    known.emplace_back(pattern.name);
  }
  throw UserError(unknown_word_message("input pattern", word, known));
}

bool applies(const InputPattern& pattern, const Operator& op) {
  if (&pattern == &kPatterns[0]) return true;
  // Patterns break reductions of what they are; statements in front of them make something else of it.
  if (op.graph) return false;
  const bool is_float = info(op.input().dtype).is_float;
  if (is_float ? !pattern.real : !pattern.whole) return false;
  const ReduceOp what = op.reduction().op;
  if (!is_float) return true;  // integers wrap, in whatever order
  return (info(what).exact || !pattern.exact_only) && (what != ReduceOp::kProd || pattern.products);
}

std::vector<unsigned char> make_input(const Operator& op, const InputPattern& pattern, std::uint64_t seed) {
  std::vector<unsigned char> bytes = make_input(op, seed);
  if (op.graph) return bytes;
  const DType dtype = op.input().dtype;
  const auto integers = [&]<typename T>(T) {
    replace<T>(bytes, pattern, seed, dtype, pattern.whole, [](std::int64_t x) { return static_cast<T>(x); });
  };
  if (info(dtype).is_float ? !pattern.real : !pattern.whole) return bytes;
  switch (dtype) {
    case DType::kBool:
      replace<unsigned char>(bytes, pattern, seed, dtype, pattern.whole,
                             [](std::int64_t x) -> unsigned char { return x != 0 ? 1 : 0; });
      break;
    case DType::kI8:
      integers(std::int8_t{});
      break;
    case DType::kU8:
      integers(std::uint8_t{});
      break;
    case DType::kI32:
      integers(std::int32_t{});
      break;
    case DType::kI64:
      integers(std::int64_t{});
      break;
    case DType::kF16:
      replace<std::uint16_t>(bytes, pattern, seed, dtype, pattern.real,
                             [](double x) { return float_bits<std::uint16_t>(x, 0x7c00, f16_bits); });
      break;
    case DType::kBF16:
      replace<std::uint16_t>(bytes, pattern, seed, dtype, pattern.real,
                             [](double x) { return float_bits<std::uint16_t>(x, 0x7f80, bf16_bits); });
      break;
    case DType::kF32:
      replace<std::uint32_t>(bytes, pattern, seed, dtype, pattern.real,
                             [](double x) { return float_bits<std::uint32_t>(x, 0x7f800000, f32_bits); });
      break;
    case DType::kF64:
      replace<std::uint64_t>(bytes, pattern, seed, dtype, pattern.real, [](double x) {
        return float_bits<std::uint64_t>(x, 0x7ff0000000000000, f64_bits);
      });
      break;
  }
  return bytes;
}

}  // namespace redtune
