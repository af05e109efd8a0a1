#include "tests/measure/fake_cuda_fixture.h"

namespace redtune {

std::string fake_cuda_library() {
  return std::string(REDTUNE_BINARY_DIR) + "/tests/fake_cuda/fake_cuda_device.so";
}

}  // namespace redtune
