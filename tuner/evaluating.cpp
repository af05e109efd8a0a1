#include "tuner/evaluating.h"

#include <exception>

namespace redtune {

void evaluate_guarded(Evaluator& evaluator, std::span<const Candidate> batch,
                      const Evaluator::Callbacks& callbacks) {
  if (batch.empty()) return;
  std::exception_ptr failure;
  const auto guarded = [&](auto&& call) {
    if (failure) return;
    try {
      call();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  evaluator.evaluate(
      batch, {.starting = [&](std::size_t i) { guarded([&] { callbacks.starting(i); }); },
              .done = [&](std::size_t i, const Outcome& o) { guarded([&] { callbacks.done(i, o); }); },
              .stop = [&] { return failure || callbacks.stop(); }});
  if (failure) std::rethrow_exception(failure);
}

}  // namespace redtune
