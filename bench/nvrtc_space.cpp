// Kernels from all over the spaces through NVRTC: random operators of every kind, element type and layout, the mappings
// in turns, the architectures in turns. Every kernel is a line of FILE as soon as it is compiled; a run that finds
// lines there goes on behind them. Ends with counts, and with each kernel that does not compile, spills, or claims
// other shared memory than the assembler counts.
//
//     bench_nvrtc_space FILE [kernels = 5000] [seed = 1] [targets = sm_75,sm_80,sm_90,sm_100]
//
// Exits 1 when there is such a kernel.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/nvrtc_batch.h"
#include "space/mappings.h"
#include "space/search_space.h"
#include "support/error.h"
#include "support/json.h"
#include "support/rng.h"
#include "support/text.h"
#include "tuner/random_operator.h"

namespace redtune {
namespace {

constexpr std::size_t kChunk = 64;  // kernels between two looks at the file

struct Sample {
  std::size_t index;
  Task task;
  Schedule schedule;
};

/// Sample `index` of the sequence, whatever came before it: the mapping whose turn it is, on the first of some random
/// operators that allow it; nothing when none does.
std::optional<Sample> sample_at(std::size_t index, std::uint64_t seed, const std::vector<Target>& targets) {
  constexpr int kTries = 60;
  Rng rng(mix64(seed) + index);
  const RandomOperatorRules rules{.most_axes = 5, .most_elements = std::int64_t{1} << (8 + rng.below(25))};
  const MappingInfo& mapping = mappings()[index / targets.size() % mappings().size()];
  SpaceFilter filter;
  filter.block = mapping.block;
  filter.grid = mapping.grid;
  for (int i = 0; i < kTries; ++i) {
    const Task task = make_task(random_operator(rng, rules), targets[index % targets.size()]);
    if (reject_mapping(task, mapping.block, mapping.grid)) continue;
    const SearchSpace space(task, filter);
    if (space.size() > 0) return Sample{index, task, space.at(space.sample(rng))};
  }
  return std::nullopt;
}

/// What became of one kernel, as a line.
Json line_of(const Sample& sample, const BatchItem& item) {
  Json json = Json::object();
  json["index"] = sample.index;
  json["target"] = sample.task.target.name;
  json["op"] = name(sample.task.reduce_op());
  json["dtype"] = name(sample.task.input_dtype());
  json["form"] = sample.task.canonical.form();
  json["mapping"] = sample.schedule.mapping();
  std::string wrong;
  std::int64_t registers = 0, spilled = 0;
  if (!item.result->ok) wrong = "does not compile: " + item.result->error;
  for (const KernelLaunch& launch : item.program->launches) {
    const KernelResources* const kernel = item.result->find(launch.entry);
    if (kernel == nullptr) continue;
    registers = std::max<std::int64_t>(registers, kernel->registers);
    spilled += kernel->spill_store_bytes + kernel->spill_load_bytes;
    if (kernel->stack_bytes > 0 && kernel->spill_store_bytes == 0) {
      wrong = launch.entry + " has " + std::to_string(kernel->stack_bytes) + " bytes of local memory";
    }
    if (kernel->shared_bytes != launch.shared_bytes) {
      wrong = launch.entry + " has " + std::to_string(kernel->shared_bytes) + " bytes of shared memory, not " +
              std::to_string(launch.shared_bytes);
    }
  }
  if (spilled > 0) wrong = "spills " + std::to_string(spilled) + " bytes (stores and loads)";
  json["registers"] = registers;
  json["spilled"] = spilled;
  if (!wrong.empty()) {
    json["wrong"] = wrong;
    json["operator"] = sample.task.op.key();
    json["schedule"] = sample.schedule.text();
  }
  return json;
}

class Run {
 public:
  Run(std::string path, std::size_t kernels, std::uint64_t seed, const std::vector<std::string>& names)
      : path_(std::move(path)), kernels_(kernels), seed_(seed) {
    for (const std::string& name : names) targets_.push_back(load_target(name));
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line.back() != '}') continue;  // cut off when a run was ended
      count(parse_json(line, path_));
    }
    found_ = done_.size();
  }

  int run() {
    std::vector<std::vector<Sample>> waiting(targets_.size());
    for (std::size_t index = 0; done_.size() + waiting_count(waiting) < kernels_; ++index) {
      if (done_.contains(index)) continue;
      std::optional<Sample> sample = sample_at(index, seed_, targets_);
      if (!sample) continue;
      std::vector<Sample>& same = waiting[index % targets_.size()];
      same.push_back(std::move(*sample));
      if (same.size() == kChunk) compile(same);
    }
    for (std::vector<Sample>& rest : waiting) compile(rest);
    report();
    return wrong_.empty() ? 0 : 1;
  }

 private:
  static std::size_t waiting_count(const std::vector<std::vector<Sample>>& waiting) {
    std::size_t count = 0;
    for (const std::vector<Sample>& samples : waiting) count += samples.size();
    return count;
  }

  void compile(std::vector<Sample>& samples) {
    if (samples.empty()) return;
    std::ofstream file(path_, std::ios::app);
    const BatchSummary summary = compile_batch(
        samples.size(), [&](std::size_t i) { return generate(samples[i].task, samples[i].schedule); },
        {.compile = {.compute_capability = samples.front().task.target.compute_capability}},
        [&](const BatchItem& item) {
          const Json line = line_of(samples[item.index], item);
          file << line.dump() << "\n";
          count(line);
        });
    file.flush();
    if (!file) throw UserError("cannot write " + path_);
    seconds_ += summary.wall_seconds;
    samples.clear();
  }

  void count(const Json& line) {
    done_.insert(line.at("index").get<std::size_t>());
    for (const char* key : {"target", "op", "dtype", "form", "mapping"}) ++counts_[key][line.at(key)];
    if (line.contains("wrong")) wrong_.push_back(line);
  }

  void report() const {
    std::cout << "NVRTC " << Nvrtc::instance().version() << ", seed " << seed_ << ": " << done_.size() << " kernels, "
              << wrong_.size() << " with something wrong";
    if (done_.size() > found_) {
      std::cout << "; " << static_cast<double>(done_.size() - found_) / seconds_ << " a second in this run";
    }
    std::cout << "\n";
    for (const auto& [key, counts] : counts_) {
      std::vector<std::string> parts;
      for (const auto& [word, count] : counts) parts.push_back(word + " " + std::to_string(count));
      std::cout << key << ": " << join(parts, ", ") << "\n";
    }
    for (const Json& line : wrong_) {
      std::cout << line.at("target").get<std::string>() << " " << line.at("operator").get<std::string>() << " "
                << line.at("schedule").get<std::string>() << ": " << line.at("wrong").get<std::string>() << " ("
                << line.at("registers") << " registers)\n";
    }
  }

  const std::string path_;
  const std::size_t kernels_;
  const std::uint64_t seed_;
  std::vector<Target> targets_;
  std::set<std::size_t> done_;
  std::size_t found_ = 0;
  double seconds_ = 0;
  std::map<std::string, std::map<std::string, std::size_t>> counts_;
  std::vector<Json> wrong_;
};

}  // namespace
}  // namespace redtune

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: bench_nvrtc_space FILE [kernels] [seed] [targets]\n");
    return 2;
  }
  try {
    const auto number = [&](int i, std::size_t fallback) {
      return argc > i ? static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10)) : fallback;
    };
    return redtune::Run(argv[1], number(2, 5000), number(3, 1),
                        redtune::split(argc > 4 ? argv[4] : "sm_75,sm_80,sm_90,sm_100", ','))
        .run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
