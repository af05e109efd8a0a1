#include "measure/feasibility.h"

#include "support/text.h"

namespace redtune {
namespace {

Outcome rejected(std::string detail) {
  Outcome outcome;
  outcome.kind = OutcomeKind::kRejected;
  outcome.detail = std::move(detail);
  return outcome;
}

}  // namespace

std::optional<Outcome> refuse_program(const Program& program, const DeviceLimits& limits,
                                      std::int64_t input_bytes, std::int64_t output_bytes) {
  std::int64_t scratch = 0;
  for (const BufferSpec& spec : program.buffers) {
    const bool given = spec.kind == BufferKind::kInput || spec.kind == BufferKind::kOutput;
    if (!given) scratch += spec.bytes();
    const auto most = spec.kind == BufferKind::kInput    ? input_bytes
                      : spec.kind == BufferKind::kOutput ? output_bytes
                                                         : limits.buffer_bytes - kGuardBytes;
    if (spec.bytes() <= most) continue;
    return rejected("buffer '" + spec.name + "' of " + format_bytes(spec.bytes()) + ", possible are " +
                    format_bytes(most));
  }
  if (scratch > limits.memory_bytes / 4) {
    return rejected("partial results of " + format_bytes(scratch) +
                    " are more than a quarter of the device's " + format_bytes(limits.memory_bytes));
  }
  for (const KernelLaunch& launch : program.launches) {
    const std::int64_t threads = std::int64_t{launch.block[0]} * launch.block[1] * launch.block[2];
    if (threads > limits.block_threads) {
      return rejected("kernel '" + launch.entry + "': block of " + std::to_string(threads) +
                      " threads, device allows " + std::to_string(limits.block_threads));
    }
    const std::int64_t shared = launch.shared_bytes + launch.dynamic_shared_bytes;
    if (shared > limits.shared_bytes) {
      return rejected("kernel '" + launch.entry + "': " + format_bytes(shared) +
                      " of shared memory, device allows " + format_bytes(limits.shared_bytes));
    }
  }
  return std::nullopt;
}

}  // namespace redtune
