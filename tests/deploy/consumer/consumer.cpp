// usage: consumer_cpp DIRECTORY     the C++ header in a project of its own
#include <cstdio>
#include <redtune/deploy.hpp>

int main(int argc, char** argv) {
  namespace rt = redtune::deploy;
  const auto missing = rt::Store::open("/nonexistent");
  if (missing || missing.error().status != REDTUNE_BAD_INPUT) return 1;
  const auto store = rt::Store::open(argc > 1 ? argv[1] : "");
  const auto op = rt::Operator::parse(R"({"op": "sum", "shape": [64, 256], "axes": [1]})");
  if (!store || !op || store.value().size() == 0) return 1;
  const auto no_context = store.value().opencl_kernel(op.value(), nullptr, nullptr);
  if (no_context || no_context.error().status != REDTUNE_BAD_INPUT) return 1;
  std::printf("%zu configs, %s\n", store.value().size(), op.value().key().c_str());
  return 0;
}
