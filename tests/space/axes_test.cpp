#include "space/axes.h"

#include <gtest/gtest.h>

#include "support/rng.h"
#include "tests/space/task_builder.h"

namespace redtune {
namespace {

Axes axes_for(const std::string& shape, const std::string& axes) {
  return axes_of(task_of(shape, axes, "cpu").canonical);
}

TEST(Axes, RowTypeFoldsKeptAndOuterReduced) {
  const Axes axes = axes_for("4x3x8x8", "1,3");  // PRPR
  EXPECT_TRUE(axes.row_type);
  EXPECT_EQ(axes.kept, 32);
  EXPECT_EQ(axes.outer, 3);
  EXPECT_EQ(axes.inner, 8);
  EXPECT_EQ(axes.reduced, 24);
  ASSERT_EQ(axes.kept_groups.size(), 2u);
  EXPECT_EQ(axes.kept_groups[0].output_stride, 8);
  EXPECT_EQ(axes.outer_groups.size(), 1u);
  EXPECT_TRUE(axes.reduced_groups.empty());
}

TEST(Axes, ColumnTypeFoldsReducedAndOuterKept) {
  const Axes axes = axes_for("2x3x4x5x6", "1,3");  // PRPRP
  EXPECT_FALSE(axes.row_type);
  EXPECT_EQ(axes.kept, 48);
  EXPECT_EQ(axes.outer, 8);
  EXPECT_EQ(axes.reduced, 15);
  EXPECT_EQ(axes.inner, 6);
  EXPECT_EQ(axes.outer_groups.size(), 2u);
  EXPECT_EQ(axes.reduced_groups.size(), 2u);
}

TEST(Axes, RAloneIsARow) {
  const Axes axes = axes_for("1000", "");
  EXPECT_TRUE(axes.row_type);
  EXPECT_EQ(axes.kept, 1);
  EXPECT_EQ(axes.outer, 1);
  EXPECT_EQ(axes.inner, 1000);
}

TEST(Tiling, OfARow) {
  Schedule s;
  s.rx = 4, s.px = 2, s.vec = 4, s.items = 2, s.rows = 3, s.serial = 2, s.split = 6;
  s.block = BlockCombine::kTree, s.grid = GridCombine::kSecondKernel;
  const Tiling t = tiling_of(axes_for("128x40x1003", "0,2"), s, 32);  // ro 128, p 40, ri 1003
  EXPECT_EQ(t.inner_units, 250);
  EXPECT_EQ(t.tail, 3);
  EXPECT_EQ(t.kept_tile, 6);
  EXPECT_EQ(t.tiles, 7);
  EXPECT_EQ(t.kept_blocks, 4);
  EXPECT_EQ(t.reduced_tile, 8);
  EXPECT_EQ(t.split_outer, 6);
  EXPECT_EQ(t.split_inner, 1);
  EXPECT_EQ(t.chunk, 256);
  EXPECT_EQ(t.outer_chunk, 22);
  EXPECT_EQ(t.partials, 6);
  EXPECT_EQ(t.blocks(), 24);
}

TEST(Tiling, SplitsTheInnerAxisWhereTheOuterIsShort) {
  Schedule s;
  s.rx = 64, s.vec = 2, s.split = 8, s.block = BlockCombine::kWarp, s.grid = GridCombine::kAtomic;
  const Tiling t = tiling_of(axes_for("3x40x1000", "0,2"), s, 32);
  EXPECT_EQ(t.split_outer, 3);
  EXPECT_EQ(t.split_inner, 3);
  EXPECT_EQ(t.chunk, 192);  // ceil(500 / 3) = 167, in tiles of 64
  EXPECT_EQ(t.partials, 3 * 3 * 2);
}

TEST(Tiling, OfAColumn) {
  Schedule s;
  s.rx = 2, s.px = 4, s.vec = 8, s.rows = 2, s.items = 4, s.split = 5;
  s.grid = GridCombine::kAtomic;
  const Tiling t = tiling_of(axes_for("6x100x130", "1"), s, 32);  // po 6, r 100, pi 130
  EXPECT_EQ(t.inner_units, 17);
  EXPECT_EQ(t.tail, 0);
  EXPECT_EQ(t.kept_tile, 8);
  EXPECT_EQ(t.tiles_inner, 3);
  EXPECT_EQ(t.tiles, 18);
  EXPECT_EQ(t.split_outer, 1);
  EXPECT_EQ(t.split_inner, 5);
  EXPECT_EQ(t.chunk, 24);
  EXPECT_EQ(t.partials, 10);  // every thread of 2 along r, of 5 blocks
}

TEST(Tiling, OfEmptyAxesHasNoWork) {
  const Tiling none_kept = tiling_of(axes_for("0x8", "1"), Schedule{}, 32);
  EXPECT_EQ(none_kept.blocks(), 0);
  const Tiling none_reduced = tiling_of(axes_for("8x0", "1"), Schedule{}, 32);
  EXPECT_EQ(none_reduced.inner_units, 0);
  EXPECT_EQ(none_reduced.blocks(), 8);
}

/// How often [0, size) is visited when `blocks` share it in pieces of `piece` (chunked) or in turns
/// (strided).
std::vector<int> visits(std::int64_t size, std::int64_t blocks, std::int64_t piece, std::int64_t tile,
                        Walk walk) {
  std::vector<int> count(static_cast<std::size_t>(size));
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t first = walk == Walk::kChunked ? b * piece : b * tile;
    const std::int64_t step = walk == Walk::kChunked ? tile : blocks * tile;
    const std::int64_t end = walk == Walk::kChunked ? std::min(size, first + piece) : size;
    for (std::int64_t start = first; start < end; start += step) {
      for (std::int64_t i = start; i < std::min(end, start + tile); ++i) ++count[static_cast<std::size_t>(i)];
    }
  }
  return count;
}

TEST(Tiling, EveryReducedUnitBelongsToExactlyOneBlock) {
  Rng rng(7);
  for (int round = 0; round < 500; ++round) {
    const auto size = [&](std::uint64_t most) { return std::to_string(1 + rng.below(most)); };
    const bool row = rng.below(2) == 0;
    const Axes axes = axes_for(size(40) + "x" + size(9) + "x" + size(300), row ? "0,2" : "0,1");
    Schedule s;
    s.rx = 1 << rng.below(4), s.items = 1 << rng.below(3), s.vec = 1 << rng.below(3);
    s.split = static_cast<std::int32_t>(1 + rng.below(40));
    s.walk = rng.below(2) == 0 ? Walk::kChunked : Walk::kStrided;
    const Tiling t = tiling_of(axes, s, 32);
    const std::int64_t units = axes.row_type ? t.inner_units : axes.reduced;
    EXPECT_EQ(t.chunk % t.reduced_tile, 0);
    EXPECT_GE(t.split_outer * t.split_inner, s.split);
    for (int n : visits(units, t.split_inner, t.chunk, t.reduced_tile, s.walk)) ASSERT_EQ(n, 1) << s.text();
    if (!axes.row_type) continue;
    EXPECT_EQ(t.inner_units * s.vec + t.tail, axes.inner);
    for (int n : visits(axes.outer, t.split_outer, t.outer_chunk, 1, s.walk)) ASSERT_EQ(n, 1) << s.text();
  }
}

TEST(CombineDepth, CountsSerialAndCombineSteps) {
  const Task row = task_of("16x4096", "1", "sm_90");
  Schedule s;
  EXPECT_EQ(combine_depth(row, s), 4096);
  s.rx = 32, s.vec = 4, s.items = 4, s.acc = 4, s.block = BlockCombine::kWarp;
  EXPECT_EQ(combine_depth(row, s), 8 + 3 + 3 + 5);  // rounds, accumulators, lanes, shuffles
  s.split = 2, s.grid = GridCombine::kSecondKernel;
  EXPECT_EQ(combine_depth(row, s), 4 + 3 + 3 + 5 + 2);
  const Task column = task_of("1000x64", "0", "sm_90");
  Schedule c;
  c.rx = 8, c.block = BlockCombine::kLane;
  EXPECT_EQ(combine_depth(column, c), 125 + 8);
  c.block = BlockCombine::kShared;
  EXPECT_EQ(combine_depth(column, c), 125 + 8);
  c.split = 4, c.copies = 2, c.grid = GridCombine::kPrivateAtomic;
  EXPECT_EQ(combine_depth(column, c), 32 + 8 + 4 + 2);  // the copies are added up too
}

TEST(MaxVector, IsBoundByLoadExtentAndType) {
  EXPECT_EQ(max_vector(task_of("64x1024", "1", "sm_90")), 4);
  EXPECT_EQ(max_vector(task_of("64x1024", "1", "sm_90", "sum", "f16")), 8);
  EXPECT_EQ(max_vector(task_of("64x1024", "1", "sm_90", "max", "i8")), 16);
  EXPECT_EQ(max_vector(task_of("64x1024", "1", "cpu")), 16);
  EXPECT_EQ(max_vector(task_of("64x7", "1", "cpu")), 4);
  EXPECT_EQ(max_vector(task_of("64", "none", "cpu")), 16);
}

TEST(MaxVector, NeedsAlignedRowsWhereTheTargetDoes) {
  EXPECT_EQ(max_vector(task_of("7x33", "1", "sm_90", "sum", "f16")), 1);
  EXPECT_EQ(max_vector(task_of("7x34", "1", "sm_90", "sum", "f16")), 2);
  EXPECT_EQ(max_vector(task_of("33", "", "sm_90")), 4);      // one row: its tail is handled apart
  EXPECT_EQ(max_vector(task_of("100x6", "0", "sm_90")), 2);  // columns: every row of 6 must start aligned
  EXPECT_EQ(max_vector(task_of("7x33", "1", "cpu", "sum", "f16")), 16);
}

TEST(MaxVector, NeedsNeighboursInMemoryAndOutput) {
  ShortForm form;
  form.shape = "64x16";
  form.axes = "1";
  form.strides = "64,2";
  EXPECT_EQ(max_vector(make_task(operator_from_short_form(form), load_target("cpu"))), 1);
  form.shape = "4x5x6";
  form.axes = "2";
  form.strides = "1,4,20";  // the axis that walks memory is written with gaps
  EXPECT_EQ(max_vector(make_task(operator_from_short_form(form), load_target("cpu"))), 1);
  Task moved = task_of("7x32", "1", "sm_90");
  moved.op.inputs[0].offset = 1;
  EXPECT_EQ(max_vector(moved), 1);
}

}  // namespace
}  // namespace redtune
