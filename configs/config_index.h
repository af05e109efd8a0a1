// Lookup in a loaded config store, with graded answers: what was found, how near it is to what was asked, and what is
// known of the loss. Needs no isl and no device.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "configs/config_store.h"

namespace redtune {

/// From best to worst.
enum class Grade : std::uint8_t {
  kExact,        // this function, determinism and device (or another board of the same model)
  kInRange,      // this device; the sizes lie in the measured range of a portfolio's schedule
  kNearest,      // this device; the sizes, or the determinism that was asked for, are others
  kOtherDevice,  // measured on another device
  kDefault,      // nothing that fits: the rules of thumb
};
std::string_view name(Grade grade);  // "exact", "in_range", "nearest", "other_device", "default"
/// Throws UserError naming the nearest word.
Grade parse_grade(std::string_view word);

struct Answer {
  Grade grade = Grade::kDefault;
  std::shared_ptr<const Config> config;  // null for kDefault
  /// The config's kernel computes exactly what was asked, from the same storage; otherwise its schedule can only serve
  /// to generate one.
  bool same_function = false;
  /// Between the sizes of the two canonical forms, in doublings (Euclidean); kInRange: from the nearest shape at which the
  /// schedule was measured.
  double distance = 0;
  /// Measured share of time lost: 0 for kExact; kInRange: at the nearest shape that the schedule was measured at; kNearest:
  /// the median over what was measured of this schedule on other sizes; kDefault: the median of default against best over
  /// this device's configs of the kind. Nothing: not measured.
  std::optional<double> regret;
  std::size_t regret_samples = 0;
  std::optional<double> worst_regret;  // kInRange: the most over all the shapes that the schedule serves
  std::string note;  // for people: in what the answer differs from the question, and that it is predicted and not
                     // measured; "" for what is measured and exact
};

struct LookupOptions {
  Grade lowest = Grade::kDefault;
  bool same_function = false;  // of whoever cannot generate kernels
  /// Why a config must not be used on the actual device; "" when it may. Called for the few that come into question.
  std::function<std::string(const Config&)> refuse;
};

/// Immutable once loaded; every call is thread-safe.
class ConfigIndex {
 public:
  /// Reads every file of a store. A file that cannot be used is skipped with a line in `problems`; an absent directory
  /// is a UserError. Cost: 10,000 entries in some ten milliseconds; entries are parsed when they are asked for.
  static ConfigIndex load(const std::string& directory);
  ConfigIndex(ConfigIndex&&) noexcept;
  ConfigIndex& operator=(ConfigIndex&&) noexcept;
  ~ConfigIndex();

  const std::string& directory() const;
  std::size_t size() const;
  const std::vector<std::string>& problems() const;

  /// `device`: the full name, as measured configs have it. The first miss of an exact key builds the index of sizes,
  /// some microseconds an entry; an exact hit costs about one. An entry that cannot be parsed is a UserError.
  Answer find(const Operator& op, std::string_view device, const LookupOptions& options = {}) const;
  /// The same where the key is already at hand.
  Answer find(const Operator& op, const std::string& key, std::string_view device,
              const LookupOptions& options) const;

 private:
  struct Data;
  explicit ConfigIndex(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

}  // namespace redtune
