// What the short form and the general form read alike. Internal to space/.
#pragma once

#include "space/operator.h"

namespace redtune {

/// "shape", "dtype", "strides", "offset" of an input called `name`, checked.
Tensor read_input(JsonObject& object, const std::string& name);
/// "data": the flat storage of `input`.
InlineData read_data(JsonObject& object, const Tensor& input);
Json data_json(const InlineData& data);

}  // namespace redtune
