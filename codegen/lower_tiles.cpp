#include "codegen/lower_tiles.h"

#include <utility>

#include "codegen/number_text.h"
#include "space/polyhedral.h"
#include "support/text.h"

namespace redtune {
namespace {

/// Whether an axis has tiles that are whole, or one that is cut off.
bool has_tiles(bool cut, std::int64_t units, std::int64_t tile) { return cut ? units % tile != 0 : units >= tile; }

bool occurs_along_kept(const Shape& h, const Part& part) { return has_tiles(part.kept_cut, kept_units(h), h.t.kept_tile); }

bool occurs(const Shape& h, const Part& part) {
  return occurs_along_kept(h, part) && has_tiles(part.reduced_cut, reduced_units(h), h.t.reduced_tile);
}

std::string context_text(const Shape& h, const Names& n) {
  std::vector<std::string> bounds;
  const auto bound = [&bounds](const std::string& name, std::int64_t extent) {
    if (name != "0") bounds.push_back("0 <= " + name + " < " + num(extent));
  };
  bound(n.tile, h.t.tiles);
  bound(n.po, h.axes.outer);
  bound(n.tj, h.t.tiles_inner);
  bound(n.bo, h.t.split_outer);
  bound(n.bi, h.t.split_inner);
  return n.head() + "{ : " + join(bounds, " and ") + " }";
}

/// Which iterations k of the loop along the reduced axis belong to block `bi`.
std::string walk_text(const Shape& h, const Names& n) {
  if (h.t.split_inner == 1) return "";
  if (h.s.walk == Walk::kStrided) return " and exists (e : k = " + num(h.t.split_inner) + " e + " + n.bi + ")";
  const std::string chunk = num(h.t.chunk / h.t.reduced_tile);
  return " and " + chunk + " " + n.bi + " <= k < " + chunk + " " + n.bi + " + " + chunk;
}

std::string outer_walk_text(const Shape& h, const Names& n) {
  if (h.t.split_outer == 1) return "";
  if (h.s.walk == Walk::kStrided) return " and exists (f : ro = " + num(h.t.split_outer) + " f + " + n.bo + ")";
  const std::string chunk = num(h.t.outer_chunk);
  return " and " + chunk + " " + n.bo + " <= ro < " + chunk + " " + n.bo + " + " + chunk;
}

std::string within(const std::string& axis, std::int64_t length, const std::string& index) {
  const std::string start = num(length) + " * " + index;
  return start + " <= " + axis + " < " + start + " + " + num(length);
}

std::string kept_text(const Shape& h, const Names& n, const Part& part) {
  const std::string tile = num(h.t.kept_tile) + " * " + (h.axes.row_type ? n.tile : n.tj);
  return " and " + tile + " + " + num(h.t.kept_tile) + (part.kept_cut ? " > " : " <= ") + num(kept_units(h));
}

/// Where the instances of S in the tiles of one kind go: S -> V[ro, k], one iteration of a block.
std::string iteration_map(const Shape& h, const Names& n, const Part& part) {
  const std::string iteration = num(h.t.reduced_tile) + " k + " + num(h.t.reduced_tile);
  const std::string rest = kept_text(h, n, part) + " and " + iteration + (part.reduced_cut ? " > " : " <= ") +
                           num(reduced_units(h)) + walk_text(h, n) + outer_walk_text(h, n) + " }";
  const std::string to = " -> " + n.tuple(part.name, "k") + " : ";
  const std::int64_t vec = h.s.vec;
  if (h.axes.row_type) {
    return n.head() + "{ S[p, " + n.ro + ", ri]" + to + within("p", h.t.kept_tile, n.tile) + " and " +
           within("ri", vec * h.t.reduced_tile, "k") + " and ri < " + num(vec * h.t.inner_units) + rest;
  }
  return n.head() + "{ S[po, r, pi]" + to + "po = " + n.po + " and " + within("pi", vec * h.t.kept_tile, n.tj) + " and " +
         within("r", h.t.reduced_tile, "k") + rest;
}

/// Row type: the tail goes to lane 0 (masked: one load) or round robin over the lanes (element loads), and to the
/// last of the blocks that share a row.
std::string tail_map(const Shape& h, const Names& n, const Part& part) {
  const std::string first = num(h.t.inner_units * h.s.vec);
  std::string m = n.head() + "{ S[p, " + n.ro + ", ri] -> " + n.tuple(part.name, "e") + " : " +
                  within("p", h.t.kept_tile, n.tile) + kept_text(h, n, part) + " and ri >= " + first + " and ";
  m += h.masked_tail ? "e = 0" : num(h.s.rx) + " e <= ri - " + first + " < " + num(h.s.rx) + " e + " + num(h.s.rx);
  if (n.bi != "0") m += " and bi = " + num(h.t.split_inner - 1);
  return m + outer_walk_text(h, n) + " }";
}

/// domain -> band (ro) -> sequence of one band (k) or (e) per kind of tile; a member with one value is left out.
isl::schedule accumulate_tree(isl::ctx ctx, const Names& n, const std::vector<std::pair<std::string, isl::union_set>>& parts) {
  isl::union_set domain(ctx, "{ }");
  std::vector<std::string> outer;
  isl::union_set_list filters(ctx, static_cast<int>(parts.size()));
  for (const auto& [tuple, instances] : parts) {
    domain = domain.unite(instances);
    outer.push_back(tuple + " -> [(ro)]");
    filters = filters.add(instances.universe());
  }
  isl::schedule_node node = isl::schedule_node::from_domain(domain).child(0);
  if (n.ro != "0") {
    node = node.insert_partial_schedule(isl::multi_union_pw_aff(ctx, "[{ " + join(outer, "; ") + " }]")).child(0);
  }
  if (parts.size() > 1) node = node.insert_sequence(filters);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts.size() > 1) node = node.child(static_cast<int>(i)).child(0);
    const std::string& tuple = parts[i].first;
    const bool is_tail = tuple.find('e') != std::string::npos;
    const std::string band = "[{ " + tuple + " -> [(" + (is_tail ? "e" : "k") + ")] }]";
    node = node.insert_partial_schedule(isl::multi_union_pw_aff(ctx, band));
    if (parts.size() > 1) node = node.parent().parent();
  }
  return node.schedule();
}

}  // namespace

Shape shape_of(const Task& task, const Axes& axes, const Schedule& schedule) {
  Shape shape{axes, schedule, tiling_of(axes, schedule, task.target.warp)};
  if (!axes.row_type && axes.inner % schedule.vec != 0) shape.overlap = schedule.vec - axes.inner % schedule.vec;
  shape.masked_tail = axes.row_type && shape.t.tail > 0 && !task.target.aligned_vectors;
  return shape;
}

std::int64_t kept_units(const Shape& h) { return h.axes.row_type ? h.axes.kept : h.t.inner_units; }
std::int64_t reduced_units(const Shape& h) { return h.axes.row_type ? h.t.inner_units : h.axes.reduced; }

Names::Names(const Shape& h) {
  const Schedule& s = h.s;
  const bool row = h.axes.row_type;
  const auto parameter = [this](const char* n, std::int64_t extent) -> std::string {
    if (extent == 1) return "0";
    parameters.emplace_back(n);
    return n;
  };
  tile = parameter("tile", row ? h.t.tiles : 1);
  po = parameter("po0", row ? 1 : h.axes.outer);
  tj = parameter("tj", h.t.tiles_inner);
  bo = parameter("bo", h.t.split_outer);
  bi = parameter("bi", h.t.split_inner);
  const auto thread = [](const char* n, std::int64_t extent) -> std::string { return extent == 1 ? "0" : n; };
  tx = thread("tx", row ? s.rx : s.px);
  ty = thread("ty", row ? s.px : s.rx);
  ro = thread("ro", row ? h.axes.outer : 1);
}

std::string Names::head() const { return "[" + join(parameters, ", ") + "] -> "; }

std::string Names::tuple(const std::string& statement, const char* inner) const {
  return statement + "[" + (ro == "0" ? "" : "ro, ") + inner + "]";
}

MappedTree map_tree(isl::ctx ctx, const Shape& h, const Names& n) {
  const isl::union_set domain = iteration_domain(ctx, h.axes);
  std::vector<std::pair<std::string, isl::union_set>> parts;
  const auto add = [&](const std::string& tuple, const std::string& map) {
    const isl::union_set instances = domain.apply(isl::union_map(ctx, map));
    if (!instances.is_empty()) parts.emplace_back(tuple, instances);
  };
  for (const Part& part : kParts) {
    if (occurs(h, part)) add(n.tuple(part.name, "k"), iteration_map(h, n, part));
  }
  for (const Part& part : kTailParts) {
    if (h.t.tail > 0 && occurs_along_kept(h, part)) add(n.tuple(part.name, "e"), tail_map(h, n, part));
  }
  return {isl::set(ctx, context_text(h, n)), accumulate_tree(ctx, n, parts)};
}

}  // namespace redtune
