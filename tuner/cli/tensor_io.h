// Tensors from and to files and JSON, for `run`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "space/operator.h"
#include "support/json.h"

namespace redtune {

/// The block of all inputs (input_layout): each from its .npy file where `npy_paths` names one (of the logical shape,
/// or flat storage as strides and offset walk over it), else from the operator's own data, else generated from
/// `seed`.
std::vector<unsigned char> load_inputs(const Operator& op, const std::map<std::string, std::string>& npy_paths,
                                       std::uint64_t seed);

void save_output(const Tensor& tensor, const std::vector<unsigned char>& bytes, const std::string& npy_path);

/// {"shape": [...], "dtype": "f32", "data": [...]}: row-major, integers exact, non-finite values as strings.
Json tensor_json(const Tensor& tensor, const std::vector<unsigned char>& bytes);

/// One element as people read it.
std::string element_text(DType dtype, const unsigned char* bytes);

}  // namespace redtune
