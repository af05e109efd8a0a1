#include "measure/guarded_run.h"

#include <algorithm>
#include <array>
#include <csignal>

namespace redtune {
namespace {

constexpr unsigned char kGuard = 0xC3;
// NaN in every float type; no result of 0, 1 or a few in the integer types.
constexpr unsigned char kFloatPoison = 0xFF, kIntegerPoison = 0xA5;

void prepare(Driver& driver, const Program& program) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const BufferSpec& spec = program.buffers[i];
    if (spec.kind == BufferKind::kInput) continue;
    const unsigned char poison = info(spec.dtype).is_float ? kFloatPoison : kIntegerPoison;
    driver.fill(i, 0, spec.bytes(), spec.kind == BufferKind::kCounter ? 0 : poison);
    driver.fill(i, spec.bytes(), kGuardBytes, kGuard);
  }
}

void check_counter(Driver& driver, const BufferSpec& spec, std::size_t index) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(spec.bytes()));
  driver.read(index, 0, bytes);
  const auto changed = std::find_if(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte != 0; });
  if (changed == bytes.end()) return;
  throw CandidateFailure(OutcomeKind::kWrongResult, "counter '" + spec.name + "' is not zero again: byte " +
                                                        std::to_string(changed - bytes.begin()));
}

void apply_before(const Fault& fault, std::int64_t number) {
  if (fault.hits(FaultKind::kHang, number)) hang();
  if (!fault.hits(FaultKind::kCrash, number)) return;
  std::signal(SIGSEGV, SIG_DFL);  // a driver's own handler would let a raised signal pass
  std::raise(SIGSEGV);
}

void apply_after(const Fault& fault, std::int64_t number, Driver& driver, std::size_t index,
                 const BufferSpec& spec) {
  const std::int64_t size = bytes_of(spec.dtype);
  if (fault.hits(FaultKind::kSkipLast, number) && spec.elements > 0) {
    driver.fill(index, spec.bytes() - size, size, info(spec.dtype).is_float ? kFloatPoison : kIntegerPoison);
  }
  if (fault.hits(FaultKind::kNan, number)) driver.fill(index, 0, spec.bytes(), kFloatPoison);
  if (fault.hits(FaultKind::kOutOfBounds, number)) driver.fill(index, spec.bytes(), 1, 0);
}

}  // namespace

void check_guards(Driver& driver, const Program& program) {
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const BufferSpec& spec = program.buffers[i];
    if (spec.kind == BufferKind::kInput) continue;
    std::array<unsigned char, kGuardBytes> guard;
    driver.read(i, spec.bytes(), guard);
    const auto changed =
        std::find_if(guard.begin(), guard.end(), [](unsigned char byte) { return byte != kGuard; });
    if (changed != guard.end()) {
      throw CandidateFailure(OutcomeKind::kWrongResult,
                             "wrote behind buffer '" + spec.name + "': guard byte " +
                                 std::to_string(changed - guard.begin()) + " changed");
    }
    if (spec.kind == BufferKind::kCounter) check_counter(driver, spec, i);
  }
}

void guarded_run(Driver& driver, const Program& program, std::span<unsigned char> output, const Fault& fault,
                 std::int64_t number, std::int64_t copy) {
  prepare(driver, program);
  apply_before(fault, number);
  if (!program.launches.empty() && !fault.hits(FaultKind::kEarlyReturn, number)) driver.launch(copy);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const BufferSpec& spec = program.buffers[i];
    if (spec.kind != BufferKind::kOutput) continue;
    apply_after(fault, number, driver, i, spec);
    const std::span<unsigned char> part =
        output.first(std::min(output.size(), static_cast<std::size_t>(spec.bytes())));
    driver.read(i, 0, part);
    output = output.subspan(part.size());
  }
  check_guards(driver, program);
}

}  // namespace redtune
