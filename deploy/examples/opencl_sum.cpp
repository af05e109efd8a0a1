// Sums the rows of a matrix with a tuned kernel, on an OpenCL queue of its own.
//
// usage: redtune_deploy_example [DIRECTORY [JSON]]
//        DIRECTORY: a store of `redtune tune` (default redtune-out/configs)
//        JSON: the operator (default: sum of 1024x4096 f32 over axis 1)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdio>
#include <redtune/deploy.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  namespace rt = redtune::deploy;
  const std::string directory = argc > 1 ? argv[1] : "redtune-out/configs";
  const std::string json =
      argc > 2 ? argv[2] : R"({"op": "sum", "shape": [1024, 4096], "axes": [1], "dtype": "f32"})";

  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  clGetPlatformIDs(1, &platform, nullptr);
  if (platform == nullptr ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) != CL_SUCCESS) {
    std::fprintf(stderr, "no OpenCL device\n");
    return 4;
  }
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, nullptr);

  const auto fail = [](const rt::Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return 2;
  };
  const auto store = rt::Store::open(directory);
  if (!store) return fail(store.error());
  const auto op = rt::Operator::parse(json);
  if (!op) return fail(op.error());
  auto kernel = store.value().opencl_kernel(op.value(), context, device, REDTUNE_OTHER_DEVICE);
  if (!kernel) return fail(kernel.error());

  const std::vector<float> input(op.value().input_bytes() / sizeof(float), 1.0f);
  std::vector<float> output(op.value().output_bytes() / sizeof(float));
  cl_mem in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, op.value().input_bytes(),
                             const_cast<float*>(input.data()), nullptr);
  cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, op.value().output_bytes(), nullptr, nullptr);
  if (const rt::Error error = kernel->launch(queue, in, out); error.status != REDTUNE_OK) return fail(error);
  clEnqueueReadBuffer(queue, out, CL_TRUE, 0, op.value().output_bytes(), output.data(), 0, nullptr, nullptr);

  const redtune_answer answer = kernel->answer();
  std::printf("%s: %zu sums, the first is %g; tuned %.3g us, default %.3g us, grade %d, schedule %s\n",
              op.value().key().c_str(), output.size(), output.empty() ? 0.0 : static_cast<double>(output[0]),
              answer.seconds * 1e6, answer.default_seconds * 1e6, static_cast<int>(answer.grade),
              answer.schedule);
  clReleaseMemObject(in);
  clReleaseMemObject(out);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
