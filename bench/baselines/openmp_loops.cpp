#include "bench/baselines/openmp_loops.h"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <vector>
#ifdef __F16C__
#include <immintrin.h>
#endif

namespace redtune {
namespace {

using Index = std::int64_t;

constexpr Index kBlock = 512;

struct Bf16 {
  std::uint16_t bits;
};

// One operator over accumulators; `lift` takes an element in.
template <class Acc>
struct Add {
  static constexpr Acc start() { return 0; }
  static Acc join(Acc a, Acc b) {
    if constexpr (std::is_integral_v<Acc>) {
      return static_cast<Acc>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));  // wraps
    } else {
      return a + b;
    }
  }
};
template <class Acc>
struct Multiply {
  static constexpr Acc start() { return 1; }
  static Acc join(Acc a, Acc b) {
    if constexpr (std::is_integral_v<Acc>) {
      return static_cast<Acc>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    } else {
      return a * b;
    }
  }
};
template <class Acc>
constexpr Acc lowest() {
  if constexpr (std::is_floating_point_v<Acc>) {
    return -std::bit_cast<Acc>(std::conditional_t<sizeof(Acc) == 4, std::uint32_t, std::uint64_t>(
        sizeof(Acc) == 4 ? 0x7f7fffffu : 0x7fefffffffffffffu));
  } else {
    return std::is_signed_v<Acc> ? static_cast<Acc>(Acc{1} << (8 * sizeof(Acc) - 1)) : Acc{0};
  }
}
template <class Acc>
constexpr Acc highest() {
  if constexpr (std::is_floating_point_v<Acc>) {
    return -lowest<Acc>();
  } else {
    return static_cast<Acc>(~lowest<Acc>());
  }
}
template <class Acc>
struct Larger {
  static constexpr Acc start() { return lowest<Acc>(); }
  static Acc join(Acc a, Acc b) { return a > b ? a : b; }
};
template <class Acc>
struct Smaller {
  static constexpr Acc start() { return highest<Acc>(); }
  static Acc join(Acc a, Acc b) { return a < b ? a : b; }
};
struct Or {
  static constexpr std::uint8_t start() { return 0; }
  static std::uint8_t join(std::uint8_t a, std::uint8_t b) { return a | b; }
};
struct And {
  static constexpr std::uint8_t start() { return 1; }
  static std::uint8_t join(std::uint8_t a, std::uint8_t b) { return a & b; }
};

// Elements as numbers. GCC 12 does not vectorise conversions from f16 by itself, so those go block by block.
template <class T>
const T* numbers_of(const T* in, Index, float*) {
  return in;
}

const float* numbers_of(const _Float16* in, Index n, float* block) {
  Index i = 0;
#ifdef __F16C__
  for (; i + 8 <= n; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(block + i, _mm256_cvtph_ps(halves));
  }
#endif
  for (; i < n; ++i) block[i] = static_cast<float>(in[i]);
  return block;
}

const float* numbers_of(const Bf16* in, Index n, float* block) {
  for (Index i = 0; i < n; ++i) block[i] = std::bit_cast<float>(std::uint32_t{in[i].bits} << 16);
  return block;
}

template <class Op, class Acc, class Number>
Acc lift(Number x) {
  if constexpr (std::is_same_v<Op, Or> || std::is_same_v<Op, And>) {
    return x != Number{0} ? 1 : 0;
  } else {
    return static_cast<Acc>(x);
  }
}

template <class Op, class Acc, class T>
Acc reduce_row(const T* row, Index n) {
  float block[kBlock];
  Acc total = Op::start();
  for (Index first = 0; first < n; first += kBlock) {
    const Index count = std::min(kBlock, n - first);
    const auto* const values = numbers_of(row + first, count, block);
    for (Index i = 0; i < count; ++i) total = Op::join(total, lift<Op, Acc>(values[i]));
  }
  return total;
}

template <class Op, class Acc, class T>
void add_row(const T* row, Acc* out, Index n) {
  float block[kBlock];
  for (Index first = 0; first < n; first += kBlock) {
    const Index count = std::min(kBlock, n - first);
    const auto* const values = numbers_of(row + first, count, block);
#pragma omp simd
    for (Index i = 0; i < count; ++i) out[first + i] = Op::join(out[first + i], lift<Op, Acc>(values[i]));
  }
}

template <class Op, class Acc, class T>
void reduce_all(const T* in, Index n, Acc* out, int threads) {
  Acc total = Op::start();
#pragma omp parallel num_threads(threads)
  {
    Acc mine = Op::start();
#pragma omp for schedule(static) nowait
    for (Index i = 0; i < n; i += kBlock) {
      mine = Op::join(mine, reduce_row<Op, Acc>(in + i, std::min(kBlock, n - i)));
    }
#pragma omp critical
    total = Op::join(total, mine);
  }
  *out = total;
}

// before x kept x reduced: the contiguous axis is reduced away.
template <class Op, class Acc, class T>
void reduce_rows(const LoopShape& s, const T* in, Acc* out, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index k = 0; k < s.kept; ++k) {
    Acc total = Op::start();
    for (Index b = 0; b < s.before; ++b) {
      total = Op::join(total, reduce_row<Op, Acc>(in + (b * s.kept + k) * s.reduced, s.reduced));
    }
    out[k] = total;
  }
}

// reduced x after: every thread adds its rows up, then the threads' sums are added.
template <class Op, class Acc, class T>
void reduce_columns(const LoopShape& s, const T* in, Acc* out, int threads) {
  const Index n = s.after;
  std::fill(out, out + n, Op::start());
#pragma omp parallel num_threads(threads)
  {
    std::vector<Acc> mine(static_cast<std::size_t>(n), Op::start());
#pragma omp for schedule(static) nowait
    for (Index r = 0; r < s.reduced; ++r) add_row<Op>(in + r * n, mine.data(), n);
#pragma omp critical
    add_row<Op>(mine.data(), out, n);
  }
}

// kept x reduced x after: columns of many matrices.
template <class Op, class Acc, class T>
void reduce_middles(const LoopShape& s, const T* in, Acc* out, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (Index k = 0; k < s.kept; ++k) {
    Acc* const mine = out + k * s.after;
    std::fill(mine, mine + s.after, Op::start());
    for (Index r = 0; r < s.reduced; ++r) add_row<Op>(in + (k * s.reduced + r) * s.after, mine, s.after);
  }
}

template <class Op, class Acc, class T>
void reduce(const LoopShape& s, const T* in, Acc* out, int threads) {
  if (s.after == 1 && s.kept == 1) {
    reduce_all<Op>(in, s.before * s.reduced, out, threads);
  } else if (s.after == 1) {
    reduce_rows<Op>(s, in, out, threads);
  } else if (s.kept == 1) {
    reduce_columns<Op>(s, in, out, threads);
  } else {
    reduce_middles<Op>(s, in, out, threads);
  }
}

template <class Acc, class Out>
void convert(const Acc* from, Out* to, Index n, double factor, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static) if (n > 100000)
  for (Index i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<Acc>) {
      to[i] = static_cast<Out>(from[i] * static_cast<Acc>(factor));
    } else {
      to[i] =
          factor == 1 ? static_cast<Out>(from[i]) : static_cast<Out>(static_cast<double>(from[i]) * factor);
    }
  }
}

template <class T>
struct Tag {
  using Type = T;
};

// `act` with the C++ type of `dtype`.
template <class Act>
void with_type(DType dtype, const Act& act) {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return act(Tag<std::uint8_t>{});
    case DType::kI8:
      return act(Tag<std::int8_t>{});
    case DType::kI32:
      return act(Tag<std::int32_t>{});
    case DType::kI64:
      return act(Tag<std::int64_t>{});
    case DType::kF16:
      return act(Tag<_Float16>{});
    case DType::kBF16:
      return act(Tag<Bf16>{});
    case DType::kF32:
      return act(Tag<float>{});
    case DType::kF64:
      return act(Tag<double>{});
  }
}

template <class T>
constexpr bool kNarrowFloat = std::is_same_v<T, _Float16> || std::is_same_v<T, Bf16>;
template <class T>
using Wide =
    std::conditional_t<kNarrowFloat<T>, float, std::conditional_t<std::is_integral_v<T>, std::int64_t, T>>;
template <class T>
using Same = std::conditional_t<kNarrowFloat<T>, float, T>;

template <class Acc>
constexpr DType dtype_of() {
  if (std::is_same_v<Acc, float>) return DType::kF32;
  if (std::is_same_v<Acc, double>) return DType::kF64;
  if (std::is_same_v<Acc, std::int64_t>) return DType::kI64;
  if (std::is_same_v<Acc, std::int32_t>) return DType::kI32;
  return std::is_same_v<Acc, std::int8_t> ? DType::kI8 : DType::kU8;
}

bool stored_alike(DType a, DType b) {
  const auto plain = [](DType t) { return t == DType::kBool ? DType::kU8 : t; };
  return plain(a) == plain(b);
}

template <class Op, class Acc, class T>
void reduce_to(const LoopShape& s, const LoopKind& kind, const T* in, void* out, int threads) {
  const double factor = kind.op == ReduceOp::kMean ? 1 / static_cast<double>(s.before * s.reduced) : 1;
  if (factor == 1 && stored_alike(kind.output, dtype_of<Acc>())) {
    return reduce<Op>(s, in, static_cast<Acc*>(out), threads);
  }
  std::vector<Acc> result(static_cast<std::size_t>(s.kept * s.after));
  reduce<Op>(s, in, result.data(), threads);
  with_type(kind.output, [&](auto tag) {
    using Out = typename decltype(tag)::Type;
    if constexpr (!std::is_same_v<Out, Bf16>) {
      convert(result.data(), static_cast<Out*>(out), s.kept * s.after, factor, threads);
    }
  });
}

}  // namespace

bool openmp_has(const LoopKind& kind) {
  switch (kind.op) {
    case ReduceOp::kSum:
    case ReduceOp::kProd:
    case ReduceOp::kMean:
    case ReduceOp::kMax:
    case ReduceOp::kMin:
    case ReduceOp::kAny:
    case ReduceOp::kAll:
      return kind.output != DType::kBF16;
    default:
      return false;
  }
}

void openmp_reduce(const LoopShape& shape, const LoopKind& kind, const void* in, void* out, int threads) {
  with_type(kind.input, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const auto* const elements = static_cast<const T*>(in);
    switch (kind.op) {
      case ReduceOp::kSum:
      case ReduceOp::kMean:
        return reduce_to<Add<Wide<T>>, Wide<T>>(shape, kind, elements, out, threads);
      case ReduceOp::kProd:
        return reduce_to<Multiply<Wide<T>>, Wide<T>>(shape, kind, elements, out, threads);
      case ReduceOp::kMax:
        return reduce_to<Larger<Same<T>>, Same<T>>(shape, kind, elements, out, threads);
      case ReduceOp::kMin:
        return reduce_to<Smaller<Same<T>>, Same<T>>(shape, kind, elements, out, threads);
      case ReduceOp::kAny:
        return reduce_to<Or, std::uint8_t>(shape, kind, elements, out, threads);
      case ReduceOp::kAll:
        return reduce_to<And, std::uint8_t>(shape, kind, elements, out, threads);
      default:
        return;
    }
  });
}

void openmp_wake(int threads) {
  int awake = 0;
#pragma omp parallel num_threads(threads) reduction(+ : awake)
  awake += 1;
  // Used, so that no compiler drops the region.
  asm volatile("" : : "r"(awake));
}

}  // namespace redtune
