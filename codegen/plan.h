// The kernel plan: the lowered program without text. What a thread accumulates and which outputs it owns come from
// isl's AST build; how results combine comes from the schedule's mapping. The emitter turns a plan into text and
// decides nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/expr.h"
#include "space/axes.h"
#include "space/schedule.h"
#include "space/task.h"

namespace redtune {

/// One statement instance inside the loops of a thread.
struct PlanStatement {
  enum class Kind : std::uint8_t {
    kLoad,        // acc[output][slot] combined with vec elements at input offset
    kMaskedTail,  // the last, overlapping vector of a row: only lanes >= `first_lane` count
    kScalarTail,  // one element of a row's tail into the scalar accumulator of `output`
    kStore,       // output `output` is owned by this thread
  };
  Kind kind = Kind::kLoad;
  Expr output;        // which of the thread's `rows` outputs
  Expr item;          // which of the iteration's loads (kLoad): chooses the accumulator when it is constant
  Expr input_offset;  // elements from the start of the storage (load kinds)
  Expr output_offset; // elements from the start of the output (kStore; column type: of the vector's first lane)
  Expr position;      // load kinds of argmax, argmin: of the first lane along the row-major reduced index
  Expr first_lane;    // kMaskedTail, kStore: lanes below belong to the neighbour vector
  std::vector<Expr> accesses;  // fused groups: elements from the start of the storage, of each access, for the first lane
};

/// A loop nest: exactly one of the members is used, by kind.
struct PlanNode {
  enum class Kind : std::uint8_t { kBlock, kFor, kIf, kStatement };
  Kind kind = Kind::kBlock;
  std::vector<PlanNode> body;  // kBlock, kFor; kIf: body[0] then, body[1] else (may be missing)
  std::string variable;        // kFor: variable from lower to upper (inclusive)
  Expr lower, upper;
  std::int64_t step = 1;
  Condition condition;         // kIf
  PlanStatement statement;     // kStatement
};

enum class IndexWidth : std::uint8_t { k32, k64 };

/// One kernel of a schedule.
struct KernelPlan {
  std::string entry;
  ReduceOp op = ReduceOp::kSum;
  DType input = DType::kF32, accumulator = DType::kF32, result = DType::kF32;
  /// Elements of one output and what var and std divide by: what the last step needs.
  std::int64_t count = 1, ddof = 0;
  bool reads_states = false;  // the input holds partial results of another kernel, not elements
  bool reads_packed = false;  // and each of them as one 64-bit number (reads_states too)
  Axes axes;
  Schedule schedule;
  Tiling tiling;
  IndexWidth index = IndexWidth::k32;
  int warp = 32;
  bool unaligned_loads = false;
  int rows_at_once = 1;  // outputs of a thread that take the steps of the block combine together
  /// The group whose body replaces the load and whose tail replaces the last step; null for the short form.
  std::shared_ptr<const FusedGroup> fused;
  std::string state = "rt_state";  // names of a joint state begin with this
  bool runs_body() const { return !reads_states; }
  bool runs_tail() const { return schedule.grid != GridCombine::kSecondKernel; }
  /// Several reductions whose partial results are one state.
  bool joint() const { return fused && fused->reductions.size() > 1; }
  bool reduces() const { return !fused || !fused->reductions.empty(); }
  PlanNode accumulate;  // variables: tile (row) or po, tj (column), bo, bi, tx, ty
  PlanNode store;       // the outputs that a thread may own
};

/// A copy of `node` where loops over `variable` that are known to run once are their bodies.
PlanNode without_single_iterations(const PlanNode& node, const std::string& variable);

/// Shared memory in bytes that the block combine of `plan` needs per output of a thread.
std::int64_t combine_bytes(const KernelPlan& plan);

/// Shared memory in bytes of one finished result of each thread along the kept axis.
std::int64_t result_bytes(const KernelPlan& plan);

/// Shared memory that the kernel declares, in bytes; of it, that of the word that tells a block whether it drew the last
/// ticket.
std::int64_t shared_bytes(const KernelPlan& plan);
std::int64_t ticket_bytes(GridCombine grid);

/// Whether the blocks that share an output count each other in a buffer of tickets.
bool has_tickets(GridCombine grid);

/// Whether the atomics of the plan are on value and position of argmax or argmin, packed.
bool packs_states(const KernelPlan& plan);

/// For people: indented pseudo code.
std::string plan_text(const KernelPlan& plan);

}  // namespace redtune
