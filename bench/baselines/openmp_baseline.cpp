#include <fmt/format.h>

#include "bench/baselines/host_baseline.h"
#include "bench/baselines/openmp_loops.h"
#include "support/error.h"

namespace redtune {
namespace {

LoopShape loop_shape(const Canonical& canonical) {
  const std::string form = canonical.form();
  const auto extent = [&](std::size_t i) { return canonical.groups[i].extent; };
  if (form == "R") return {.reduced = extent(0)};
  if (form == "PR") return {.kept = extent(0), .reduced = extent(1)};
  if (form == "RP") return {.reduced = extent(0), .after = extent(1)};
  if (form == "RPR") return {.before = extent(0), .kept = extent(1), .reduced = extent(2)};
  if (form == "PRP") return {.kept = extent(0), .reduced = extent(1), .after = extent(2)};
  throw UserError("it has no loop for the form " + canonical.text());
}

class OpenMpBaseline : public HostBaseline {
 public:
  OpenMpBaseline(const Task& task, int threads) : shape_(loop_shape(task.canonical)), threads_(threads) {
    kind_ = {task.reduce_op(), task.input_dtype(), task.output_dtype()};
    if (!openmp_has(kind_)) throw UserError("it has no loop for " + task.op.key());
    if (task.canonical.groups.size() != task.canonical.form().size()) {
      throw UserError("it takes dense row-major input only");
    }
  }

  std::string implementation() const override {
    if (shape_.after == 1) return shape_.kept == 1 ? "loop over elements" : "loop over rows";
    return shape_.kept == 1 ? "loop over rows into columns" : "loop over matrices";
  }

  void compute(const unsigned char* in, unsigned char* out) override {
    openmp_reduce(shape_, kind_, in, out, threads_);
  }

 private:
  LoopShape shape_;
  LoopKind kind_;
  int threads_;
};

}  // namespace

std::unique_ptr<HostBaseline> make_openmp_baseline(const Task& task, int threads) {
  return std::make_unique<OpenMpBaseline>(task, threads);
}

std::string openmp_version() {
#ifdef __clang__
  return fmt::format("Clang {}.{}, -O3 -march=native -ffast-math", __clang_major__, __clang_minor__);
#else
  return fmt::format("GCC {}.{}, -O3 -march=native -ffast-math", __GNUC__, __GNUC_MINOR__);
#endif
}

}  // namespace redtune
