#include "codegen/emit.h"

#include <algorithm>
#include <optional>

#include "codegen/fused_text.h"
#include "codegen/number_text.h"
#include "codegen/operator_text.h"
#include "codegen/writer.h"
#include "support/error.h"
#include "support/text.h"

namespace redtune {
namespace {

class KernelEmitter {
 public:
  KernelEmitter(const KernelPlan& plan, const EmitOptions& options)
      : plan_(plan),
        options_(options),
        s_(plan.schedule),
        t_(plan.tiling),
        row_(plan.axes.row_type),
        o_(plan),
        fused_(plan.fused ? std::optional<FusedText>(plan) : std::nullopt),
        acc_(name(plan.accumulator)),
        out_(name(plan.result)) {}

  std::string run() {
    signature();
    shared_memory();
    indices();
    tile_loop([this] { tile_body(); });
    if (has_tickets(s_.grid)) join_partials();
    w_.close();
    return w_.take();
  }

 private:
  // ---- names ----
  std::int64_t splits() const { return t_.split_outer * t_.split_inner; }
  int threads() const { return s_.threads(); }
  int result_lanes() const { return row_ ? 1 : s_.vec; }  // lanes of a finished result
  std::string accumulator(std::int64_t output, std::int64_t slot) const { return "a" + num(output) + "_" + num(slot); }
  static std::string result(std::int64_t output) { return "r" + num(output); }
  /// Of one lane: numbers have a name shorter than the vector's.
  std::string scalar_type() const { return o_.is_number() ? "rt_acc_" + acc_ : o_.type(1); }
  std::string result_type() const { return row_ ? scalar_type() : o_.type(s_.vec); }
  /// Lane along the reduced axis and stride between the lanes that share an output, in the shared array.
  std::string lane() const { return row_ ? "tx" : "ty"; }
  std::string thread_index() const { return row_ ? index_text("ty", s_.rx, "tx") : index_text("ty", s_.px, "tx"); }
  std::string index_text(const std::string& major, int width, const std::string& minor) const {
    const bool has_major = row_ ? s_.px > 1 : s_.rx > 1, has_minor = row_ ? s_.rx > 1 : s_.px > 1;
    if (!has_major) return has_minor ? minor : "0";
    return major + " * " + num(width) + (has_minor ? " + " + minor : "");
  }
  /// Of one number per output of the block: the `row`-th of this thread, in shared memory.
  std::string kept_place(std::int64_t row) const {
    const std::string thread = s_.px == 1 ? "" : row_ ? "ty" : "tx";
    if (row == 0) return thread.empty() ? "0" : thread;
    return num(row * s_.px) + (thread.empty() ? "" : " + " + thread);
  }
  bool uses_shuffle() const { return s_.block == BlockCombine::kWarp || s_.block == BlockCombine::kShuffle; }
  int warps_per_output() const { return std::max(1, s_.rx / plan_.warp); }
  bool reuses_shared() const { return s_.rows > plan_.rows_at_once || s_.serial > 1 || has_tickets(s_.grid) || clusters(); }
  bool clusters() const { return s_.grid == GridCombine::kCluster; }
  bool tail_scalars() const { return row_ && t_.tail > 0 && !plan_.unaligned_loads; }
  bool partials() const { return s_.grid == GridCombine::kSecondKernel || has_tickets(s_.grid); }

  // ---- frame ----
  void signature() {
    std::string args = "RT_GLOBAL const " + o_.input_type() + "* RT_RESTRICT x, ";
    const std::string parts = "RT_GLOBAL " + (packs_states(plan_) ? "rt_u64" : o_.stored_type()) + "* part";
    const bool no_output = s_.grid == GridCombine::kSecondKernel || s_.grid == GridCombine::kPrivateAtomic;
    if (fused_) args = (plan_.reads_states ? args : "") + join(fused_->parameters(), ", ") + (no_output ? ", " + parts : "");
    else args += no_output ? parts : "RT_GLOBAL rt_" + out_ + "* y";
    if (has_tickets(s_.grid)) args += ", " + parts + ", RT_GLOBAL rt_u32* ticket";
    const int bx = row_ ? s_.rx : s_.px, by = row_ ? s_.px : s_.rx;
    const std::string head = plan_.entry + ", " + num(bx) + ", " + num(by);
    w_.open((clusters() ? "RT_KERNEL_CLUSTER(" + head + ", " + num(splits()) : "RT_KERNEL(" + head) + ")(" + args + ")");
  }

  void shared_memory() {
    const std::int64_t bytes = shared_bytes(plan_) - ticket_bytes(s_.grid);
    const bool scalars = s_.block == BlockCombine::kShared;
    const std::int64_t results = result_bytes(plan_) / s_.px / (scalars ? result_lanes() : 1);
    if (bytes > 0) w_.line("RT_SHARED(" + (scalars ? scalar_type() : result_type()) + ", rt_sh, " + num(bytes / results) + ");");
    if (uses_shuffle()) w_.line(o_.scratch("rt_shfl", threads()));
    if (s_.grid == GridCombine::kLastBlock) w_.line("RT_SHARED(rt_u32, rt_last, 1);");
  }

  void indices() {
    const bool has_x = row_ ? s_.rx > 1 : s_.px > 1, has_y = row_ ? s_.px > 1 : s_.rx > 1;
    if (has_x) w_.line("const rt_index tx = RT_TX;");
    if (has_y) w_.line("const rt_index ty = RT_TY;");
    if (o_.is_number() && plan_.reduces()) {
      w_.line("const rt_acc_" + acc_ + " rt_id = " +
              constant_text(plan_.accumulator, identity_bits(plan_.op, plan_.accumulator)) + ";");
    }
    const bool kept = t_.kept_blocks > 1, split = splits() > 1;
    if (split) w_.line("const rt_index br = RT_BLOCK" + (kept ? " % " + num(splits()) : std::string()) + ";");
    if (kept) w_.line("const rt_index bp = RT_BLOCK" + (split ? " / " + num(splits()) : std::string()) + ";");
    if (!kept) w_.line("const rt_index bp = 0;");
    if (!split && partials()) w_.line("const rt_index br = 0;");
    const std::string inner = num(t_.split_inner);
    if (t_.split_inner > 1) w_.line("const rt_index bi = br" + (t_.split_outer > 1 ? " % " + inner : std::string()) + ";");
    if (t_.split_outer > 1) w_.line("const rt_index bo = br" + (t_.split_inner > 1 ? " / " + inner : std::string()) + ";");
  }

  template <typename Body>
  void tile_loop(Body body) {
    const bool loop = s_.serial > 1;
    if (loop) {
      const std::string first = "bp * " + num(s_.serial);
      w_.open("for (rt_index tile = " + first + "; tile < RT_MIN(" + first + " + " + num(s_.serial) + ", " +
              num(t_.tiles) + "); ++tile)");
    } else {
      w_.open("");
      w_.line("const rt_index tile = bp;");
    }
    if (!row_) {
      const bool outer = plan_.axes.outer > 1, inner = t_.tiles_inner > 1;
      const std::string tiles = num(t_.tiles_inner);
      if (outer) w_.line("const rt_index po0 = tile" + (inner ? " / " + tiles : std::string()) + ";");
      if (inner) w_.line("const rt_index tj = tile" + (outer ? " % " + tiles : std::string()) + ";");
    }
    body();
    w_.close();
  }

  // ---- one tile ----
  void tile_body() {
    if (!plan_.reduces()) return emit(plan_.accumulate);
    for (std::int64_t q = 0; q < s_.rows; ++q) {
      for (std::int64_t a = 0; a < s_.acc; ++a) {
        w_.line(o_.type(s_.vec) + " " + accumulator(q, a) + " = " + o_.identity(s_.vec) + ";");
      }
      if (tail_scalars()) w_.line(scalar_type() + " t" + num(q) + " = " + o_.identity(1) + ";");
    }
    emit(plan_.accumulate);
    for (std::int64_t q = 0; q < s_.rows; ++q) join_accumulators(q);
    block_combine();
    if (clusters()) return join_cluster();
    store_results(s_.grid);
  }

  void join_accumulators(std::int64_t q) {
    for (std::int64_t width = s_.acc / 2; width > 0; width /= 2) {
      for (std::int64_t a = 0; a < width; ++a) combine_into(s_.vec, accumulator(q, a), accumulator(q, a + width));
    }
    const std::string total = accumulator(q, 0);
    if (!row_) {
      w_.line(o_.type(s_.vec) + " " + result(q) + " = " + total + ";");
      return;
    }
    w_.line(scalar_type() + " " + result(q) + " = " + o_.fold(s_.vec, total) + ";");
    if (tail_scalars()) combine_into(1, result(q), "t" + num(q));
  }

  void combine_into(int n, const std::string& target, const std::string& value) {
    w_.line(target + " = " + o_.combine(n, target, value) + ";");
  }
  /// The same for a value that must be evaluated once.
  void combine_once(int n, const std::string& target, const std::string& value) {
    w_.line("{ const " + o_.type(n) + " v = " + value + "; " + target + " = " + o_.combine(n, target, "v") + "; }");
  }

  void emit(const PlanNode& node) {
    switch (node.kind) {
      case PlanNode::Kind::kBlock:
        for (const PlanNode& child : node.body) emit(child);
        break;
      case PlanNode::Kind::kFor: {
        std::string step = "++" + node.variable;
        if (node.step != 1) step = node.variable + " += " + num(node.step);
        w_.open("for (rt_index " + node.variable + " = " + node.lower.text() + "; " + node.variable + " <= " +
                node.upper.text() + "; " + step + ")");
        for (const PlanNode& child : node.body) emit(child);
        w_.close();
        break;
      }
      case PlanNode::Kind::kIf:
        w_.open("if (" + node.condition.text() + ")");
        emit(node.body[0]);
        if (node.body.size() > 1) {
          w_.reopen("else");
          emit(node.body[1]);
        }
        w_.close();
        break;
      case PlanNode::Kind::kStatement:
        statement(node.statement);
        break;
    }
  }

  void statement(const PlanStatement& s) {
    if (s.kind == PlanStatement::Kind::kStore) {
      (this->*on_store_)(s);
      return;
    }
    RT_CHECK(s.output.is_constant(), "output of a load is not unrolled: " + s.output.text());
    const std::int64_t q = s.output.constant();
    if (fused_ && plan_.runs_body()) return fused_load(s, q);
    const std::string pointer = "x + (" + s.input_offset.text() + ")";
    switch (s.kind) {
      case PlanStatement::Kind::kLoad: {
        prefetch(s);
        const std::int64_t slot = s.item.is_constant() ? s.item.constant() % s_.acc : 0;
        w_.line(o_.take(s_.vec, accumulator(q, slot), pointer, s.position));
        break;
      }
      case PlanStatement::Kind::kMaskedTail:
        w_.line(o_.take_from(s_.vec, accumulator(q, 0), pointer, s.position, s.first_lane));
        break;
      case PlanStatement::Kind::kScalarTail: w_.line(o_.take(1, "t" + num(q), pointer, s.position)); break;
      case PlanStatement::Kind::kStore: break;
    }
  }

  void fused_load(const PlanStatement& s, std::int64_t q) {
    const bool single = s.kind == PlanStatement::Kind::kScalarTail;
    const std::int64_t slot = s.kind == PlanStatement::Kind::kLoad && s.item.is_constant() ? s.item.constant() % s_.acc : 0;
    std::vector<std::string> lines = fused_->body(single ? 1 : s_.vec, s);
    if (plan_.reduces()) lines.push_back(o_.take_fused(single ? 1 : s_.vec, single ? "t" + num(q) : accumulator(q, slot), *fused_, s));
    w_.block(lines);
  }

  /// One hint per cache line, `prefetch` bytes ahead; only where items are unrolled.
  void prefetch(const PlanStatement& s) {
    constexpr std::int64_t kLine = 64;
    const std::int64_t bytes = bytes_of(plan_.input);
    if (s_.prefetch == 0 || !s.item.is_constant() || s.item.constant() * s_.vec * bytes % kLine != 0) return;
    w_.line("RT_PREFETCH(x + (" + (s.input_offset + s_.prefetch / bytes).text() + "));");
  }

  // ---- combine in the block ----
  /// A thread's results go through the steps together, as many as share the shared memory: a barrier costs a GPU time
  /// and a CPU compiler one more region of the kernel.
  void block_combine() {
    for (std::int64_t first = 0; first < s_.rows; first += plan_.rows_at_once) {
      const Rows rows{first, std::min<std::int64_t>(first + plan_.rows_at_once, s_.rows)};
      switch (s_.block) {
        case BlockCombine::kNone: break;
        case BlockCombine::kLane: combine_lane(rows); break;
        case BlockCombine::kTree: combine_tree(rows); break;
        case BlockCombine::kWarp:
          each(rows, [this](const std::string& r, std::int64_t) { combine_warp(r, std::min(s_.rx, plan_.warp)); });
          break;
        case BlockCombine::kShuffle: combine_shuffle(rows); break;
        case BlockCombine::kShared: combine_shared(rows); break;
        case BlockCombine::kRedux: combine_redux(rows); break;
      }
    }
  }

  struct Rows {
    std::int64_t begin, end;
  };

  /// Calls body(result, place): `place` counts the rows that are in shared memory at once.
  template <typename Body>
  static void each(const Rows& rows, Body body) {
    for (std::int64_t q = rows.begin; q < rows.end; ++q) body(result(q), q - rows.begin);
  }

  std::int64_t lane_stride() const { return row_ ? 1 : s_.px; }

  /// Of the row at `place`, element `index` of `width`.
  static std::string shared(std::int64_t place, std::int64_t width, const std::string& index) {
    return "rt_sh[" + (place == 0 ? std::string() : num(place * width) + " + ") + index + "]";
  }
  std::string shared_result(std::int64_t place, const std::string& step = "") const {
    return shared(place, threads(), thread_index() + step);
  }

  void combine_lane(const Rows& rows) {
    each(rows, [this](const std::string& r, std::int64_t place) { w_.line(shared_result(place) + " = " + r + ";"); });
    w_.line("RT_BARRIER();");
    w_.open("if (" + lane() + " == 0)");
    w_.open("for (rt_i32 l = 1; l < " + num(s_.rx) + "; ++l)");
    const std::string step = " + l" + (lane_stride() == 1 ? "" : " * " + num(lane_stride()));
    each(rows, [&](const std::string& r, std::int64_t place) {
      combine_once(result_lanes(), r, shared_result(place, step));
    });
    w_.close();
    w_.close();
    if (reuses_shared()) w_.line("RT_BARRIER();");
  }

  void combine_tree(const Rows& rows) {
    each(rows, [this](const std::string& r, std::int64_t place) { w_.line(shared_result(place) + " = " + r + ";"); });
    w_.line("RT_BARRIER();");
    for (int width = s_.rx / 2; width > 0; width /= 2) {
      w_.open("if (" + lane() + " < " + num(width) + ")");
      each(rows, [&](const std::string& r, std::int64_t place) {
        combine_once(result_lanes(), r, shared_result(place, " + " + num(width * lane_stride())));
        if (width > 1) w_.line(shared_result(place) + " = " + r + ";");
      });
      w_.close();
      if (width > 1 || reuses_shared()) w_.line("RT_BARRIER();");
    }
  }

  void combine_warp(const std::string& r, int width) {
    for (int delta = width / 2; delta > 0; delta /= 2) {
      combine_once(1, r, o_.shuffle_down(r, delta, width, threads(), "rt_shfl", thread_index()));
    }
  }

  void combine_shuffle(const Rows& rows) {
    const int warps = warps_per_output();
    const int width = s_.px * warps;
    const std::string base = s_.px > 1 ? "ty * " + num(warps) + " + " : "";
    each(rows, [this](const std::string& r, std::int64_t) { combine_warp(r, plan_.warp); });
    w_.open("if (tx % " + num(plan_.warp) + " == 0)");
    each(rows, [&](const std::string& r, std::int64_t place) {
      w_.line(shared(place, width, base + "tx / " + num(plan_.warp)) + " = " + r + ";");
    });
    w_.close();
    w_.line("RT_BARRIER();");
    if (warps <= plan_.warp) {
      each(rows, [&](const std::string& r, std::int64_t place) {
        w_.line(r + " = tx < " + num(warps) + " ? " + shared(place, width, base + "tx") + " : " + o_.identity(1) + ";");
        combine_warp(r, warps);
      });
    } else {
      w_.open("if (tx == 0)");
      w_.open("for (rt_i32 l = 1; l < " + num(warps) + "; ++l)");
      each(rows, [&](const std::string& r, std::int64_t place) { combine_once(1, r, shared(place, width, base + "l")); });
      w_.close();
      w_.close();
    }
    if (reuses_shared()) w_.line("RT_BARRIER();");
  }

  /// One place per output and lane; lanes of a vector lie px apart, so that neighbours meet in no bank.
  void combine_shared(const Rows& rows) {
    const std::string first = lane() + " == 0";
    const auto each_place = [&](auto body) {
      each(rows, [&](const std::string& r, std::int64_t place) {
        for (int i = 0; i < result_lanes(); ++i) {
          body(r, i, kept_place(place * result_lanes() + i));
        }
      });
    };
    w_.open("if (" + first + ")");
    each_place([&](const std::string&, int, const std::string& at) { w_.line("rt_sh[" + at + "] = rt_id;"); });
    w_.close();
    w_.line("RT_BARRIER();");
    each_place([&](const std::string& r, int i, const std::string& at) {
      w_.line(o_.shared_atomic("rt_sh + " + at, result_lanes() == 1 ? r : o_.lane(s_.vec, r, i)));
    });
    w_.line("RT_BARRIER();");
    w_.open("if (" + first + ")");
    each_place([&](const std::string& r, int i, const std::string& at) {
      const std::string sum = "rt_sh[" + at + "]";
      w_.line(result_lanes() == 1 ? r + " = " + sum + ";" : o_.set_lane(s_.vec, r, i, sum));
    });
    w_.close();
    if (reuses_shared()) w_.line("RT_BARRIER();");
  }

  void combine_redux(const Rows& rows) {
    const int warps = warps_per_output();
    const auto redux = [this](const std::string& r, std::int64_t) { w_.line(r + " = " + o_.redux(r) + ";"); };
    each(rows, redux);
    if (warps == 1) return;
    const int width = s_.px * warps;
    const std::string base = s_.px > 1 ? "ty * " + num(warps) + " + " : "";
    w_.open("if (tx % " + num(plan_.warp) + " == 0)");
    each(rows, [&](const std::string& r, std::int64_t place) {
      w_.line(shared(place, width, base + "tx / " + num(plan_.warp)) + " = " + r + ";");
    });
    w_.close();
    w_.line("RT_BARRIER();");
    w_.open("if (tx < " + num(plan_.warp) + ")");
    each(rows, [&](const std::string& r, std::int64_t place) {
      w_.line(r + " = tx < " + num(warps) + " ? " + shared(place, width, base + "tx") + " : " + o_.identity(1) + ";");
      redux(r, place);
    });
    w_.close();
    if (reuses_shared()) w_.line("RT_BARRIER();");
  }

  /// Results go to shared memory, and the first block of the cluster combines them in block order. Nobody leaves before
  /// that one has read.
  void join_cluster() {
    w_.open("if (" + lane() + " == 0)");
    for (std::int64_t q = 0; q < s_.rows; ++q) w_.line("rt_sh[" + kept_place(q) + "] = " + result(q) + ";");
    w_.close();
    w_.line("RT_CLUSTER_SYNC();");
    w_.open("if (br == 0 && " + lane() + " == 0)");
    w_.open("for (rt_i32 b = 1; b < " + num(splits()) + "; ++b)");
    for (std::int64_t q = 0; q < s_.rows; ++q) {
      combine_once(result_lanes(), result(q), "*RT_CLUSTER_AT(rt_sh + " + kept_place(q) + ", b)");
    }
    w_.close();
    emit_store(&KernelEmitter::store_output);
    w_.close();
    w_.line("RT_CLUSTER_SYNC();");
  }

  // ---- results ----
  /// Which threads hold a finished result after the block combine.
  std::string owner(GridCombine grid) const {
    if (s_.rx == 1) return "";
    if (s_.block == BlockCombine::kNone) return "";  // every thread adds its own
    if (s_.block == BlockCombine::kWarp && s_.rx > plan_.warp && grid == GridCombine::kAtomic) {
      return "tx % " + num(plan_.warp) + " == 0";
    }
    return lane() + " == 0";
  }

  void store_results(GridCombine grid) {
    const std::string condition = owner(grid);
    if (!condition.empty()) w_.open("if (" + condition + ")");
    switch (grid) {
      case GridCombine::kNone:
      case GridCombine::kCluster: emit_store(&KernelEmitter::store_output); break;
      case GridCombine::kAtomic: emit_store(&KernelEmitter::store_atomic); break;
      case GridCombine::kPrivateAtomic: emit_store(&KernelEmitter::store_private); break;
      case GridCombine::kSecondKernel:
      case GridCombine::kLastBlock:
      case GridCombine::kGridSync: emit_store(&KernelEmitter::store_partial); break;
    }
    if (!condition.empty()) w_.close();
  }

  void emit_store(void (KernelEmitter::*store)(const PlanStatement&)) {
    on_store_ = store;
    emit(plan_.store);
  }

  std::int64_t output_stride() const {
    return row_ || plan_.axes.inner_groups.empty() ? 1 : plan_.axes.inner_groups.back().output_stride;
  }

  /// Calls `store` for each lane of a column result that is this vector's own: lanes below first_lane belong to the
  /// neighbour.
  template <typename Store>
  void each_lane(const PlanStatement& s, Store store) {
    const std::string r = result(s.output.constant());
    if (row_ || s_.vec == 1) {
      store(s.output_offset, r);
      return;
    }
    for (int i = 0; i < s_.vec; ++i) {
      const Condition mine = Condition::less_equal(s.first_lane, Expr(i));
      if (mine.is_false()) continue;
      if (!mine.is_true()) w_.open("if (" + mine.text() + ")");
      store(s.output_offset + i * output_stride(), o_.lane(s_.vec, r, i));
      if (!mine.is_true()) w_.close();
    }
  }

  /// A whole vector where it is all ours and contiguous, lanes otherwise.
  template <typename Whole, typename Lane>
  void store_vector(const PlanStatement& s, Whole store_whole, Lane store_lane) {
    const bool vector = !row_ && s_.vec > 1 && output_stride() == 1;
    if (!vector) return each_lane(s, store_lane);
    const Condition whole = Condition::equal(s.first_lane, 0);
    if (whole.is_true()) return store_whole(result(s.output.constant()));
    w_.open("if (" + whole.text() + ")");
    store_whole(result(s.output.constant()));
    w_.reopen("else");
    each_lane(s, store_lane);
    w_.close();
  }

  void store_output(const PlanStatement& s) {
    if (fused_) return w_.block(fused_->tail(result_lanes(), s, o_.finished(result_lanes(), result(s.output.constant()))));
    const std::string words = "(" + o_.finished_word() + ", " + out_ + ", ";
    const auto whole = [&](const std::string& value) {
      w_.line("RT_STORE" + words + num(s_.vec) + ", y + (" + s.output_offset.text() + "), " + o_.finish(s_.vec, value) + ");");
    };
    store_vector(s, whole, [&](const Expr& offset, const std::string& value) {
      w_.line("RT_STORE1" + words + "y + (" + offset.text() + "), " + o_.finish(1, value) + ");");
    });
  }

  void store_atomic(const PlanStatement& s) {
    const std::string output = (fused_ ? fused_->output_pointer() : "y") + " + (";
    const auto whole = [&](const std::string& value) {
      w_.line(o_.atomic(s_.vec, output + s.output_offset.text() + ")", o_.finish(s_.vec, value)));
    };
    store_vector(s, whole, [&](const Expr& offset, const std::string& value) {
      w_.line(o_.atomic(1, output + offset.text() + ")", o_.finish(1, value)));
    });
  }

  /// Blocks that share an output take its copies in turns.
  void store_private(const PlanStatement& s) {
    const std::string copy =
        s_.copies == 1 ? "part + (" : "part + br % " + num(s_.copies) + " * " + num(options_.outputs) + " + (";
    const auto whole = [&](const std::string& value) {
      w_.line(o_.atomic(s_.vec, copy + s.output_offset.text() + ")", value));
    };
    const auto lane = [&](const Expr& offset, const std::string& value) {
      const std::string pointer = copy + offset.text() + ")";
      w_.line(packs_states(plan_) ? o_.packed_atomic(pointer, value) : o_.atomic(1, pointer, value));
    };
    packs_states(plan_) ? each_lane(s, lane) : store_vector(s, whole, lane);
  }

  void store_partial(const PlanStatement& s) {
    const bool by_block = options_.partials == PartialLayout::kByBlock;
    const std::string block = "part + br * " + num(options_.outputs);
    const auto lane = [&](const Expr& offset, const std::string& value) {
      const std::string at = "(" + offset.text() + ")";
      w_.line(o_.store_partial(by_block ? block + " + " + at : "part + (" + at + " * " + num(splits()) + " + br)", value));
    };
    // States of several members are no vectors in memory.
    if (!by_block || !o_.is_number()) return each_lane(s, lane);
    const auto whole = [&](const std::string& value) {
      w_.line("RT_STORE(" + acc_ + ", " + acc_ + ", " + num(s_.vec) + ", " + block + " + (" +
              s.output_offset.text() + "), " + value + ");");
    };
    store_vector(s, whole, lane);
  }

  // ---- last block done ----
  /// Partials, then a ticket per group of blocks that share outputs; the block with the last ticket sees all partials
  /// and combines them in block order, so the result does not depend on which block that is.
  /// Where all blocks are resident (grid_sync) the first one is that block: it waits for the tickets of the others.
  void join_partials() {
    const std::string first_thread = threads() == 1 ? "" : thread_is_first();
    const std::string others = num(splits() - 1);
    w_.line("RT_FENCE();");
    w_.line("RT_BARRIER();");
    if (!first_thread.empty()) w_.open("if (" + first_thread + ")");
    if (s_.grid == GridCombine::kLastBlock) {
      w_.line("rt_last[0] = RT_TICKET(ticket + bp) == " + others + ";");
    } else {
      w_.line("if (br == 0) { RT_WAIT(ticket + bp, " + others + "); } else { RT_TICKET(ticket + bp); }");
    }
    if (!first_thread.empty()) w_.close();
    w_.line("RT_BARRIER();");
    w_.open(s_.grid == GridCombine::kLastBlock ? "if (rt_last[0])" : "if (br == 0)");
    w_.line("RT_FENCE();");
    tile_loop([this] {
      for (std::int64_t q = 0; q < s_.rows; ++q) {
        w_.line(result_type() + " " + result(q) + " = " + o_.identity(result_lanes()) + ";");
      }
      emit_store(&KernelEmitter::gather_partials);
      block_combine();
      store_results(GridCombine::kNone);
    });
    if (!first_thread.empty()) w_.open("if (" + first_thread + ")");
    w_.line("ticket[bp] = 0;");
    if (!first_thread.empty()) w_.close();
    w_.close();
  }

  std::string thread_is_first() const {
    const bool has_x = row_ ? s_.rx > 1 : s_.px > 1, has_y = row_ ? s_.px > 1 : s_.rx > 1;
    if (has_x && has_y) return "tx == 0 && ty == 0";
    return has_x ? "tx == 0" : "ty == 0";
  }

  void gather_partials(const PlanStatement& s) {
    const std::string r = result(s.output.constant());
    const std::string start = s_.rx > 1 ? lane() : "0";
    w_.open("for (rt_index i = " + start + "; i < " + num(splits()) + "; i += " + num(s_.rx) + ")");
    if (row_ || s_.vec == 1) {
      combine_once(1, r, o_.peek("part + " + partial_index(s.output_offset)));
    } else {
      w_.line(o_.type(s_.vec) + " v = " + o_.identity(s_.vec) + ";");
      for (int i = 0; i < s_.vec; ++i) {
        w_.line(o_.set_lane(s_.vec, "v", i, o_.peek("part + " + partial_index(s.output_offset + i * output_stride()))));
      }
      combine_into(s_.vec, r, "v");
    }
    w_.close();
  }

  std::string partial_index(const Expr& offset) const {
    if (options_.partials == PartialLayout::kByOutput) return "((" + offset.text() + ") * " + num(splits()) + " + i)";
    return "(i * " + num(options_.outputs) + " + (" + offset.text() + "))";
  }

  const KernelPlan& plan_;
  const EmitOptions& options_;
  const Schedule& s_;
  const Tiling& t_;
  const bool row_;
  const OperatorText o_;
  const std::optional<FusedText> fused_;
  const std::string acc_, out_;
  void (KernelEmitter::*on_store_)(const PlanStatement&) = nullptr;
  Writer w_;
};

}  // namespace

std::string emit_kernel(const KernelPlan& plan, const EmitOptions& options) {
  return KernelEmitter(plan, options).run();
}

}  // namespace redtune
