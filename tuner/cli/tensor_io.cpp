#include "tuner/cli/tensor_io.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "measure/reference.h"
#include "space/task.h"
#include "support/error.h"
#include "support/half.h"
#include "support/npy.h"
#include "support/text.h"

namespace redtune {
namespace {

template <typename T>
T load(const unsigned char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

template <typename T>
void store(std::vector<unsigned char>& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof value, &value, sizeof value);
}

double float_at(DType dtype, const unsigned char* bytes) {
  switch (dtype) {
    case DType::kF16:
      return f32_from_f16(load<std::uint16_t>(bytes));
    case DType::kBF16:
      return f32_from_bf16(load<std::uint16_t>(bytes));
    case DType::kF32:
      return load<float>(bytes);
    default:
      return load<double>(bytes);
  }
}

std::int64_t integer_at(DType dtype, const unsigned char* bytes) {
  switch (dtype) {
    case DType::kBool:
      return *bytes != 0;
    case DType::kU8:
      return *bytes;
    case DType::kI8:
      return load<std::int8_t>(bytes);
    case DType::kI32:
      return load<std::int32_t>(bytes);
    default:
      return load<std::int64_t>(bytes);
  }
}

Json element_json(DType dtype, const unsigned char* bytes) {
  if (info(dtype).is_float) return json_number(float_at(dtype, bytes));
  if (dtype == DType::kBool) return integer_at(dtype, bytes) != 0;
  return integer_at(dtype, bytes);
}

void put_float(DType dtype, std::vector<unsigned char>& bytes, std::size_t i, double value) {
  switch (dtype) {
    case DType::kF16:
      return store(bytes, i, f16_from_f64(value));
    case DType::kBF16:
      return store(bytes, i, bf16_from_f64(value));
    case DType::kF32:
      return store(bytes, i, static_cast<float>(value));
    default:
      return store(bytes, i, value);
  }
}

void put_integer(DType dtype, std::vector<unsigned char>& bytes, std::size_t i, std::int64_t value) {
  switch (bytes_of(dtype)) {
    case 1:
      return store(bytes, i, static_cast<std::uint8_t>(value));
    case 4:
      return store(bytes, i, static_cast<std::int32_t>(value));
    default:
      return store(bytes, i, value);
  }
}

std::vector<unsigned char> inline_input(const Tensor& tensor, const InlineData& data) {
  const auto storage = static_cast<std::size_t>(tensor.storage_elements());
  std::vector<unsigned char> bytes(storage * static_cast<std::size_t>(bytes_of(tensor.dtype)));
  for (std::size_t i = 0; i < std::min(storage, data.numbers.size()); ++i) {
    put_float(tensor.dtype, bytes, i, data.numbers[i]);
  }
  for (std::size_t i = 0; i < std::min(storage, data.integers.size()); ++i) {
    put_integer(tensor.dtype, bytes, i, data.integers[i]);
  }
  return bytes;
}

bool dtype_matches(DType dtype, const std::string& descr) {
  if (dtype == DType::kBF16) return descr == "<u2" || descr == "<V2" || descr == "|V2";
  if (dtype == DType::kBool) return descr == "|b1" || descr == "|u1";
  return descr == info(dtype).npy;
}

// Puts a dense array where strides and offset say.
std::vector<unsigned char> scattered(const Tensor& tensor, const NpyArray& array) {
  const auto item = static_cast<std::size_t>(bytes_of(tensor.dtype));
  std::vector<unsigned char> bytes(static_cast<std::size_t>(tensor.storage_elements()) * item);
  std::vector<std::int64_t> index(tensor.shape.size(), 0);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    std::int64_t at = tensor.offset;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * tensor.strides[d];
    std::memcpy(bytes.data() + static_cast<std::size_t>(at) * item,
                array.data.data() + static_cast<std::size_t>(i) * item, item);
    for (std::size_t d = index.size(); d-- > 0 && ++index[d] == tensor.shape[d];) index[d] = 0;
  }
  return bytes;
}

std::vector<unsigned char> npy_input(const Tensor& tensor, const std::string& path) {
  const NpyArray array = read_npy(path);
  if (!dtype_matches(tensor.dtype, array.descr)) {
    throw UserError(path + ": holds '" + array.descr + "', the operator's input is " +
                    std::string(name(tensor.dtype)) + " ('" + std::string(info(tensor.dtype).npy) + "')");
  }
  if (array.shape == tensor.shape) return scattered(tensor, array);
  if (array.shape.size() == 1 && array.shape[0] == tensor.storage_elements()) {
    const auto* data = reinterpret_cast<const unsigned char*>(array.data.data());
    return {data, data + array.data.size()};
  }
  const auto text = [](const std::vector<std::int64_t>& shape) {
    std::vector<std::string> sizes;
    for (std::int64_t size : shape) sizes.push_back(std::to_string(size));
    return "[" + join(sizes, ",") + "]";
  };
  throw UserError(path + ": has shape " + text(array.shape) + ", the operator's input has " +
                  text(tensor.shape) + " (or a flat storage of " + std::to_string(tensor.storage_elements()) +
                  ")");
}

}  // namespace

std::vector<unsigned char> load_inputs(const Operator& op, const std::map<std::string, std::string>& npy_paths, std::uint64_t seed) {
  const InputLayout layout = input_layout(op);
  const auto given = [&](std::size_t i) -> const InlineData* {
    if (i == 0 && op.data) return &*op.data;
    return i < op.values.size() && op.values[i] ? &*op.values[i] : nullptr;
  };
  std::vector<unsigned char> block(static_cast<std::size_t>(layout.bytes));
  for (std::size_t i = 0, generated = 0; i < op.inputs.size(); ++i) {
    const Tensor& tensor = op.inputs[i];
    const auto path = npy_paths.find(tensor.name);
    std::vector<unsigned char> bytes;
    if (path != npy_paths.end()) {
      bytes = npy_input(tensor, path->second);
    } else if (given(i) != nullptr) {
      bytes = inline_input(tensor, *given(i));
    } else {
      // All that are not given are generated together.
      if (generated++ == 0) {
        const std::vector<unsigned char> made = make_input(op, seed);
        std::vector<unsigned char> before = std::move(block);
        block = made;
        const auto kept = static_cast<std::ptrdiff_t>(layout.offsets[i]);
        std::copy(before.begin(), before.begin() + kept, block.begin());
      }
      continue;
    }
    std::copy(bytes.begin(), bytes.end(), block.begin() + static_cast<std::ptrdiff_t>(layout.offsets[i]));
  }
  return block;
}

void save_output(const Tensor& tensor, const std::vector<unsigned char>& bytes, const std::string& npy_path) {
  NpyArray array;
  array.descr = info(tensor.dtype).npy;
  array.shape = tensor.shape;
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
  array.data.assign(data, data + bytes.size());
  write_npy(npy_path, array);
}

Json tensor_json(const Tensor& tensor, const std::vector<unsigned char>& bytes) {
  Json json = Json::object();
  json["shape"] = tensor.shape;
  json["dtype"] = std::string(name(tensor.dtype));
  Json& data = json["data"] = Json::array();
  const auto item = static_cast<std::size_t>(bytes_of(tensor.dtype));
  for (std::size_t i = 0; i + item <= bytes.size(); i += item) {
    data.push_back(element_json(tensor.dtype, bytes.data() + i));
  }
  return json;
}

std::string element_text(DType dtype, const unsigned char* bytes) {
  const Json value = element_json(dtype, bytes);
  // JSON writes every float as a double, with the digits that tell doubles apart.
  if (value.is_number_float() && dtype != DType::kF64) {
    return fmt::format("{}", static_cast<float>(value.get<double>()));
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace redtune
