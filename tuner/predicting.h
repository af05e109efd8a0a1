// The best schedule for a device that is not here: ranked by a model, and checked against the compiler. A guess: it is
// kept apart from what was measured.
#pragma once

#include <string>
#include <vector>

#include "codegen/cubin_info.h"
#include "codegen/kernel_cache.h"
#include "codegen/program.h"
#include "configs/config_store.h"
#include "space/search_space.h"

namespace redtune {

struct PredictOptions {
  SpaceFilter filter;
  std::string model_path;  // a model of `redtune train`; "": the analytic one
  std::size_t top = 32;    // schedules that are compiled, best guesses first
};

/// One compiled schedule, in the order of the guesses.
struct Candidacy {
  std::size_t rank = 0;  // 0: the model's first
  Schedule schedule;
  double guess = 0;      // logarithm of the time, for order only
  int registers = 0;     // per thread, most of any kernel
  std::int64_t shared_bytes = 0;
  std::string dropped;   // why it cannot be the answer; "": it fits
  std::vector<char> image;
  Program program;
};

struct PredictResult {
  Task task;
  std::size_t space_size = 0;
  std::vector<Candidacy> candidates;
  std::size_t chosen = 0;  // index into candidates
  std::size_t default_rank = 0;
  bool default_in_space = true;
};

/// Where predicted configs of a store lie: a store of its own inside it, which no reader of measured ones looks into.
std::string predicted_store(const std::string& store);

/// Ranks the whole space and compiles the top of it for the target, which must be CUDA's. Throws UserError for another
/// kind of target or an unusable model, NoDevice without NVRTC, NoValidSchedule when none of the top fits.
PredictResult predict(const Operator& op, const Target& target, const PredictOptions& options, KernelCache& cache);

/// The marked config of the result, with its kernel and cubin written to predicted_store(store). Returns its file.
std::string keep_prediction(const PredictResult& result, const PredictOptions& options, const std::string& store);

}  // namespace redtune
