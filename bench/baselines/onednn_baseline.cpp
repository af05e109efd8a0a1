// oneDNN's reduction primitive, as its documentation uses it: the library chooses the implementation.
#include <fmt/format.h>

#include <map>
#include <oneapi/dnnl/dnnl.hpp>

#include "bench/baselines/host_baseline.h"
#include "support/error.h"

namespace redtune {
namespace {

dnnl::memory::data_type onednn_type(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return dnnl::memory::data_type::f32;
    case DType::kBF16:
      return dnnl::memory::data_type::bf16;
    case DType::kI32:
      return dnnl::memory::data_type::s32;
    case DType::kI8:
      return dnnl::memory::data_type::s8;
    case DType::kU8:
      return dnnl::memory::data_type::u8;
    default:
      throw UserError("its reduction has no " + std::string(name(dtype)));
  }
}

dnnl::algorithm onednn_algorithm(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return dnnl::algorithm::reduction_sum;
    case ReduceOp::kProd:
      return dnnl::algorithm::reduction_mul;
    case ReduceOp::kMean:
      return dnnl::algorithm::reduction_mean;
    case ReduceOp::kMax:
      return dnnl::algorithm::reduction_max;
    case ReduceOp::kMin:
      return dnnl::algorithm::reduction_min;
    default:
      throw UserError("it has no reduction " + std::string(name(op)));
  }
}

class OneDnnBaseline : public HostBaseline {
 public:
  explicit OneDnnBaseline(const Task& task) : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    const Tensor& tensor = task.op.input();
    if (tensor.shape.empty() || tensor.shape.size() > DNNL_MAX_NDIMS) {
      throw UserError(fmt::format("it takes 1 to {} axes", DNNL_MAX_NDIMS));
    }
    dnnl::memory::dims reduced = tensor.shape;
    for (const int axis : task.op.reduction().axes) reduced[static_cast<std::size_t>(axis)] = 1;
    const dnnl::memory::desc source(tensor.shape, onednn_type(tensor.dtype), row_major_strides(tensor.shape));
    const dnnl::memory::desc result(reduced, onednn_type(task.output_dtype()), row_major_strides(reduced));
    const dnnl::algorithm algorithm = onednn_algorithm(task.reduce_op());
    try {
#if DNNL_VERSION_MAJOR >= 3
      const dnnl::reduction::primitive_desc chosen(engine_, algorithm, source, result, 0.0f, 0.0f);
#else
      const dnnl::reduction::primitive_desc chosen({algorithm, source, result, 0.0f, 0.0f}, engine_);
#endif
      implementation_ = chosen.impl_info_str();
      primitive_ = dnnl::reduction(chosen);
    } catch (const dnnl::error& error) {
      throw UserError("it has no implementation for " + task.op.key() + ": " + error.what());
    }
    source_ = dnnl::memory(source, engine_, nullptr);
    result_ = dnnl::memory(result, engine_, nullptr);
  }

  std::string implementation() const override { return implementation_; }
  bool is_reference() const override { return implementation_.starts_with("ref"); }

  void compute(const unsigned char* in, unsigned char* out) override {
    source_.set_data_handle(const_cast<unsigned char*>(in));
    result_.set_data_handle(out);
    primitive_.execute(stream_, {{DNNL_ARG_SRC, source_}, {DNNL_ARG_DST, result_}});
    stream_.wait();
  }

 private:
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::reduction primitive_;
  dnnl::memory source_, result_;
  std::string implementation_;
};

const char* runtime_name(unsigned runtime) {
  switch (runtime) {
    case DNNL_RUNTIME_SEQ:
      return "sequential";
    case DNNL_RUNTIME_OMP:
      return "OpenMP";
    case DNNL_RUNTIME_TBB:
      return "TBB";
    default:
      return "other threads";
  }
}

}  // namespace

std::unique_ptr<HostBaseline> make_onednn_baseline(const Task& task, int) {
  return std::make_unique<OneDnnBaseline>(task);
}

std::string onednn_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("oneDNN {}.{}.{}, {}", version.major, version.minor, version.patch,
                     runtime_name(version.cpu_runtime));
}

}  // namespace redtune
