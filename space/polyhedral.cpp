#include "space/polyhedral.h"

#include <isl/ctx.h>
#include <isl/options.h>

#include <string>

#include "support/error.h"

namespace redtune {
namespace {

std::string number(std::int64_t v) { return std::to_string(v); }

struct Texts {
  std::string instances, domain, reads, writes, order;
};

/// One tuple layout per type: S[p, ro, ri] accumulates A[p]; S[po, r, pi] accumulates A[po, pi].
Texts texts_of(const Axes& axes) {
  Texts t;
  if (axes.row_type) {
    const std::string kept = "0 <= p < " + number(axes.kept);
    t.instances = "S[p, ro, ri] : " + kept + " and 0 <= ro < " + number(axes.outer) + " and 0 <= ri < " +
                  number(axes.inner);
    t.domain = "{ I[p] : " + kept + "; U[p] : " + kept + "; " + t.instances + " }";
    t.reads = "{ S[p, ro, ri] -> A[p]; S[p, ro, ri] -> X[p, ro, ri]; U[p] -> A[p] }";
    t.writes = "{ I[p] -> A[p]; S[p, ro, ri] -> A[p]; U[p] -> Y[p] }";
    t.order = "{ I[p] -> [p, 0, 0, 0]; S[p, ro, ri] -> [p, 1, ro, ri]; U[p] -> [p, 2, 0, 0] }";
  } else {
    const std::string kept = "0 <= po < " + number(axes.outer) + " and 0 <= pi < " + number(axes.inner);
    t.instances = "S[po, r, pi] : " + kept + " and 0 <= r < " + number(axes.reduced);
    t.domain = "{ I[po, pi] : " + kept + "; U[po, pi] : " + kept + "; " + t.instances + " }";
    t.reads = "{ S[po, r, pi] -> A[po, pi]; S[po, r, pi] -> X[po, r, pi]; U[po, pi] -> A[po, pi] }";
    t.writes = "{ I[po, pi] -> A[po, pi]; S[po, r, pi] -> A[po, pi]; U[po, pi] -> Y[po, pi] }";
    t.order = "{ I[po, pi] -> [po, pi, 0, 0]; S[po, r, pi] -> [po, pi, 1, r]; U[po, pi] -> [po, pi, 2, 0] }";
  }
  return t;
}

}  // namespace

IslContext::IslContext(unsigned long max_operations) : raw_(isl_ctx_alloc()) {
  isl_options_set_on_error(raw_, ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(raw_, max_operations);
}

IslContext::~IslContext() { isl_ctx_free(raw_); }

void IslContext::refill() { isl_ctx_reset_operations(raw_); }

isl::union_set iteration_domain(isl::ctx ctx, const Axes& axes) {
  return isl::union_set(ctx, "{ " + texts_of(axes).instances + " }");
}

PolyhedralModel build_model(isl::ctx ctx, const Axes& axes) {
  const Texts texts = texts_of(axes);
  const isl::union_set domain(ctx, texts.domain);
  const isl::union_map reads = isl::union_map(ctx, texts.reads).intersect_domain(domain);
  const isl::union_map writes = isl::union_map(ctx, texts.writes).intersect_domain(domain);
  const isl::union_map order = isl::union_map(ctx, texts.order).intersect_domain(domain);

  const isl::union_flow flow =
      isl::union_access_info(reads).set_must_source(writes).set_schedule_map(order).compute_flow();
  const isl::union_map all = flow.must_dependence();
  // Value-based dependences between different statements, and the chain of S through its accumulator.
  const isl::union_map same =
      isl::union_map(ctx, axes.row_type ? "{ S[a, b, c] -> S[a, d, e] }" : "{ S[a, b, c] -> S[a, d, c] }");
  const isl::union_map reduction = all.intersect(same);
  const isl::union_map between = all.subtract(reduction);

  const isl::schedule schedule = isl::schedule_constraints::on_domain(domain)
                                     .set_validity(all)
                                     .set_proximity(all)
                                     .set_coincidence(all)
                                     .compute_schedule();
  return {domain, between, reduction, schedule};
}

}  // namespace redtune
