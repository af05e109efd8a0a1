// Kernels from a store on the OpenCL device of this machine, through the C API, against the reference.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "deploy/include/redtune/deploy.h"
#include "support/files.h"
#include "tests/deploy/store_fixture.h"

namespace redtune {
namespace {

using testing::HasSubstr;

class DeployOpenCl : public testing::Test {
 protected:
  void SetUp() override {
    static const std::optional<DeviceInfo> found = [] {
      std::optional<DeviceInfo> cpu;
      for (DeviceInfo& device : list_devices()) {
        if (device.id == "cpu") cpu = device;
      }
      return cpu;
    }();
    if (!found) GTEST_SKIP() << "no OpenCL device for the CPU";
    device_info_ = *found;
    cl_uint count = 0;
    cl_platform_id platforms[8];
    ASSERT_EQ(clGetPlatformIDs(8, platforms, &count), CL_SUCCESS);
    for (cl_uint i = 0; i < count && device_ == nullptr; ++i)
      clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device_, nullptr);
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
    queue_ = make_queue(0);
  }
  void TearDown() override {
    redtune_kernel_release(kernel_);
    redtune_operator_free(op_);
    redtune_store_close(store_);
    if (queue_ != nullptr) clReleaseCommandQueue(queue_);
    if (context_ != nullptr) clReleaseContext(context_);
  }

  cl_command_queue make_queue(cl_command_queue_properties how) const {
    return clCreateCommandQueue(context_, device_, how, nullptr);
  }

  // A store with one config, loaded; its kernel made.
  void serve(const std::string& json, const std::string& mapping, const char* cache = "") {
    task_ = make_task(operator_of(json), device_info_.target);
    const auto schedule = some_schedule(task_, mapping);
    ASSERT_TRUE(schedule) << json << " has no " << mapping;
    schedule_ = *schedule;
    ConfigStore(directory()).put(config_with_kernel(directory(), task_, schedule_, device_info_.name), true);
    ASSERT_EQ(open_kernel(json, REDTUNE_EXACT, cache), REDTUNE_OK) << redtune_error();
  }

  redtune_status open_kernel(const std::string& json, redtune_grade lowest, const char* cache = "") {
    redtune_kernel_release(kernel_);
    redtune_operator_free(op_);
    redtune_store_close(store_);
    store_ = nullptr, op_ = nullptr, kernel_ = nullptr;
    redtune_status status = redtune_store_open(directory().c_str(), &store_);
    if (status == REDTUNE_OK) status = redtune_operator_parse(json.c_str(), &op_);
    if (status != REDTUNE_OK) return status;
    return redtune_opencl_kernel(store_, op_, context_, device_, lowest, cache, &kernel_);
  }

  struct Buffers {
    cl_mem input = nullptr, output = nullptr;
    ~Buffers() {
      if (input != nullptr) clReleaseMemObject(input);
      if (output != nullptr) clReleaseMemObject(output);
    }
  };
  void fill(Buffers& buffers, const std::vector<unsigned char>& input, std::size_t output_bytes) const {
    if (!input.empty()) {
      buffers.input = clCreateBuffer(context_, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, input.size(),
                                     const_cast<unsigned char*>(input.data()), nullptr);
    }
    std::vector<unsigned char> poison(std::max<std::size_t>(output_bytes, 1), 0xa5);
    buffers.output = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, poison.size(),
                                    poison.data(), nullptr);
  }
  static std::vector<unsigned char> read(cl_command_queue queue, cl_mem output, std::size_t bytes) {
    std::vector<unsigned char> result(bytes);
    EXPECT_EQ(clEnqueueReadBuffer(queue, output, CL_TRUE, 0, bytes, result.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return result;
  }

  // Launches `times` on one output buffer and checks what is there in the end.
  void launch_and_check(cl_command_queue queue, std::uint64_t seed, int times) {
    const std::vector<unsigned char> input = make_input(task_.op, seed);
    const std::size_t bytes = redtune_operator_output_bytes(op_);
    Buffers buffers;
    fill(buffers, input, bytes);
    for (int i = 0; i < times; ++i) {
      ASSERT_EQ(redtune_opencl_launch(kernel_, queue, buffers.input, buffers.output, 0, nullptr, nullptr),
                REDTUNE_OK)
          << redtune_error();
    }
    clFinish(queue);
    const Verdict verdict = verdict_on(task_, schedule_, input, read(queue, buffers.output, bytes));
    EXPECT_TRUE(verdict.pass) << task_.op.key() << " " << schedule_.text() << ": " << verdict.detail;
  }

  std::string directory() const { return directory_.file("store"); }

  TemporaryDirectory directory_;
  DeviceInfo device_info_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  Task task_;
  Schedule schedule_;
  redtune_store* store_ = nullptr;
  redtune_operator* op_ = nullptr;
  redtune_kernel* kernel_ = nullptr;
};

// Output initialisation, workspace and counters: a second and third launch must find everything as the first
// did.
TEST_F(DeployOpenCl, EveryKindOfLaunchGivesTheSameAnswerAgain) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"op": "sum", "shape": [64, 1000], "axes": [1]})", "none"},
      {R"({"op": "sum", "shape": [100000]})", "none+atomic"},
      {R"({"op": "sum", "shape": [100000]})", "none+second_kernel"},
      {R"({"op": "sum", "shape": [4000, 33], "axes": [0]})", "lane+last_block"},
      {R"({"op": "max", "shape": [3, 5000], "axes": [1], "dtype": "f16"})", "none+last_block"},
      {R"({"op": "argmax", "shape": [7, 3001], "axes": [1]})", "none+second_kernel"},
      {R"({"op": "var", "shape": [50, 300], "axes": [0]})", "none"},
  };
  for (const auto& [json, mapping] : cases) {
    SCOPED_TRACE(std::string(json) + " by " + mapping);
    serve(json, mapping);
    launch_and_check(queue_, 1, 3);
  }
}

TEST_F(DeployOpenCl, ThreadsShareAKernelOnOneQueueAndOnTheirOwn) {
  serve(R"({"op": "sum", "shape": [4000, 33], "axes": [0]})", "lane+last_block");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      cl_command_queue own = t % 2 == 0 ? queue_ : make_queue(0);
      launch_and_check(own, static_cast<std::uint64_t>(t), 20);
      if (own != queue_) clReleaseCommandQueue(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(DeployOpenCl, OutOfOrderQueuesKeepTheOrderOfOneKernel) {
  const cl_command_queue queue = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  if (queue == nullptr) GTEST_SKIP() << "the device has no out-of-order queues";
  serve(R"({"op": "sum", "shape": [100000]})", "none+second_kernel");
  launch_and_check(queue, 3, 20);
  serve(R"({"op": "sum", "shape": [4000, 33], "axes": [0]})", "lane+last_block");
  launch_and_check(queue, 4, 20);
  clReleaseCommandQueue(queue);
}

TEST_F(DeployOpenCl, WaitsForEventsAndGivesOne) {
  serve(R"({"op": "sum", "shape": [100000]})", "none+second_kernel");
  const std::vector<unsigned char> input = make_input(task_.op, 1);
  Buffers buffers;
  fill(buffers, input, 4);
  cl_event gate = clCreateUserEvent(context_, nullptr), done = nullptr;
  ASSERT_EQ(redtune_opencl_launch(kernel_, queue_, buffers.input, buffers.output, 1, &gate, &done),
            REDTUNE_OK)
      << redtune_error();
  clFlush(queue_);
  cl_int status = CL_COMPLETE;
  clGetEventInfo(done, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
  EXPECT_NE(status, CL_COMPLETE);
  clSetUserEventStatus(gate, CL_COMPLETE);
  EXPECT_EQ(clWaitForEvents(1, &done), CL_SUCCESS);
  EXPECT_TRUE(verdict_on(task_, schedule_, input, read(queue_, buffers.output, 4)).pass);
  clReleaseEvent(gate);
  clReleaseEvent(done);
}

TEST_F(DeployOpenCl, RefusesWhatWouldWriteOrReadBeyond) {
  serve(R"({"op": "sum", "shape": [64, 1000], "axes": [1]})", "none");
  Buffers good, small;
  fill(good, std::vector<unsigned char>(64 * 1000 * 4), 64 * 4);
  fill(small, std::vector<unsigned char>(64 * 1000 * 4 - 4), 64 * 4 - 4);
  const auto launch = [&](cl_mem in, cl_mem out) {
    return redtune_opencl_launch(kernel_, queue_, in, out, 0, nullptr, nullptr);
  };
  EXPECT_EQ(launch(small.input, good.output), REDTUNE_BAD_INPUT);
  EXPECT_THAT(redtune_error(), HasSubstr("the input has 255996 bytes, the operator needs 256000"));
  EXPECT_EQ(launch(good.input, small.output), REDTUNE_BAD_INPUT);
  EXPECT_EQ(launch(good.input, good.input), REDTUNE_BAD_INPUT);
  EXPECT_EQ(launch(nullptr, good.output), REDTUNE_BAD_INPUT);
  cl_context other = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, nullptr);
  cl_command_queue foreign = clCreateCommandQueue(other, device_, 0, nullptr);
  EXPECT_EQ(redtune_opencl_launch(kernel_, foreign, good.input, good.output, 0, nullptr, nullptr),
            REDTUNE_BAD_INPUT);
  EXPECT_THAT(redtune_error(), HasSubstr("another context"));
  clReleaseCommandQueue(foreign);
  clReleaseContext(other);
  EXPECT_EQ(launch(good.input, good.output), REDTUNE_OK);
}

TEST_F(DeployOpenCl, ANearMissGivesNoKernel) {
  serve(R"({"op": "sum", "shape": [64, 1000], "axes": [1]})", "none");
  for (const char* json : {R"({"op": "sum", "shape": [64, 1001], "axes": [1]})",
                           R"({"op": "sum", "shape": [64, 1000], "axes": [0]})",
                           R"({"op": "max", "shape": [64, 1000], "axes": [1]})",
                           R"({"op": "sum", "shape": [64, 1000], "axes": [1], "out": "f64"})",
                           R"({"op": "sum", "shape": [64, 1000], "axes": [1], "strides": [1001, 1]})"}) {
    EXPECT_EQ(open_kernel(json, REDTUNE_DEFAULT), REDTUNE_NOT_FOUND) << json;
  }
  EXPECT_THAT(redtune_error(), HasSubstr("`redtune tune` makes one"));
  // The same function under another name of its axes is no miss.
  EXPECT_EQ(
      open_kernel(R"({"op": "sum", "shape": [8, 8, 1, 1000], "axes": [3], "keepdims": true})", REDTUNE_EXACT),
      REDTUNE_OK);
}

TEST_F(DeployOpenCl, AKernelOfAnotherDeviceIsTakenOnlyWhenAllowed) {
  const char* json = R"({"op": "sum", "shape": [64, 1000], "axes": [1]})";
  serve(json, "none");
  std::filesystem::remove_all(directory());
  ConfigStore(directory()).put(config_with_kernel(directory(), task_, schedule_, "another cpu"));
  EXPECT_EQ(open_kernel(json, REDTUNE_NEAREST), REDTUNE_NOT_FOUND);
  ASSERT_EQ(open_kernel(json, REDTUNE_OTHER_DEVICE), REDTUNE_OK) << redtune_error();
  redtune_answer answer{};
  ASSERT_EQ(redtune_kernel_answer(kernel_, &answer), REDTUNE_OK);
  EXPECT_EQ(answer.grade, REDTUNE_OTHER_DEVICE);
  EXPECT_THAT(answer.note, HasSubstr("another cpu"));
  EXPECT_TRUE(std::isnan(answer.regret));
  launch_and_check(queue_, 1, 1);
}

TEST_F(DeployOpenCl, BinariesAreKeptAndDamagedOnesMadeAnew) {
  const char* json = R"({"op": "sum", "shape": [64, 1000], "axes": [1]})";
  const std::string cache = directory_.file("cache");
  serve(json, "none", cache.c_str());
  EXPECT_EQ(redtune_kernel_was_cached(kernel_), 0);
  ASSERT_EQ(open_kernel(json, REDTUNE_EXACT, cache.c_str()), REDTUNE_OK);
  EXPECT_EQ(redtune_kernel_was_cached(kernel_), 1);
  launch_and_check(queue_, 1, 1);
  for (const auto& file : std::filesystem::directory_iterator(cache))
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
  ASSERT_EQ(open_kernel(json, REDTUNE_EXACT, cache.c_str()), REDTUNE_OK) << redtune_error();
  EXPECT_EQ(redtune_kernel_was_cached(kernel_), 0);
  launch_and_check(queue_, 1, 1);
}

TEST_F(DeployOpenCl, ADamagedKernelTextIsRefused) {
  const char* json = R"({"op": "sum", "shape": [64, 1000], "axes": [1]})";
  serve(json, "none");
  for (const auto& file : std::filesystem::directory_iterator(directory() + "/kernels"))
    std::ofstream(file.path(), std::ios::app) << "// more\n";
  EXPECT_EQ(open_kernel(json, REDTUNE_EXACT), REDTUNE_BAD_INPUT);
  EXPECT_THAT(redtune_error(), HasSubstr("is damaged"));
}

TEST_F(DeployOpenCl, EmptyOutputsAndEmptyReductions) {
  task_ = make_task(operator_of(R"({"op": "sum", "shape": [0, 7], "axes": [1]})"), device_info_.target);
  Config nothing = config_with_kernel(directory(), task_, parse_schedule(""), device_info_.name);
  ConfigStore(directory()).put(nothing);
  ASSERT_EQ(open_kernel(R"({"op": "sum", "shape": [0, 7], "axes": [1]})", REDTUNE_EXACT), REDTUNE_OK)
      << redtune_error();
  cl_event done = nullptr;
  EXPECT_EQ(redtune_opencl_launch(kernel_, queue_, nullptr, nullptr, 0, nullptr, &done), REDTUNE_OK)
      << redtune_error();
  EXPECT_EQ(clWaitForEvents(1, &done), CL_SUCCESS);
  clReleaseEvent(done);

  task_ = make_task(operator_of(R"({"op": "prod", "shape": [5, 0], "axes": [1]})"), device_info_.target);
  ConfigStore(directory()).put(config_with_kernel(directory(), task_, parse_schedule(""), device_info_.name));
  ASSERT_EQ(open_kernel(R"({"op": "prod", "shape": [5, 0], "axes": [1]})", REDTUNE_EXACT), REDTUNE_OK)
      << redtune_error();
  Buffers buffers;
  fill(buffers, {}, 20);
  ASSERT_EQ(redtune_opencl_launch(kernel_, queue_, nullptr, buffers.output, 0, nullptr, nullptr), REDTUNE_OK)
      << redtune_error();
  const std::vector<unsigned char> bytes = read(queue_, buffers.output, 20);
  float values[5];
  std::memcpy(values, bytes.data(), sizeof values);
  EXPECT_THAT(values, testing::Each(1.0f));
}

TEST_F(DeployOpenCl, ArraysInMemory) {
  serve(R"({"op": "sum", "shape": [64, 1000], "axes": [1]})", "none");
  redtune_host* host = nullptr;
  ASSERT_EQ(redtune_host_open("cpu", &host), REDTUNE_OK) << redtune_error();
  EXPECT_EQ(device_info_.name, redtune_host_device(host));
  const std::vector<unsigned char> input = make_input(task_.op, 5);
  std::vector<unsigned char> output(64 * 4);
  redtune_answer answer{};
  for (int i = 0; i < 2; ++i) {
    std::fill(output.begin(), output.end(), 0xa5);
    ASSERT_EQ(redtune_host_run(host, store_, op_, REDTUNE_EXACT, input.data(), input.size(), output.data(),
                               output.size(), &answer),
              REDTUNE_OK)
        << redtune_error();
    EXPECT_TRUE(verdict_on(task_, schedule_, input, output).pass);
  }
  EXPECT_EQ(answer.schedule, schedule_.text());
  EXPECT_EQ(redtune_host_run(host, store_, op_, REDTUNE_EXACT, input.data(), input.size() - 1, output.data(),
                             output.size(), nullptr),
            REDTUNE_BAD_INPUT);
  redtune_host_close(host);
  EXPECT_EQ(redtune_host_open("opencl:77", &host), REDTUNE_NO_DEVICE);
  EXPECT_THAT(redtune_error(), HasSubstr("there are cpu"));
}

}  // namespace
}  // namespace redtune
