// How much of NVRTC's own speed a batch keeps: a bare loop over ready texts on as many threads against
// compile_batch, which also generates the texts, reads the reports and counts. Both in one process, in turns,
// so that whatever else the machine does meets both.
//
//     bench_nvrtc [programs per case = 24] [rounds = 3] [threads = all cores]
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/nvrtc_batch.h"
#include "codegen/nvrtc_library.h"
#include "space/operator.h"
#include "space/search_space.h"
#include "support/error.h"
#include "support/rng.h"
#include "support/stats.h"
#include "support/text.h"

namespace redtune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kArchitecture = 90;

struct Case {
  const char* shape;
  const char* axes;
  const char* dtype;
  const char* op;
};

constexpr Case kCases[] = {
    {"4096x1024", "1", "f32", "sum"}, {"4096x1024", "1", "f16", "sum"}, {"21128x768", "0", "f32", "sum"},
    {"21128x768", "0", "f16", "sum"}, {"16777216", "0", "f32", "max"},  {"16777216", "0", "f16", "max"},
};

Task task_of(const Case& c) {
  ShortForm form;
  form.op = c.op;
  form.shape = c.shape;
  form.axes = c.axes;
  form.dtype = c.dtype;
  return make_task(operator_from_short_form(form), load_target("sm_" + std::to_string(kArchitecture)));
}

std::vector<Schedule> sample(const SearchSpace& space, std::size_t count) {
  Rng rng(1);
  std::vector<Schedule> schedules;
  for (std::size_t i = 0; i < count; ++i) schedules.push_back(space.at(space.sample(rng)));
  return schedules;
}

/// What a loop without redtune would do: create, compile, fetch the cubin, destroy.
bool compile_bare(const NvrtcFunctions& call, const std::string& text,
                  const std::vector<const char*>& options) {
  _nvrtcProgram* program = nullptr;
  if (call.CreateProgram(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != kNvrtcSuccess)
    return false;
  bool ok = call.CompileProgram(program, static_cast<int>(options.size()), options.data()) == kNvrtcSuccess;
  std::size_t bytes = 0;
  if (ok && call.GetCUBINSize(program, &bytes) == kNvrtcSuccess) {
    std::vector<char> cubin(bytes);
    ok = call.GetCUBIN(program, cubin.data()) == kNvrtcSuccess;
  }
  call.DestroyProgram(&program);
  return ok;
}

double seconds_of_bare_loop(const NvrtcFunctions& call, const std::vector<std::string>& texts,
                            const std::vector<std::string>& options, int threads) {
  std::vector<const char*> arguments;
  for (const std::string& option : options) {
    if (option.find("ptxas-options") == std::string::npos) arguments.push_back(option.c_str());
  }
  std::atomic<std::size_t> next{0}, failed{0};
  const Clock::time_point start = Clock::now();
  {
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t) {
      pool.emplace_back([&] {
        for (std::size_t i = next++; i < texts.size(); i = next++)
          failed += compile_bare(call, texts[i], arguments) ? 0 : 1;
      });
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (failed > 0) std::printf("warning: %zu texts do not compile\n", failed.load());
  return seconds;
}

struct Rates {
  std::vector<double> bare, ready, batch, generating;
};

Rates measure(const Case& c, std::size_t count, int rounds, int threads, const NvrtcFunctions& call) {
  const Task task = task_of(c);
  const SearchSpace space(task);
  const std::vector<Schedule> schedules = sample(space, count);
  const NvrtcOptions compile{.compute_capability = kArchitecture};
  std::vector<Program> programs;
  std::vector<std::string> texts;
  for (const Schedule& schedule : schedules) {
    programs.push_back(generate(task, schedule));
    texts.push_back(full_text(programs.back(), TargetKind::kCuda));
  }
  const BatchOptions options{.compile = compile, .threads = threads};
  Rates rates;
  for (int round = 0; round < rounds; ++round) {
    const double bare = seconds_of_bare_loop(call, texts, Nvrtc::instance().command_line(compile), threads);
    rates.bare.push_back(static_cast<double>(count) / bare);
    const auto ready = [&](std::size_t i) { return programs[i]; };
    rates.ready.push_back(compile_batch(count, ready, options, {}).programs_per_second());
    const auto generating = [&](std::size_t i) { return generate(task, schedules[i]); };
    const BatchSummary summary = compile_batch(count, generating, options, {});
    rates.batch.push_back(summary.programs_per_second());
    rates.generating.push_back(summary.generate_seconds /
                               (summary.generate_seconds + summary.compile_seconds));
  }
  return rates;
}

/// Median over the rounds: each compares what ran one after the other.
double median_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size(); ++i) ratios.push_back(a[i] / b[i]);
  return median(ratios);
}

std::string number(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

int run(std::size_t count, int rounds, int threads) {
  const std::unique_ptr<NvrtcLibrary> library = open_nvrtc({Nvrtc::instance().path()});
  // The first compilation of a process also opens the builtins.
  Nvrtc::instance().compile("extern \"C\" __global__ void k() {}", {.compute_capability = kArchitecture});
  TextTable table;
  table.row({"case", "bare/s", "ready/s", "ratio", "generating/s", "ratio", "in generator"});
  std::vector<double> ready_ratios, ratios;
  for (const Case& c : kCases) {
    const Rates rates = measure(c, count, rounds, threads, library->call);
    ready_ratios.push_back(median_ratio(rates.ready, rates.bare));
    ratios.push_back(median_ratio(rates.batch, rates.bare));
    table.row({std::string(c.op) + " " + c.shape + " axes " + c.axes + " " + c.dtype,
               number("%.1f", median(rates.bare)), number("%.1f", median(rates.ready)),
               number("%.3f", ready_ratios.back()), number("%.1f", median(rates.batch)),
               number("%.3f", ratios.back()), number("%.1f %%", 100 * median(rates.generating))});
  }
  std::printf("NVRTC %s, sm_%d, %d threads, %zu programs a case, %d rounds in turns (medians)\n%s",
              Nvrtc::instance().version().c_str(), kArchitecture, threads, count, rounds,
              table.str().c_str());
  std::printf("of the bare rate: %.1f %% with ready programs, %.1f %% generating them (geometric means)\n",
              100 * geometric_mean(ready_ratios), 100 * geometric_mean(ratios));
  return 0;
}

}  // namespace
}  // namespace redtune

int main(int argc, char** argv) {
  const auto argument = [&](int i, int fallback) { return argc > i ? std::atoi(argv[i]) : fallback; };
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  try {
    return redtune::run(static_cast<std::size_t>(std::max(1, argument(1, 24))), std::max(1, argument(2, 3)),
                        std::max(1, argument(3, cores)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
