// Small operators with their data, for tests of the reference.
#pragma once

#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "measure/reference.h"
#include "support/half.h"

namespace redtune {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

inline Operator op_of(const std::string& text) { return parse_operator(parse_json(text, "t"), "t"); }

template <typename T>
std::vector<unsigned char> bytes_of_values(const std::vector<T>& values) {
  std::vector<unsigned char> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

inline std::vector<unsigned char> stored(DType dtype, const std::vector<double>& values) {
  std::vector<unsigned char> bytes;
  const auto append = [&](auto value) {
    const auto more = bytes_of_values<decltype(value)>({value});
    bytes.insert(bytes.end(), more.begin(), more.end());
  };
  for (double value : values) {
    switch (dtype) {
      case DType::kF16:
        append(f16_from_f64(value));
        break;
      case DType::kBF16:
        append(bf16_from_f64(value));
        break;
      case DType::kF32:
        append(static_cast<float>(value));
        break;
      case DType::kF64:
        append(value);
        break;
      case DType::kI32:
        append(static_cast<std::int32_t>(value));
        break;
      case DType::kI64:
        append(static_cast<std::int64_t>(value));
        break;
      default:
        append(static_cast<std::int8_t>(value));
        break;
    }
  }
  return bytes;
}

inline std::vector<double> repeated(double value, std::size_t count) {
  return std::vector<double>(count, value);
}

/// The reference of a short form without its data.
inline Reference reference_of(const std::string& text, const std::vector<double>& values,
                              std::int64_t depth = 1) {
  const Operator op = op_of(text);
  return compute_reference(op, stored(op.input().dtype, values), depth);
}

inline std::vector<double> counted(int first, int count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

}  // namespace redtune
