#include "space/dtype.h"

#include <vector>

#include "support/error.h"

namespace redtune {

DType parse_dtype(std::string_view word) {
  std::vector<std::string> known;
  for (const DTypeInfo& row : kDTypes) {
    if (row.name == word) return row.id;
    known.emplace_back(row.name);
  }
  throw UserError(unknown_word_message("dtype", word, known));
}

}  // namespace redtune
