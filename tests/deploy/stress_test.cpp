// Eight processes that use and merge one store and one cache of binaries at the same time: nothing is lost
// and nothing is ever seen half written. A second by default; REDTUNE_STRESS_SECONDS=60 for longer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "configs/store_tools.h"
#include "deploy/include/redtune/deploy.h"
#include "support/error.h"
#include "support/files.h"
#include "tests/deploy/store_fixture.h"

namespace redtune {
namespace {

constexpr int kProcesses = 8;
constexpr int kShared = 4;  // keys that all of them put

double wanted_seconds() {
  const char* const text = std::getenv("REDTUNE_STRESS_SECONDS");
  return text != nullptr ? std::atof(text) : 1;
}

// Different for every process and turn, the same wherever it is computed.
double time_of(int process, int turn, int key) {
  return 1e-3 + 1e-9 * static_cast<double>(hash64(std::to_string(process) + "," + std::to_string(turn) + "," +
                                                  std::to_string(key)) %
                                           1000000);
}

Operator shared_operator(int key) {
  return operator_of(R"({"op": "sum", "shape": [64, )" + std::to_string(1000 + key) +
                     R"(], "axes": [1], "name": "shared"})");
}

Operator own_operator(int process, int turn) {
  return operator_of(R"({"op": "max", "shape": [)" + std::to_string(process + 1) + ", " +
                     std::to_string(turn + 1) + "]}");
}

class Process {
 public:
  Process(int number, std::string store, std::string cache, const std::vector<Config>& shared, double seconds)
      : number_(number),
        store_(std::move(store)),
        cache_(std::move(cache)),
        shared_(shared),
        seconds_(seconds) {}

  // Number of turns; throws what goes wrong.
  int run() {
    ::setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_);
    int turn = 0;
    for (; turn == 0 || std::chrono::steady_clock::now() < end; ++turn) {
      put(store_, turn, 0);
      const std::string own = store_ + "-" + std::to_string(number_);
      put(own, turn, 1);
      merge_store(own, store_);
      if (turn % 4 == 0) prune_store(store_, 3600, false);
      use(turn);
    }
    return turn;
  }

 private:
  void put(const std::string& store, int turn, int salt) const {
    for (int key = 0; key < kShared; ++key) {
      Config config = shared_[static_cast<std::size_t>(key)];
      config.kernel = write_kernel_text(store, text_of(key), config.kernel->language, config.kernel->options);
      config.seconds = config.low_seconds = config.high_seconds = time_of(number_, 2 * turn + salt, key);
      ConfigStore(store).put(config);
    }
    Config mine = shared_[0];
    mine.op = own_operator(number_, 2 * turn + salt);
    mine.kernel.reset();
    ConfigStore(store).put(mine);
  }

  std::string text_of(int key) const {
    return read_kernel_text(store_, *shared_[static_cast<std::size_t>(key)].kernel);
  }

  static void check(redtune_status status) {
    if (status != REDTUNE_OK) throw UserError(redtune_error());
  }

  void use(int turn) {
    redtune_store* store = nullptr;
    check(redtune_store_open(store_.c_str(), &store));
    if (*redtune_store_problems(store) != '\0') throw UserError(redtune_store_problems(store));
    if (host_ == nullptr) check(redtune_host_open("cpu", &host_));
    const int columns = 1000 + turn % kShared;
    redtune_operator* op = nullptr;
    check(redtune_operator_parse(to_json(shared_operator(turn % kShared)).dump().c_str(), &op));
    const std::vector<float> input(static_cast<std::size_t>(64 * columns), 1.0f);
    std::vector<float> output(64, -1.0f);
    check(redtune_host_run(host_, store, op, REDTUNE_EXACT, input.data(), input.size() * sizeof(float),
                           output.data(), output.size() * sizeof(float), nullptr));
    for (float value : output) {
      if (value != static_cast<float>(columns)) throw UserError("a wrong sum: " + std::to_string(value));
    }
    redtune_operator_free(op);
    redtune_store_close(store);
  }

  int number_;
  std::string store_, cache_;
  const std::vector<Config>& shared_;
  double seconds_;
  redtune_host* host_ = nullptr;
};

TEST(DeployStress, EightProcessesShareAStoreAndACache) {
  std::optional<DeviceInfo> device;
  for (DeviceInfo& found : list_devices()) {
    if (found.id == "cpu") device = found;
  }
  if (!device) GTEST_SKIP() << "no OpenCL device for the CPU";
  const TemporaryDirectory directory;
  const std::string store = directory.file("store"), cache = directory.file("cache");
  std::vector<Config> shared;
  for (int key = 0; key < kShared; ++key) {
    const Task task = make_task(shared_operator(key), device->target);
    shared.push_back(config_with_kernel(store, task, some_schedule(task, "none").value(), device->name));
  }
  std::map<pid_t, int> children;
  const double seconds = wanted_seconds();
  for (int p = 0; p < kProcesses; ++p) {
    // OpenCL is opened after the fork only.
    const pid_t child = ::fork();
    if (child == 0) {
      int turns = 0;
      try {
        turns = Process(p, store, cache, shared, seconds).run();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "process %d: %s\n", p, error.what());
      }
      std::ofstream(directory.file("turns-" + std::to_string(p))) << turns;
      ::_exit(turns > 0 ? 0 : 1);
    }
    children[child] = p;
  }
  for (const auto& [child, p] : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0) << "process " << p;
  }
  ASSERT_FALSE(HasFailure());

  std::vector<int> turns;
  for (int p = 0; p < kProcesses; ++p)
    turns.push_back(std::atoi(read_file(directory.file("turns-" + std::to_string(p))).c_str()));
  const ConfigStore configs(store);
  for (int key = 0; key < kShared; ++key) {
    double best = 1;
    for (int p = 0; p < kProcesses; ++p) {
      for (int t = 0; t < 2 * turns[static_cast<std::size_t>(p)]; ++t)
        best = std::min(best, time_of(p, t, key));
    }
    EXPECT_EQ(configs.find(shared_operator(key), device->name)->seconds, best) << key;
  }
  const std::vector<Config> all = configs.list();
  std::size_t own = 0;
  for (const Config& config : all) own += config.op.reduction().op == ReduceOp::kMax ? 1 : 0;
  std::size_t wanted = 0;
  for (int t : turns) wanted += static_cast<std::size_t>(2 * t);
  EXPECT_EQ(own, wanted);
  for (const std::string& problem : check_store(store))
    EXPECT_THAT(problem, testing::HasSubstr("has no kernel text"));
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory.path()))
    EXPECT_EQ(file.path().string().find(".tmp."), std::string::npos) << file.path();
}

}  // namespace
}  // namespace redtune
