#include <cmath>
#include <cstdio>
#include <mutex>

#include "measure/elements.h"
#include "measure/parallel.h"
#include "measure/reference.h"
#include "measure/rounding.h"
#include "support/error.h"

namespace redtune {
namespace {

// Stands for infinity: records hold finite numbers only.
constexpr double kNever = 1e30;

// Error over tolerance: 0 when both are the same, kNever when they can never agree.
double float_error(double got, double wanted, double tolerance, DType out) {
  if (got == wanted || (std::isnan(got) && std::isnan(wanted))) return 0;
  if (std::isnan(got) || std::isnan(wanted) || std::isinf(wanted)) return kNever;
  if (std::isinf(got)) {  // a narrow type may overflow where the wide reference does not
    const bool same_sign = (got > 0) == (wanted > 0);
    return same_sign && std::abs(wanted) + tolerance >= float_format(out).largest ? 0 : kNever;
  }
  const double error = std::abs(got - wanted);
  return error < tolerance * kNever ? error / tolerance : kNever;
}

struct Findings {
  double max_error = -1;
  std::int64_t worst = -1, wrong = 0;

  void add(double error, std::int64_t index) {
    if (error > 1) ++wrong;
    if (error > max_error) max_error = error, worst = index;
  }
  // The lower index wins a tie, whatever the order in which pieces end.
  void merge(const Findings& other) {
    wrong += other.wrong;
    const bool worse = other.max_error > max_error || (other.max_error == max_error && other.worst < worst);
    if (worse) max_error = other.max_error, worst = other.worst;
  }
};

class OutputCheck {
 public:
  OutputCheck(const Tensor& tensor, const Reference& reference, const unsigned char* output)
      : reference_(reference), output_(output), out_(tensor.dtype), name_(tensor.name) {}

  Findings piece(std::int64_t begin, std::int64_t end) const {
    Findings findings;
    const auto count = static_cast<std::size_t>(end - begin);
    if (info(out_).is_float) {
      std::vector<double> got(count);
      load_elements(out_, output_, begin, 1, end - begin, got.data());
      for (std::int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const double value = got[static_cast<std::size_t>(i - begin)];
        findings.add(float_error(value, reference_.values[at], reference_.tolerance[at], out_), i);
      }
      return findings;
    }
    std::vector<std::int64_t> got(count);
    load_elements(out_, output_, begin, 1, end - begin, got.data());
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int64_t value = got[static_cast<std::size_t>(i - begin)], wanted = reference_.integers[at];
      const double slack = reference_.slack.empty() ? 0 : reference_.slack[at];
      const bool same = value == wanted ||
                        (slack > 0 && std::abs(static_cast<double>(value) - static_cast<double>(wanted)) <= slack);
      findings.add(same ? 0 : kNever, i);
    }
    return findings;
  }

  std::string detail(const Findings& findings, std::int64_t outputs) const {
    const auto at = static_cast<std::size_t>(findings.worst);
    std::string text = name_ + "[" + std::to_string(at) + "] = ";
    if (info(out_).is_float) {
      double got = 0;
      load_elements(out_, output_, findings.worst, 1, 1, &got);
      text += number(got, 9) + ", reference " + number(reference_.values[at], 9) + ", tolerance " +
              number(reference_.tolerance[at], 3);
    } else {
      std::int64_t got = 0;
      load_elements(out_, output_, findings.worst, 1, 1, &got);
      text += std::to_string(got) + ", reference " + std::to_string(reference_.integers[at]);
    }
    return text + "; " + std::to_string(findings.wrong) + " of " + std::to_string(outputs) + " outputs " +
           (findings.wrong == 1 ? "is" : "are") + " wrong";
  }

 private:
  static std::string number(double value, int digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
  }

  const Reference& reference_;
  const unsigned char* output_;
  DType out_;
  std::string name_;
};

}  // namespace

Verdict check_output(const Tensor& tensor, const Reference& reference, const std::vector<unsigned char>& output) {
  constexpr std::int64_t kGrain = 1 << 16;
  const std::int64_t outputs = tensor.elements();
  const std::size_t known = reference.values.size() + reference.integers.size();
  RT_CHECK(static_cast<std::int64_t>(output.size()) == outputs * bytes_of(tensor.dtype) &&
               known == static_cast<std::size_t>(outputs),
           "output of " + std::to_string(output.size()) + " bytes, reference of " + std::to_string(known) +
               " results");
  const OutputCheck check(tensor, reference, output.data());
  Findings all;
  std::mutex mutex;
  parallel_pieces(outputs, kGrain, [&](std::int64_t begin, std::int64_t end) {
    const Findings findings = check.piece(begin, end);
    const std::lock_guard<std::mutex> lock(mutex);
    all.merge(findings);
  });
  Verdict verdict;
  if (outputs == 0) return verdict;
  verdict.max_error = all.max_error;
  verdict.worst_index = all.worst;
  verdict.pass = all.wrong == 0;
  if (!verdict.pass) verdict.detail = check.detail(all, outputs);
  return verdict;
}

}  // namespace redtune
