#include "cost_model/features.h"

#include <algorithm>
#include <cmath>

#include "support/hash.h"

namespace redtune {
namespace {

using In = const FeatureInput&;

constexpr std::string_view kMeaning = "2";  // raised when an extractor changes without its name

double log2p(double x) { return std::log2(1 + std::max(x, 0.0)); }
double log_of(double seconds) { return std::log2(std::max(seconds, 1e-12)); }
double flag(bool value) { return value ? 1 : 0; }

template <BlockCombine kCombine>
double block_is(In in) {
  return flag(in.schedule.schedule.block == kCombine);
}
template <GridCombine kCombine>
double grid_is(In in) {
  return flag(in.schedule.schedule.grid == kCombine);
}
template <std::int32_t Schedule::*kSize>
double size_is(In in) {
  return log2p(in.schedule.schedule.*kSize);
}
template <double ScheduleFacts::*kFact>
double share_is(In in) {
  return in.schedule.*kFact;
}
template <double ScheduleFacts::*kFact>
double count_is(In in) {
  return log2p(in.schedule.*kFact);
}
template <double TaskFacts::*kFact>
double task_is(In in) {
  return log2p(in.task.*kFact);
}
template <double AnalyticTime::*kTerm>
double term_is(In in) {
  return log_of(in.time.*kTerm);
}

constexpr Feature kFeatures[] = {
    // ---- the task
    {"row_type", "flag", "The contiguous axis is reduced.",
     [](In in) { return flag(in.task.axes.row_type); }},
    {"kept", "log2", "Outputs.", task_is<&TaskFacts::kept>},
    {"reduced", "log2", "Elements per output.", task_is<&TaskFacts::reduced>},
    {"inner", "log2", "Extent of the contiguous axis.",
     [](In in) { return log2p(static_cast<double>(in.task.axes.inner)); }},
    {"outer", "log2", "Extent of the axes outside it.",
     [](In in) { return log2p(static_cast<double>(in.task.axes.outer)); }},
    {"input_bytes", "log2 bytes", "Input, read once.", task_is<&TaskFacts::input_bytes>},
    {"output_bytes", "log2 bytes", "Output, written once.", task_is<&TaskFacts::output_bytes>},
    {"element_bytes", "bytes", "One input element.", [](In in) { return double(in.task.element_bytes); }},
    {"state_bytes", "bytes", "One partial result.", [](In in) { return double(in.task.state_bytes); }},
    {"float_accumulator", "flag", "Additions are in floating point.",
     [](In in) { return flag(info(in.task.task->accumulator()).is_float); }},
    {"cache_share", "log2", "Input over the last level of cache.",
     [](In in) {
       return log2p(in.task.input_bytes / std::max(1.0, double(in.task.task->target.last_level_cache_bytes)));
     }},
    // ---- the device
    {"gpu", "flag", "Threads of a block run side by side.", [](In in) { return flag(in.task.gpu); }},
    {"units", "log2", "Multiprocessors or cores.", [](In in) { return log2p(in.task.task->target.units); }},
    {"bandwidth", "log2 bytes/s", "Of the memory.", task_is<&TaskFacts::memory_bytes_per_second>},
    {"native_atomics", "flag", "The result type has a native atomic for this operator.",
     [](In in) { return flag(in.task.native_atomics); }},
    // ---- the mapping
    {"block_none", "flag", "Threads of a block do not combine.", block_is<BlockCombine::kNone>},
    {"block_lane", "flag", "One lane adds up a block.", block_is<BlockCombine::kLane>},
    {"block_tree", "flag", "A block halves in shared memory.", block_is<BlockCombine::kTree>},
    {"block_warp", "flag", "Shuffles inside a warp.", block_is<BlockCombine::kWarp>},
    {"block_shuffle", "flag", "Shuffles, then shared memory.", block_is<BlockCombine::kShuffle>},
    {"block_shared_atomic", "flag", "Atomics in shared memory.", block_is<BlockCombine::kShared>},
    {"block_redux", "flag", "One instruction per warp.", block_is<BlockCombine::kRedux>},
    {"grid_second_kernel", "flag", "A second kernel joins blocks.", grid_is<GridCombine::kSecondKernel>},
    {"grid_last_block", "flag", "The last block joins blocks.", grid_is<GridCombine::kLastBlock>},
    {"grid_atomic", "flag", "Atomics join blocks.", grid_is<GridCombine::kAtomic>},
    {"grid_private_atomic", "flag", "Atomics on private copies of the output.",
     grid_is<GridCombine::kPrivateAtomic>},
    {"grid_sync", "flag", "A resident block waits for the others.", grid_is<GridCombine::kGridSync>},
    {"grid_cluster", "flag", "A cluster joins blocks.", grid_is<GridCombine::kCluster>},
    {"strided", "flag", "Blocks interleave along the reduced axis.",
     [](In in) { return flag(in.schedule.schedule.walk == Walk::kStrided); }},
    // ---- the sizes
    {"rx", "log2", "Threads along the reduced axis.", size_is<&Schedule::rx>},
    {"px", "log2", "Threads along the kept axis.", size_is<&Schedule::px>},
    {"vec", "log2", "Elements per load.", size_is<&Schedule::vec>},
    {"acc", "log2", "Independent accumulators per output.", size_is<&Schedule::acc>},
    {"items", "log2", "Loads per iteration.", size_is<&Schedule::items>},
    {"rows", "log2", "Outputs per thread at once.", size_is<&Schedule::rows>},
    {"serial", "log2", "Tiles per block one after the other.", size_is<&Schedule::serial>},
    {"split", "log2", "Blocks that share the reduced axis.", size_is<&Schedule::split>},
    {"copies", "log2", "Private copies of the output.", size_is<&Schedule::copies>},
    {"prefetch", "flag", "The cache is asked ahead.",
     [](In in) { return flag(in.schedule.schedule.prefetch > 0); }},
    // ---- what follows from them
    {"threads", "log2", "Threads per block.", count_is<&ScheduleFacts::threads>},
    {"blocks", "log2", "Blocks of the grid.", count_is<&ScheduleFacts::blocks>},
    {"waves", "log2", "Blocks over what the device holds at once.", count_is<&ScheduleFacts::waves>},
    {"tail", "share", "Idle share of the last wave.", share_is<&ScheduleFacts::tail>},
    {"registers", "log2 words", "Estimate per thread.", count_is<&ScheduleFacts::registers>},
    {"shared_bytes", "log2 bytes", "Shared memory per block.", count_is<&ScheduleFacts::shared_bytes>},
    {"occupancy", "share", "Resident threads over the most.", share_is<&ScheduleFacts::occupancy>},
    {"elements_per_thread", "log2", "Input elements over all threads.",
     count_is<&ScheduleFacts::elements_per_thread>},
    {"in_flight_bytes", "log2 bytes", "Asked for by a thread before it waits.",
     count_is<&ScheduleFacts::in_flight_bytes>},
    {"run_bytes", "log2 bytes", "Contiguous bytes that neighbouring threads load.",
     count_is<&ScheduleFacts::run_bytes>},
    {"coalescing", "share", "Useful share of touched memory sectors.", share_is<&ScheduleFacts::coalescing>},
    {"independent_additions", "log2", "Accumulators of a thread, lanes counted once.",
     [](In in) { return log2p(double(in.schedule.schedule.acc) * in.schedule.schedule.rows); }},
    {"inner_idle", "share", "Idle lanes of the last tile along the kept axis.",
     [](In in) {
       const Tiling& t = in.schedule.tiling;
       const double extent = in.task.axes.row_type ? in.task.kept : double(t.inner_units);
       const double tiles = in.task.axes.row_type ? double(t.tiles) : double(t.tiles_inner);
       return 1 - extent / std::max(1.0, tiles * double(t.kept_tile));
     }},
    {"tail_elements", "log2", "Elements of a row behind its last whole vector.",
     [](In in) { return log2p(double(in.schedule.tiling.tail)); }},
    {"partials", "log2", "Results per output that reach the grid combine.",
     count_is<&ScheduleFacts::partials>},
    {"partial_bytes", "log2 bytes", "Partial results, written and read.",
     count_is<&ScheduleFacts::partial_bytes>},
    {"atomics", "log2", "Atomics in all.", count_is<&ScheduleFacts::atomics>},
    {"atomics_per_output", "log2", "Atomics on one address.", count_is<&ScheduleFacts::atomics_per_output>},
    {"launches", "count", "Kernels, filling included.", share_is<&ScheduleFacts::launches>},
    {"fill_bytes", "log2 bytes", "Identity written before atomics.", count_is<&ScheduleFacts::fill_bytes>},
    {"barriers", "log2", "Barriers per block.", count_is<&ScheduleFacts::barriers>},
    {"shuffles", "log2", "Shuffle steps per block.", count_is<&ScheduleFacts::shuffles>},
    {"lane_steps", "log2", "Additions of one lane while others wait.", count_is<&ScheduleFacts::lane_steps>},
    // ---- the analytic model
    {"time", "log2 s", "Analytic time.", term_is<&AnalyticTime::total>},
    {"time_memory", "log2 s", "Its memory term.", term_is<&AnalyticTime::memory>},
    {"time_compute", "log2 s", "Its compute term.", term_is<&AnalyticTime::compute>},
    {"time_combine", "log2 s", "Its combine term.", term_is<&AnalyticTime::combine>},
    {"time_launches", "log2 s", "Its launch term.", term_is<&AnalyticTime::launches>},
};

}  // namespace

std::span<const Feature> features() { return kFeatures; }

std::string feature_schema() {
  std::string text(kMeaning);
  for (const Feature& feature : kFeatures)
    text.append("\n").append(feature.name).append(" ").append(feature.unit);
  return hex64(hash64(text));
}

std::vector<float> feature_matrix(const Task& task, std::span<const Schedule> schedules) {
  std::vector<float> matrix;
  if (schedules.empty()) return matrix;
  const TaskFacts facts(task);
  matrix.reserve(schedules.size() * std::size(kFeatures));
  for (const Schedule& schedule : schedules) {
    const ScheduleFacts of_schedule(facts, schedule);
    const AnalyticTime time = analytic_time(facts, of_schedule);
    const FeatureInput input{facts, of_schedule, time};
    for (const Feature& feature : kFeatures) matrix.push_back(static_cast<float>(feature.extract(input)));
  }
  return matrix;
}

}  // namespace redtune
