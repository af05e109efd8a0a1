#include "measure/elements.h"

#include <bit>
#include <cstring>

#include "support/error.h"

namespace redtune {
namespace {

struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};
struct Bool {
  std::uint8_t byte;
};

template <typename T>
auto widened(T x) {
  return x;
}
bool widened(Bool x) { return x.byte != 0; }
float widened(BF16 x) { return std::bit_cast<float>(std::uint32_t{x.bits} << 16); }
// Without branches, so that the compiler can use vectors: the bits moved into place are the value times
// 2^-112, except that infinities and NaN lack the upper bits of their exponent.
float widened(F16 x) {
  const std::uint32_t magnitude = std::uint32_t{x.bits & 0x7fffu} << 13;
  const std::uint32_t scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  const std::uint32_t bits = magnitude >= 0x0f800000u ? magnitude | 0x7f800000u : scaled;
  return std::bit_cast<float>(bits | std::uint32_t{x.bits & 0x8000u} << 16);
}

template <typename T, typename Value>
void load(const unsigned char* storage, std::int64_t first, std::int64_t stride, std::int64_t count,
          Value* to) {
  const T* from = reinterpret_cast<const T*>(storage) + first;
  if (stride == 1) {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Value>(widened(from[i]));
  } else {
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<Value>(widened(from[i * stride]));
  }
}

}  // namespace

void load_elements(DType dtype, const unsigned char* storage, std::int64_t first, std::int64_t stride,
                   std::int64_t count, double* to) {
  switch (dtype) {
    case DType::kF16:
      return load<F16>(storage, first, stride, count, to);
    case DType::kBF16:
      return load<BF16>(storage, first, stride, count, to);
    case DType::kF32:
      return load<float>(storage, first, stride, count, to);
    case DType::kF64:
      return load<double>(storage, first, stride, count, to);
    case DType::kBool:
      return load<Bool>(storage, first, stride, count, to);
    case DType::kI8:
      return load<std::int8_t>(storage, first, stride, count, to);
    case DType::kU8:
      return load<std::uint8_t>(storage, first, stride, count, to);
    case DType::kI32:
      return load<std::int32_t>(storage, first, stride, count, to);
    case DType::kI64:
      return load<std::int64_t>(storage, first, stride, count, to);
  }
  RT_CHECK(false, "dtype without a row");
}

void load_elements(DType dtype, const unsigned char* storage, std::int64_t first, std::int64_t stride,
                   std::int64_t count, std::int64_t* to) {
  switch (dtype) {
    case DType::kBool:
      return load<Bool>(storage, first, stride, count, to);
    case DType::kI8:
      return load<std::int8_t>(storage, first, stride, count, to);
    case DType::kU8:
      return load<std::uint8_t>(storage, first, stride, count, to);
    case DType::kI32:
      return load<std::int32_t>(storage, first, stride, count, to);
    case DType::kI64:
      return load<std::int64_t>(storage, first, stride, count, to);
    default:
      break;
  }
  RT_CHECK(false, "not an integer type");
}

std::int64_t wrap_integer(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::kBool:
      return value != 0;
    case DType::kI8:
      return static_cast<std::int8_t>(value);
    case DType::kU8:
      return static_cast<std::uint8_t>(value);
    case DType::kI32:
      return static_cast<std::int32_t>(value);
    default:
      return value;
  }
}

}  // namespace redtune
