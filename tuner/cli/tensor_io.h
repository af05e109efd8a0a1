// Tensors from and to files and JSON, for `run`.
#pragma once

#include <string>
#include <vector>

#include "space/operator.h"
#include "support/json.h"

namespace redtune {

/// Storage bytes of the input: from the .npy file when `npy_path` is not empty (of the logical shape, or flat
/// storage as strides and offset walk over it), else from the operator's own data, else generated from
/// `seed`.
std::vector<unsigned char> load_input(const Operator& op, const std::string& npy_path, std::uint64_t seed);

void save_output(const Operator& op, const std::vector<unsigned char>& bytes, const std::string& npy_path);

/// {"shape": [...], "dtype": "f32", "data": [...]}: row-major, integers exact, non-finite values as strings.
Json tensor_json(const Tensor& tensor, const std::vector<unsigned char>& bytes);

/// One element as people read it.
std::string element_text(DType dtype, const unsigned char* bytes);

}  // namespace redtune
