// Why a schedule is not in a space: returned, never logged and forgotten.
#pragma once

#include <string>

namespace redtune {

struct Rejection {
  std::string constraint;  // name of the constraint: "threads_per_block"
  std::string detail;      // with the numbers: "rx*px = 32*64 = 2048 threads, target allows 1024"
};

}  // namespace redtune
